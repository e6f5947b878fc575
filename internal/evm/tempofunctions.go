package evm

import (
	"sync"

	"github.com/countersign-dev/countersign/chains"
)

// tempoStandards are the functions of the precompiles that change something. See
// abiType for the notation.
var tempoStandards = []struct {
	at       contractSet
	function string
	effects  func(*emitter, *Call)
}{
	{atKeychain, "authorizeKey(address key,uint8 key type,uint64:time expires,bool enforce limits,(address token," +
		"uint256:amount limit)[] limits)", authorizeKeyLegacy},
	{atKeychain, "authorizeKey(address key,uint8 key type," + keyRestrictions + ")", authorizeKey},
	{atKeychain, "authorizeKey(address key,uint8 key type," + keyRestrictions + ",bytes32 witness)", authorizeKey},
	{atKeychain, "authorizeAdminKey(address key,uint8 key type,bytes32 witness)",
		adds(chains.KindAuthority, to("key"), ofCaller)},
	{atKeychain, "setAllowedCalls(address key," + keyScopes + ")", adds(chains.KindAuthority, to("key"), ofCaller)},
	{atKeychain, "updateSpendingLimit(address key,address token,uint256:amount limit)", updateSpendingLimit},
	{atKeychain, "revokeKey(address key)", adds(chains.KindRevoke, to("key"), ofCaller)},
	{atKeychain, "removeAllowedCalls(address key,address target)", adds(chains.KindRevoke, to("key"), ofCaller)},
	{atKeychain, "burnKeyAuthorizationWitness(bytes32 witness)", settings},

	{atTIP20, "transfer(address to,uint256:amount amount)", sends(tip20)},
	{atTIP20, "transferWithMemo(address to,uint256:amount amount,bytes32 memo)", sends(tip20)},
	{atTIP20, "transferFrom(address from,address to,uint256:amount amount)", takes(tip20)},
	{atTIP20, "transferFromWithMemo(address from,address to,uint256:amount amount,bytes32 memo)", takes(tip20)},
	{atTIP20, "approve(address spender,uint256:allowance amount)",
		adds(chains.KindApprove, to("spender"), called(tip20), allowing("amount"))},
	{atTIP20, "permit(address owner,address spender,uint256:allowance amount,uint256:time deadline,uint8 v," +
		"bytes32 r,bytes32 s)", permit(tip20)},
	{atTIP20, "mint(address to,uint256:amount amount)", mints},
	{atTIP20, "mintWithMemo(address to,uint256:amount amount,bytes32 memo)", mints},
	{atTIP20, "burn(uint256:amount amount)", burns},
	{atTIP20, "burnWithMemo(uint256:amount amount,bytes32 memo)", burns},
	{atTIP20, "burnBlocked(address from,uint256:amount amount)", burnsFrom},
	{atTIP20, "burnAt(address from,uint256:amount amount)", burnsFrom},
	{atTIP20, "pause()", adds(chains.KindFreeze, ofCalled)},
	{atTIP20, "unpause()", adds(chains.KindFreeze, ofCalled)},
	{atTIP20, "grantRole(bytes32 role,address account)", controlTo("account")},
	{atTIP20, "revokeRole(bytes32 role,address account)", loses("account")},
	{atTIP20, "renounceRole(bytes32 role)", settings},
	{atTIP20, "setRoleAdmin(bytes32 role,bytes32 admin role)", adds(chains.KindAuthority, toUnknown, ofCalled)},
	{atTIP20, "distributeReward(uint256:amount amount)",
		adds(chains.KindTransfer, toCalled, called(tip20), exactly("amount"))},
	{atTIP20, "setRewardRecipient(address recipient)", setRewardRecipient},
	{atTIP20, "claimRewards()", adds(chains.KindUnstake, toCaller, called(tip20), unknownAmount)},
	{atTIP20, "changeTransferPolicyId(uint64 policy)", settings},
	{atTIP20, "setSupplyCap(uint256:amount cap)", settings},
	{atTIP20, "setNextQuoteToken(address quote token)", settings},
	{atTIP20, "completeQuoteTokenUpdate()", settings},
	{atTIP20, "setLogoURI(string logo)", settings},

	{atTIP20Factory, "createToken(string name,string symbol,string currency,address quote token,address admin," +
		"bytes32 salt)", adds(chains.KindCreate, toUnknown)},
	{atTIP20Factory, "createToken(string name,string symbol,string currency,address quote token,address admin," +
		"bytes32 salt,string logo)", adds(chains.KindCreate, toUnknown)},

	{atPolicies, "createPolicy(address admin,uint8 policy type)", settings},
	{atPolicies, "createPolicyWithAccounts(address admin,uint8 policy type,address[] accounts)", settings},
	{atPolicies, "createCompoundPolicy(uint64 sender policy,uint64 recipient policy,uint64 mint recipient policy)",
		settings},
	{atPolicies, "setPolicyAdmin(uint64 policy,address admin)", controlTo("admin")},
	{atPolicies, "modifyPolicyWhitelist(uint64 policy,address account,bool allowed)", settings},
	{atPolicies, "modifyPolicyBlacklist(uint64 policy,address account,bool restricted)", settings},
	{atPolicies, "setReceivePolicy(uint64 sender policy,uint64 token filter,address recovery authority)",
		setReceivePolicy},
	{atPolicies, "migrateTransferPolicyIds(address[] tokens)", settings},

	{atFeeManager, "setUserToken(address token)", settings},
	{atFeeManager, "setValidatorToken(address token)", settings},
	{atFeeManager, "distributeFees(address validator,address token)", settings},
	{atFeeManager, "mint(address user token,address validator token,uint256 amount,address to)",
		adds(chains.KindStake, to("to"), ofCalled, token(tip20, "validator token"), exactly("amount"))},
	{atFeeManager, "burn(address user token,address validator token,uint256 liquidity,address to)",
		both(adds(chains.KindUnstake, to("to"), ofCalled, token(tip20, "user token"), unknownAmount),
			adds(chains.KindUnstake, to("to"), ofCalled, token(tip20, "validator token"), unknownAmount))},
	{atFeeManager, "rebalanceSwap(address user token,address validator token,uint256 amount out,address to)",
		rebalanceSwap},

	{atExchange, "createPair(address base)", settings},
	{atExchange, "place(address token,uint128 amount,bool is bid,int16 tick)", placeOrder},
	{atExchange, "placeFlip(address token,uint128 amount,bool is bid,int16 tick,int16 flip tick)", placeOrder},
	{atExchange, "cancel(uint128 order)", adds(chains.KindUnstake, toCaller, ofCalled, unknownAsset, unknownAmount)},
	{atExchange, "cancelStaleOrder(uint128 order)", settings},
	{atExchange, "swapExactAmountIn(address token in,address token out,uint128 amount in,uint128 least amount out)",
		trades(exactly("amount in"), atLeast("least amount out"))},
	{atExchange, "swapExactAmountOut(address token in,address token out,uint128 amount out,uint128 most amount in)",
		trades(atMost("most amount in"), exactly("amount out"))},
	// What the caller takes back here is no price of what another call gives.
	{atExchange, "withdraw(address token,uint128 amount)",
		adds(chains.KindUnstake, toCaller, ofCalled, token(tip20, "token"), exactly("amount"))},
	{atExchange, "setBookIndex(uint32 index)", settings},

	// What is deposited, the payee can draw with the signatures of the payer, or of a key that it names.
	{atChannels, "open(address payee,address operator,address token,uint96 deposit,bytes32 salt," +
		"address authorized signer)", adds(chains.KindTransfer, to("payee"), token(tip20, "token"), atMost("deposit"))},
	{atChannels, "topUp(" + channel + ",uint96 deposit)",
		adds(chains.KindTransfer, to("channel", "payee"), token(tip20, "channel", "token"), atMost("deposit"))},
	{atChannels, "settle(" + channel + ",uint96 cumulative amount,bytes signature)",
		adds(chains.KindTransfer, signedBy("channel", "payer"), to("channel", "payee"),
			token(tip20, "channel", "token"), atMost("cumulative amount"))},
	{atChannels, "close(" + channel + ",uint96 cumulative amount,uint96 captured amount,bytes signature)",
		adds(chains.KindTransfer, signedBy("channel", "payer"), to("channel", "payee"),
			token(tip20, "channel", "token"), atMost("captured amount"))},
	{atChannels, "requestClose(" + channel + ")", settings},
	{atChannels, "withdraw(" + channel + ")",
		adds(chains.KindUnstake, toCaller, ofCalled, token(tip20, "channel", "token"), unknownAmount)},

	{atAddressRegistry, "registerVirtualMaster(bytes32 salt)", settings},
	// Only the receipt, which is not read, says what a receive policy held back.
	{atReceiveGuard, "claim(address to,bytes receipt)",
		adds(chains.KindTransfer, to("to"), unknownAsset, unknownAmount)},
	{atReceiveGuard, "burnBlockedReceipt(bytes receipt)",
		adds(chains.KindBurn, fromUnknown, standing, unknownAsset, unknownAmount)},
	{atStorageCredits, "setMode(uint8 mode)", settings},
	{atStorageCredits, "setBudget(uint64 credits)", settings},
}

var (
	mints     = adds(chains.KindMint, to("to"), called(tip20), exactly("amount"))
	burns     = adds(chains.KindBurn, called(tip20), exactly("amount"))
	burnsFrom = adds(chains.KindBurn, from("from"), standing, called(tip20), exactly("amount")) // by the caller's role
)

const (
	keyScopes       = "(address target,(bytes4 selector,address[] recipients)[] rules)[] scopes"
	keyRestrictions = "(uint64:time expires,bool enforce limits,(address token,uint256:amount limit," +
		"uint64 period)[] limits,bool any call," + keyScopes + ") restrictions"
	channel = "(address payer,address payee,address operator,address token,bytes32 salt,address authorized signer," +
		"bytes32 expiring nonce hash) channel"
)

// tempoFunctions has the functions of the precompiles by selector.
var tempoFunctions = sync.OnceValue(func() map[[4]byte][]*function {
	all := functionsBySelector{}
	for _, row := range tempoStandards {
		all.add(parseFunction(string(row.at), row.function), row.at, nonpayable(row.effects))
	}
	return all
})
