package tron

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// contracts are the types that the network executes, by number.
var contracts = func() (table [60]*contract) {
	for _, known := range []contract{
		{number: 0, message: accountCreateContract, effects: doCreateAccount, title: "create an account"},
		{number: 1, message: transferContract, effects: doTransfer, title: "transfer TRX"},
		{number: 2, message: transferAssetContract, effects: doTransferAsset, title: "transfer a TRC-10 token"},
		{number: 4, message: voteWitnessContract, effects: doVote, title: "vote for super representatives"},
		{number: 5, message: witnessCreateContract, effects: doSettings, title: "apply to be a super representative"},
		{number: 6, message: assetIssueContract, effects: doIssue, title: "issue a TRC-10 token"},
		{number: 8, message: witnessUpdateContract, effects: doSettings,
			title: "change a super representative's website"},
		{number: 9, message: participateAssetIssueContract, effects: doParticipate,
			title: "buy a TRC-10 token from its issuer"},
		{number: 10, message: accountUpdateContract, effects: doSettings, title: "name the account"},
		{number: 12, message: unfreezeBalanceContract, effects: doUnfreeze, title: "unstake TRX (Stake 1.0)"},
		{number: 13, message: withdrawBalanceContract, effects: doUnfreeze, title: "withdraw rewards"},
		{number: 14, message: unfreezeAssetContract, effects: doUnfreezeAsset,
			title: "release frozen supply of the issued token"},
		{number: 15, message: updateAssetContract, effects: doSettings, title: "change the issued token"},
		{number: 16, message: proposalCreateContract, effects: doSettings, title: "propose network parameters"},
		{number: 17, message: proposalApproveContract, effects: doSettings, title: "vote on a proposal"},
		{number: 18, message: proposalDeleteContract, effects: doSettings, title: "withdraw a proposal"},
		{number: 19, message: setAccountIDContract, effects: doSettings, title: "set the account's id, once"},
		{number: 30, message: createSmartContract, effects: doCreateContract, title: "create a smart contract"},
		{number: 31, message: triggerSmartContract, title: "call a smart contract"},
		{number: 33, message: updateSettingContract, effects: doContract,
			title: "change who pays for a contract's energy"},
		{number: 41, message: exchangeCreateContract, effects: doExchangeCreate, title: "create a Bancor exchange"},
		{number: 42, message: exchangeInjectContract, effects: doExchangeInject,
			title: "put tokens into a Bancor exchange"},
		{number: 43, message: exchangeWithdrawContract, effects: doExchangeWithdraw,
			title: "take tokens out of a Bancor exchange"},
		{number: 44, message: exchangeTransactionContract, effects: doExchangeTrade,
			title: "trade on a Bancor exchange"},
		{number: 45, message: updateEnergyLimitContract, effects: doContract,
			title: "change how much energy the contract's creator pays"},
		{number: 46, message: accountPermissionUpdateContract, effects: doPermissions,
			title: "replace the account's permissions: who may sign for it from now on"},
		{number: 48, message: clearABIContract, effects: doContract, title: "clear a contract's ABI"},
		{number: 49, message: updateBrokerageContract, effects: doSettings,
			title: "change a super representative's commission"},
		{number: 52, message: marketSellAssetContract, effects: doOrder, title: "place an order"},
		{number: 53, message: marketCancelOrderContract, effects: doCancelOrder, title: "cancel an order"},
		{number: 54, message: freezeBalanceV2Contract, effects: doFreezeV2, title: "stake TRX"},
		{number: 55, message: unfreezeBalanceV2Contract, effects: doUnfreezeV2, title: "unstake TRX"},
		{number: 56, message: withdrawExpireUnfreezeContract, effects: doUnfreeze, title: "withdraw unstaked TRX"},
		{number: 57, message: delegateResourceContract, effects: doDelegate, title: "delegate resources"},
		{number: 58, message: unDelegateResourceContract, effects: doDelegate, title: "take delegated resources back"},
		{number: 59, message: cancelAllUnfreezeV2Contract, effects: doCancelUnfreeze, title: "cancel all unstaking"},
	} {
		known.message.named()
		known.typeURL = "type.googleapis.com/protocol." + known.message.name
		table[known.number] = &known
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
