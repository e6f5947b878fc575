package tron

// core/contract/balance_contract.proto: TRX, and the resources that staking it
// yields.

// resource is a ResourceCode. The voting power that comes with a stake can be named
// when staking, but cannot be delegated.
func resource(number uint64, more ...string) field {
	return enum(number, "resource", "resource", append([]string{"BANDWIDTH", "ENERGY"}, more...)...)
}

var balanceContracts = []*contract{
	newContract(numberTransfer, "TransferContract", "transfer TRX", doTransfer,
		owner(1),
		addr(2, "to_address", "to"),
		sun(3, "amount", "amount")).where(checkNotToOwner),
	newContract(12, "UnfreezeBalanceContract", "unstake TRX (Stake 1.0)", doUnfreeze,
		owner(1),
		resource(10, "TRON_POWER"),
		addr(15, "receiver_address", "receiver").optional()).where(checkNotToOwner),
	newContract(13, "WithdrawBalanceContract", "withdraw rewards", doUnfreeze, owner(1)),
	newContract(54, "FreezeBalanceV2Contract", "stake TRX", doFreezeV2,
		owner(1),
		sun(2, "frozen_balance", "amount").atLeast(leastStake),
		resource(3, "TRON_POWER")),
	newContract(55, "UnfreezeBalanceV2Contract", "unstake TRX", doUnfreezeV2,
		owner(1),
		sun(2, "unfreeze_balance", "amount"),
		resource(3, "TRON_POWER")),
	newContract(56, "WithdrawExpireUnfreezeContract", "withdraw unstaked TRX", doUnfreeze, owner(1)),
	newContract(numberDelegate, "DelegateResourceContract", "delegate resources", doDelegate,
		owner(1),
		resource(2),
		sun(3, "balance", "amount of staked TRX").atLeast(leastStake),
		addr(4, "receiver_address", "receiver"),
		boolean(5, "lock", "locked").shown(),
		count(6, "lock_period", "lock period", "blocks of 3 seconds").optional()).where(checkNotToOwner),
	newContract(58, "UnDelegateResourceContract", "take delegated resources back", doDelegate,
		owner(1),
		resource(2),
		sun(3, "balance", "amount of staked TRX"),
		addr(4, "receiver_address", "receiver")).where(checkNotToOwner),
	newContract(59, "CancelAllUnfreezeV2Contract", "cancel all unstaking", doCancelUnfreeze, owner(1)),
}
