package tron

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// contract is one contract type: a kind of transaction.
type contract struct {
	number  int64
	message *message
	does    does   // nil for triggerSmartContract: see callEffects
	title   string // in a few words, for summaries
	typeURL string
}

// contracts are the types that the network executes, by number.
var contracts = func() (table [60]*contract) {
	for _, known := range []contract{
		{number: 0, message: accountCreateContract, does: doCreateAccount, title: "create an account"},
		{number: 1, message: transferContract, does: doTransfer, title: "transfer TRX"},
		{number: 2, message: transferAssetContract, does: doTransferAsset, title: "transfer a TRC-10 token"},
		{number: 4, message: voteWitnessContract, does: (*transaction).voteEffects, title: "vote for super representatives"},
		{number: 5, message: witnessCreateContract, does: doSettings, title: "apply to be a super representative"},
		{number: 6, message: assetIssueContract, does: doIssue, title: "issue a TRC-10 token"},
		{number: 8, message: witnessUpdateContract, does: doSettings, title: "change a super representative's website"},
		{number: 9, message: participateAssetIssueContract, does: doParticipate, title: "buy a TRC-10 token from its issuer"},
		{number: 10, message: accountUpdateContract, does: doSettings, title: "name the account"},
		{number: 12, message: unfreezeBalanceContract, does: doUnfreeze, title: "unstake TRX (Stake 1.0)"},
		{number: 13, message: withdrawBalanceContract, does: doUnfreeze, title: "withdraw rewards"},
		{number: 14, message: unfreezeAssetContract, does: doUnfreezeAsset, title: "release frozen supply of the issued token"},
		{number: 15, message: updateAssetContract, does: doSettings, title: "change the issued token"},
		{number: 16, message: proposalCreateContract, does: doSettings, title: "propose network parameters"},
		{number: 17, message: proposalApproveContract, does: doSettings, title: "vote on a proposal"},
		{number: 18, message: proposalDeleteContract, does: doSettings, title: "withdraw a proposal"},
		{number: 19, message: setAccountIDContract, does: doSettings, title: "set the account's id, once"},
		{number: 30, message: createSmartContract, does: (*transaction).creationEffects, title: "create a smart contract"},
		{number: 31, message: triggerSmartContract, title: "call a smart contract"},
		{number: 33, message: updateSettingContract, does: doContract, title: "change who pays for a contract's energy"},
		{number: 41, message: exchangeCreateContract, does: doExchangeCreate, title: "create a Bancor exchange"},
		{number: 42, message: exchangeInjectContract, does: doExchangeInject, title: "put tokens into a Bancor exchange"},
		{number: 43, message: exchangeWithdrawContract, does: doExchangeWithdraw, title: "take tokens out of a Bancor exchange"},
		{number: 44, message: exchangeTransactionContract, does: doExchangeTrade, title: "trade on a Bancor exchange"},
		{number: 45, message: updateEnergyLimitContract, does: doContract, title: "change how much energy the contract's creator pays"},
		{number: 46, message: accountPermissionUpdateContract, does: (*transaction).permissionEffects, title: "replace the account's permissions: who may sign for it from now on"},
		{number: 48, message: clearABIContract, does: doContract, title: "clear a contract's ABI"},
		{number: 49, message: updateBrokerageContract, does: doSettings, title: "change a super representative's commission"},
		{number: 52, message: marketSellAssetContract, does: doOrder, title: "place an order"},
		{number: 53, message: marketCancelOrderContract, does: doCancelOrder, title: "cancel an order"},
		{number: 54, message: freezeBalanceV2Contract, does: doFreezeV2, title: "stake TRX"},
		{number: 55, message: unfreezeBalanceV2Contract, does: doUnfreezeV2, title: "unstake TRX"},
		{number: 56, message: withdrawExpireUnfreezeContract, does: doUnfreeze, title: "withdraw unstaked TRX"},
		{number: 57, message: delegateResourceContract, does: (*transaction).delegationEffects, title: "delegate resources"},
		{number: 58, message: unDelegateResourceContract, does: (*transaction).delegationEffects, title: "take delegated resources back"},
		{number: 59, message: cancelAllUnfreezeV2Contract, does: doCancelUnfreeze, title: "cancel all unstaking"},
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

func contractOf(number int64, at int) (*contract, error) {
	if number >= 0 && number < int64(len(contracts)) && contracts[number] != nil {
		return contracts[number], nil
	}
	problem, known := unexecuted[number]
	if !known {
		problem = "unknown contract type"
	}
	return nil, &chains.ParseError{
		Kind: chains.ErrUnsupported, Chain: Name, Field: "contract.type", Offset: at,
		Problem: fmt.Sprintf("%d: %s", number, problem),
	}
}

// runsCode reports whether executing the contract runs a smart contract, for
// which fee_limit pays.
func (c *contract) runsCode() bool {
	return c.message == createSmartContract || c.message == triggerSmartContract
}
