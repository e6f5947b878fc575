package tron

import (
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/chains"
)

// contracts are the types that the network executes, by number.
var contracts = func() (table [60]*contract) {
	for _, known := range slices.Concat(accountContracts, assetContracts, balanceContracts, smartContracts) {
		table[known.number] = known
	}
	return table
}()

// unexecuted are the types that java-tron declares and this reader refuses.
var unexecuted = map[int64]string{
	3:  "VoteAssetContract: the network does not execute it",
	11: "FreezeBalanceContract: Stake 1.0 is closed since Stake 2.0 (FreezeBalanceV2Contract)",
	20: "CustomContract: the network does not execute it",
	32: "GetContract: the network does not execute it",
	51: "ShieldedTransferContract: it is signed with keys of its own, which Countersign does not hold",
}

func contractOf(number int64, offset int) (*contract, error) {
	if number >= 0 && number < int64(len(contracts)) && contracts[number] != nil {
		return contracts[number], nil
	}
	problem, known := unexecuted[number]
	if !known {
		problem = "unknown contract type"
	}
	return nil, &chains.ParseError{
		Kind: chains.ErrUnsupported, Chain: Name, Field: "contract.type", Offset: offset,
		Problem: fmt.Sprintf("%d: %s", number, problem),
	}
}

// core/contract/account_contract.proto, witness_contract.proto,
// storage_contract.proto and proposal_contract.proto.

var accountContracts = []*contract{
	newContract(0, "AccountCreateContract", "create an account", doCreateAccount,
		owner(1),
		addr(2, "account_address", "account"),
		enum(3, "type", "account type", "Normal", "AssetIssue", "Contract")).burning(feeNewAccount),
	newContract(10, "AccountUpdateContract", "name the account", doSettings,
		text(1, "account_name", "account name").optional().upTo(200),
		owner(2)),
	newContract(19, "SetAccountIdContract", "set the account's id, once", doSettings,
		text(1, "account_id", "account id").readable(8, 32),
		owner(2)),
	newContract(numberPermissions, "AccountPermissionUpdateContract",
		"replace the account's permissions: who may sign for it from now on", doPermissions,
		owner(1),
		field{number: 2, name: "owner", label: "owner permission", kind: kindMessage, of: permissionMessage,
			needed: true, why: "without it no key could sign for the account"},
		one(3, "witness", "witness permission", permissionMessage).optional(),
		many(4, "actives", "active permission", permissionMessage)).where(checkPermissions).burning(feePermissions),
	newContract(5, "WitnessCreateContract", "apply to be a super representative", doSettings,
		owner(1),
		text(2, "url", "website").upTo(maxURL)).burning(feeWitness),
	newContract(8, "WitnessUpdateContract", "change a super representative's website", doSettings,
		owner(1),
		text(12, "update_url", "website").upTo(maxURL)),
	newContract(4, "VoteWitnessContract", "vote for super representatives", doVote,
		owner(1),
		many(2, "votes", "vote", voteMessage),
		boolean(3, "support", "support")).where(checkVotes),
	newContract(49, "UpdateBrokerageContract", "change a super representative's commission", doSettings,
		owner(1),
		count32(2, "brokerage", "commission", "%").optional().upTo(100)),
	newContract(16, "ProposalCreateContract", "propose network parameters", doSettings,
		owner(1),
		many(2, "parameters", "parameter", parameterMessage)).where(checkParameters),
	newContract(17, "ProposalApproveContract", "vote on a proposal", doSettings,
		owner(1),
		count(2, "proposal_id", "proposal", ""),
		boolean(3, "is_add_approval", "approve").shown()),
	newContract(18, "ProposalDeleteContract", "withdraw a proposal", doSettings,
		owner(1),
		count(2, "proposal_id", "proposal", "")),
}

// core/contract/asset_issue_contract.proto, exchange_contract.proto and
// market_contract.proto: tokens of TRC-10 and the two ways to trade them.

