package evm

import (
	"sync"
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
	{atKeychain, "authorizeAdminKey(address key,uint8 key type,bytes32 witness)", controlOwn("key")},
	{atKeychain, "setAllowedCalls(address key," + keyScopes + ")", controlOwn("key")},
	{atKeychain, "updateSpendingLimit(address key,address token,uint256:amount limit)", updateSpendingLimit},
	{atKeychain, "revokeKey(address key)", revokeFrom("key")},
	{atKeychain, "removeAllowedCalls(address key,address target)", revokeFrom("key")},
	{atKeychain, "burnKeyAuthorizationWitness(bytes32 witness)", settings},

	{atTIP20, "transfer(address to,uint256:amount amount)", sends(tip20)},
	{atTIP20, "transferWithMemo(address to,uint256:amount amount,bytes32 memo)", sends(tip20)},
	{atTIP20, "transferFrom(address from,address to,uint256:amount amount)", takes(tip20)},
	{atTIP20, "transferFromWithMemo(address from,address to,uint256:amount amount,bytes32 memo)", takes(tip20)},
	{atTIP20, "approve(address spender,uint256:allowance amount)", approveTIP20},
	{atTIP20, "permit(address owner,address spender,uint256:allowance amount,uint256:time deadline,uint8 v," +
		"bytes32 r,bytes32 s)", permitTIP20},
	{atTIP20, "mint(address to,uint256:amount amount)", mintTIP20},
	{atTIP20, "mintWithMemo(address to,uint256:amount amount,bytes32 memo)", mintTIP20},
	{atTIP20, "burn(uint256:amount amount)", burnTIP20},
	{atTIP20, "burnWithMemo(uint256:amount amount,bytes32 memo)", burnTIP20},
	{atTIP20, "burnBlocked(address from,uint256:amount amount)", burnTIP20From},
	{atTIP20, "burnAt(address from,uint256:amount amount)", burnTIP20From},
	{atTIP20, "pause()", freezeToken},
	{atTIP20, "unpause()", freezeToken},
	{atTIP20, "grantRole(bytes32 role,address account)", controlTo("account")},
	{atTIP20, "revokeRole(bytes32 role,address account)", loses("account")},
	{atTIP20, "renounceRole(bytes32 role)", settings},
	{atTIP20, "setRoleAdmin(bytes32 role,bytes32 admin role)", controlToUnknown},
	{atTIP20, "distributeReward(uint256:amount amount)", distributeReward},
	{atTIP20, "setRewardRecipient(address recipient)", setRewardRecipient},
	{atTIP20, "claimRewards()", claimRewards},
	{atTIP20, "changeTransferPolicyId(uint64 policy)", settings},
	{atTIP20, "setSupplyCap(uint256:amount cap)", settings},
	{atTIP20, "setNextQuoteToken(address quote token)", settings},
	{atTIP20, "completeQuoteTokenUpdate()", settings},
	{atTIP20, "setLogoURI(string logo)", settings},

	{atTIP20Factory, "createToken(string name,string symbol,string currency,address quote token,address admin," +
		"bytes32 salt)", createToken},
	{atTIP20Factory, "createToken(string name,string symbol,string currency,address quote token,address admin," +
		"bytes32 salt,string logo)", createToken},

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
	{atFeeManager, "mint(address user token,address validator token,uint256 amount,address to)", addLiquidity},
	{atFeeManager, "burn(address user token,address validator token,uint256 liquidity,address to)", removeLiquidity},
	{atFeeManager, "rebalanceSwap(address user token,address validator token,uint256 amount out,address to)",
		rebalanceSwap},

	{atExchange, "createPair(address base)", settings},
	{atExchange, "place(address token,uint128 amount,bool is bid,int16 tick)", placeOrder},
	{atExchange, "placeFlip(address token,uint128 amount,bool is bid,int16 tick,int16 flip tick)", placeOrder},
	{atExchange, "cancel(uint128 order)", releaseUnknown},
	{atExchange, "cancelStaleOrder(uint128 order)", settings},
	{atExchange, "swapExactAmountIn(address token in,address token out,uint128 amount in,uint128 least amount out)",
		swapExactIn},
	{atExchange, "swapExactAmountOut(address token in,address token out,uint128 amount out,uint128 most amount in)",
		swapExactOut},
	{atExchange, "withdraw(address token,uint128 amount)", withdrawBalance},
	{atExchange, "setBookIndex(uint32 index)", settings},

	{atChannels, "open(address payee,address operator,address token,uint96 deposit,bytes32 salt," +
		"address authorized signer)", openChannel},
	{atChannels, "topUp(" + channel + ",uint96 deposit)", topUpChannel},
	{atChannels, "settle(" + channel + ",uint96 cumulative amount,bytes signature)",
		settleChannel("cumulative amount")},
	{atChannels, "close(" + channel + ",uint96 cumulative amount,uint96 captured amount,bytes signature)",
		settleChannel("captured amount")},
	{atChannels, "requestClose(" + channel + ")", settings},
	{atChannels, "withdraw(" + channel + ")", withdrawChannel},

	{atAddressRegistry, "registerVirtualMaster(bytes32 salt)", settings},
	{atReceiveGuard, "claim(address to,bytes receipt)", claimBlocked},
	{atReceiveGuard, "burnBlockedReceipt(bytes receipt)", burnBlocked},
	{atStorageCredits, "setMode(uint8 mode)", settings},
	{atStorageCredits, "setBudget(uint64 credits)", settings},
}

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

// precompileFunction returns the function of the precompile at an address, nil if there
// is no precompile or it has no such function.
func (n *Network) precompileFunction(code Address, selector [4]byte) *function {
	if contracts := n.precompile(code); contracts != "" {
		for _, f := range tempoFunctions()[selector] {
			if f.at == contracts {
				return f
			}
		}
	}
	return nil
}
