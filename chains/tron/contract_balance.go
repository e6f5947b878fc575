package tron

// core/contract/balance_contract.proto: TRX, and the resources that staking it
// yields.

var transferContract = &message{name: "TransferContract", rule: ruleNotToOwner, fields: []field{
	owner(1),
	addr(2, "to_address", "to"),
	sun(3, "amount", "amount"),
}}

var unfreezeBalanceContract = &message{name: "UnfreezeBalanceContract", rule: ruleNotToOwner, fields: []field{
	owner(1),
	resource(10, "TRON_POWER"),
	addr(15, "receiver_address", "receiver").optional(),
}}

var withdrawBalanceContract = &message{name: "WithdrawBalanceContract", fields: []field{owner(1)}}

var freezeBalanceV2Contract = &message{name: "FreezeBalanceV2Contract", fields: []field{
	owner(1),
	sun(2, "frozen_balance", "amount").atLeast(leastStake),
	resource(3, "TRON_POWER"),
}}

var unfreezeBalanceV2Contract = &message{name: "UnfreezeBalanceV2Contract", fields: []field{
	owner(1),
	sun(2, "unfreeze_balance", "amount"),
	resource(3, "TRON_POWER"),
}}

var withdrawExpireUnfreezeContract = &message{name: "WithdrawExpireUnfreezeContract", fields: []field{owner(1)}}

var delegateResourceContract = &message{name: "DelegateResourceContract", rule: ruleNotToOwner, fields: []field{
	owner(1),
	resource(2),
	sun(3, "balance", "amount of staked TRX").atLeast(leastStake),
	addr(4, "receiver_address", "receiver"),
	boolean(5, "lock", "locked").shown(),
	count(6, "lock_period", "lock period", "blocks of 3 seconds").optional(),
}}

// Indexes of the fields of delegateResourceContract.
const (
	_ = iota
	_
	delegateAmount // as in unDelegateResourceContract
	delegateReceiver
	delegateLock
	delegatePeriod
)

// leastStake is TRX_PRECISION: at least 1 TRX is staked and delegated.
const leastStake = 1_000_000

var unDelegateResourceContract = &message{name: "UnDelegateResourceContract", rule: ruleNotToOwner, fields: []field{
	owner(1),
	resource(2),
	sun(3, "balance", "amount of staked TRX"),
	addr(4, "receiver_address", "receiver"),
}}

var cancelAllUnfreezeV2Contract = &message{name: "CancelAllUnfreezeV2Contract", fields: []field{owner(1)}}

// resource is a ResourceCode. The voting power that comes with a stake can be named
// when staking, but cannot be delegated.
func resource(number uint64, more ...string) field {
	return enum(number, "resource", "resource", append([]string{"BANDWIDTH", "ENERGY"}, more...)...)
}