var assetContracts = []*contract{
	newContract(numberTransferAsset, "TransferAssetContract", "transfer a TRC-10 token", doTransferAsset,
		token(1, "asset_name", "token").notTRX(),
		owner(2),
		addr(3, "to_address", "to"),
		count(4, "amount", "amount", tokenUnit)).where(checkNotToOwner),
	newContract(9, "ParticipateAssetIssueContract", "buy a TRC-10 token from its issuer", doParticipate,
		owner(1),
		addr(2, "to_address", "issuer"),
		token(3, "asset_name", "token").notTRX(),
		sun(4, "amount", "amount paid")).where(checkNotToOwner),
	// The owner gets the whole supply, and the network assigns the token's id.
	newContract(6, "AssetIssueContract", "issue a TRC-10 token",
		owns(chains.KindMint, chains.UnknownAsset(Name), issueSupply),
		owner(1),
		text(2, "name", "name").readable(1, 32),
		text(3, "abbr", "abbreviation").readable(1, 32).optional(),
		count(4, "total_supply", "total supply", tokenUnit),
		many(5, "frozen_supply", "frozen supply", frozenSupplyMessage).optional(),
		count32(6, "trx_num", "price", "sun"),
		count32(7, "precision", "decimals", "").optional().upTo(6),
		count32(8, "num", "tokens for that price", tokenUnit),
		moment(9, "start_time", "sale starts").neededAbove0(),
		moment(10, "end_time", "sale ends").neededAbove0(),
		count(11, "order", "order", "").optional(),
		count32(16, "vote_score", "vote score", "").optional(),
		text(20, "description", "description").optional().upTo(200),
		text(21, "url", "website").upTo(maxURL),
		count(22, "free_asset_net_limit", "bandwidth for each holder", "bytes a day").optional(),
		count(23, "public_free_asset_net_limit", "bandwidth for all holders", "bytes a day").optional(),
		refused(24, "public_free_asset_net_usage", "the network only accepts 0: leave it out"),
		moment(25, "public_latest_free_net_time", "bandwidth used last"),
		str(41, "id", "token id")).where(checkIssue).burning(feeAssetIssue),
	newContract(14, "UnfreezeAssetContract", "release frozen supply of the issued token",
		unstakes(chains.UnknownAsset(Name)), owner(1)),
	newContract(15, "UpdateAssetContract", "change the issued token", doSettings,
		owner(1),
		text(2, "description", "description").optional().upTo(200),
		text(3, "url", "website").upTo(maxURL),
		count(4, "new_limit", "bandwidth for each holder", "bytes a day").optional(),
		count(5, "new_public_limit", "bandwidth for all holders", "bytes a day").optional()),
	newContract(41, "ExchangeCreateContract", "create a Bancor exchange", doExchangeCreate,
		owner(1),
		token(2, "first_token_id", "first token"),
		count(3, "first_token_balance", "first amount", tokenUnit),
		token(4, "second_token_id", "second token"),
		count(5, "second_token_balance", "second amount", tokenUnit)).where(checkTwoTokens).burning(feeExchange),
	newContract(42, "ExchangeInjectContract", "put tokens into a Bancor exchange", doExchangeInject,
		owner(1),
		count(2, "exchange_id", "exchange", ""),
		token(3, "token_id", "token"),
		count(4, "quant", "amount", tokenUnit)),
	newContract(43, "ExchangeWithdrawContract", "take tokens out of a Bancor exchange", doExchangeWithdraw,
		owner(1),
		count(2, "exchange_id", "exchange", ""),
		token(3, "token_id", "token"),
		count(4, "quant", "amount", tokenUnit)),
	newContract(44, "ExchangeTransactionContract", "trade on a Bancor exchange", doExchangeTrade,
		owner(1),
		count(2, "exchange_id", "exchange", ""),
		token(3, "token_id", "token sold"),
		count(4, "quant", "amount sold", tokenUnit),
		count(5, "expected", "least amount bought", tokenUnit)),
	newContract(52, "MarketSellAssetContract", "place an order", doOrder,
		owner(1),
		token(2, "sell_token_id", "token sold"),
		count(3, "sell_token_quantity", "amount sold", tokenUnit),
		token(4, "buy_token_id", "token bought"),
		count(5, "buy_token_quantity", "least amount bought", tokenUnit)).where(checkTwoTokens),
	newContract(53, "MarketCancelOrderContract", "cancel an order", unstakes(chains.UnknownAsset(Name)),
		owner(1),
		blob(2, "order_id", "order")),
}

// core/contract/balance_contract.proto: TRX, and the resources that staking it yields.

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
	newContract(12, "UnfreezeBalanceContract", "unstake TRX (Stake 1.0)", unstakes(trxAsset),
		owner(1),
		resource(10, "TRON_POWER"),
		addr(15, "receiver_address", "receiver").optional()).where(checkNotToOwner),
	newContract(13, "WithdrawBalanceContract", "withdraw rewards", unstakes(trxAsset), owner(1)),
	newContract(54, "FreezeBalanceV2Contract", "stake TRX", owns(chains.KindStake, trxAsset, 1),
		owner(1),
		sun(2, "frozen_balance", "amount").atLeast(leastStake),
		resource(3, "TRON_POWER")),
	newContract(55, "UnfreezeBalanceV2Contract", "unstake TRX", owns(chains.KindUnstake, trxAsset, 1),
		owner(1),
		sun(2, "unfreeze_balance", "amount"),
		resource(3, "TRON_POWER")),
	newContract(56, "WithdrawExpireUnfreezeContract", "withdraw unstaked TRX", unstakes(trxAsset), owner(1)),
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

// core/contract/smart_contract.proto.

var smartContracts = []*contract{
	newContract(numberTrigger, "TriggerSmartContract", "call a smart contract", nil,
		owner(1),
		addr(2, "contract_address", "contract"),
		sun(3, "call_value", "value").optional(),
		blob(4, "data", "data").optional(),
		count(5, "call_token_value", "token value", tokenUnit).optional(),
		count(6, "token_id", "token id", "").optional()).where(checkTokenValue),
	newContract(numberCreate, "CreateSmartContract", "create a smart contract", doCreateContract,
		owner(1),
		one(2, "new_contract", "new contract", smartContractMessage),
		count(3, "call_token_value", "token value", tokenUnit).optional(),
		count(4, "token_id", "token id", "").optional()).where(checkCreation),
	newContract(48, "ClearABIContract", "clear a contract's ABI", doContract,
		owner(1),
		addr(2, "contract_address", "contract")),
	newContract(33, "UpdateSettingContract", "change who pays for a contract's energy", doContract,
		owner(1),
		addr(2, "contract_address", "contract"),
		count(3, "consume_user_resource_percent", "energy paid by callers", "%").optional().upTo(100)),
	newContract(45, "UpdateEnergyLimitContract", "change how much energy the contract's creator pays", doContract,
		owner(1),
		addr(2, "contract_address", "contract"),
		count(3, "origin_energy_limit", "most energy paid by the creator", "")),
}
