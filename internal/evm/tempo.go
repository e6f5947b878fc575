package evm

import (
	"bytes"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign/chains"
)

// Tempo's precompiles, at known addresses of its two chains. Source: the node
// tempoxyz/tempo at d656ef55, crates/contracts and crates/precompiles, and the ABIs of
// viem 2.57.20.
const (
	atKeychain        contractSet = "AccountKeychain"
	atTIP20           contractSet = "TIP-20"
	atTIP20Factory    contractSet = "TIP-20 factory"
	atPolicies        contractSet = "TIP-403 registry"
	atFeeManager      contractSet = "fee manager"
	atExchange        contractSet = "stablecoin DEX"
	atChannels        contractSet = "channel reserve"
	atAddressRegistry contractSet = "address registry"
	atReceiveGuard    contractSet = "receive policy guard"
	atStorageCredits  contractSet = "storage credits"
	atValidators      contractSet = "validator config"
)

// precompiles are the precompiles at one address. TIP-20 tokens have all addresses with
// their prefix.
var precompiles = map[Address]contractSet{
	hexAddress("0xaAAAaaAA00000000000000000000000000000000"): atKeychain,
	hexAddress("0x20FC000000000000000000000000000000000000"): atTIP20Factory,
	hexAddress("0x403C000000000000000000000000000000000000"): atPolicies,
	hexAddress("0xfeEC000000000000000000000000000000000000"): atFeeManager,
	hexAddress("0xDEc0000000000000000000000000000000000000"): atExchange,
	hexAddress("0x4d50500000000000000000000000000000000000"): atChannels,
	hexAddress("0xFDC0000000000000000000000000000000000000"): atAddressRegistry,
	hexAddress("0xB10C000000000000000000000000000000000000"): atReceiveGuard,
	hexAddress("0x1060000000000000000000000000000000000000"): atStorageCredits,
	hexAddress("0xCCCCCCCC00000000000000000000000000000000"): atValidators,
	hexAddress("0xCCCCCCCC00000000000000000000000000000001"): atValidators,
}

// The chain ids of Tempo.
const (
	TempoMainnet = 4217
	TempoTestnet = 42431
)

// TempoName returns the name of a chain of Tempo, empty for any other chain.
func TempoName(chainID uint64) string {
	switch chainID {
	case TempoMainnet:
		return "Tempo"
	case TempoTestnet:
		return "Tempo testnet"
	}
	return ""
}

// tip20Prefix begins the address of every TIP-20 token: 20c0 and ten zeros.
var tip20Prefix = append([]byte{0x20, 0xc0}, make([]byte, 10)...)

// IsTIP20 reports whether an address is one of Tempo's tokens, by its prefix.
func IsTIP20(address Address) bool { return bytes.HasPrefix(address[:], tip20Prefix) }

// IsVirtual reports whether an address is virtual (TIP-1022): what is sent there goes
// to the account that has registered its first four bytes.
//
//	master id 4 ‖ fd × 10 ‖ tag 6
func IsVirtual(address Address) bool { return bytes.Count(address[4:14], []byte{0xfd}) == 10 }

// precompile returns the precompile at an address of Tempo, empty if there is none.
func (n *Network) precompile(address Address) contractSet {
	switch {
	case TempoName(n.ChainID) == "":
		return ""
	case IsTIP20(address):
		return atTIP20
	}
	return precompiles[address]
}

// tempoStandards are the functions of the precompiles that change something. See
// abiType for the notation.
var tempoStandards = []struct {
	at       contractSet
	function string
	effects  func(*emitter, *Call)
}{
	{atKeychain, "authorizeKey(address key,uint8 key type,uint64:time expires,bool enforce limits,(address token,uint256:amount limit)[] limits)", authorizeKeyLegacy},
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
	{atTIP20, "permit(address owner,address spender,uint256:allowance amount,uint256:time deadline,uint8 v,bytes32 r,bytes32 s)", permitTIP20},
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

	{atTIP20Factory, "createToken(string name,string symbol,string currency,address quote token,address admin,bytes32 salt)", createToken},
	{atTIP20Factory, "createToken(string name,string symbol,string currency,address quote token,address admin,bytes32 salt,string logo)", createToken},

	{atPolicies, "createPolicy(address admin,uint8 policy type)", settings},
	{atPolicies, "createPolicyWithAccounts(address admin,uint8 policy type,address[] accounts)", settings},
	{atPolicies, "createCompoundPolicy(uint64 sender policy,uint64 recipient policy,uint64 mint recipient policy)", settings},
	{atPolicies, "setPolicyAdmin(uint64 policy,address admin)", controlTo("admin")},
	{atPolicies, "modifyPolicyWhitelist(uint64 policy,address account,bool allowed)", settings},
	{atPolicies, "modifyPolicyBlacklist(uint64 policy,address account,bool restricted)", settings},
	{atPolicies, "setReceivePolicy(uint64 sender policy,uint64 token filter,address recovery authority)", setReceivePolicy},
	{atPolicies, "migrateTransferPolicyIds(address[] tokens)", settings},

	{atFeeManager, "setUserToken(address token)", settings},
	{atFeeManager, "setValidatorToken(address token)", settings},
	{atFeeManager, "distributeFees(address validator,address token)", settings},
	{atFeeManager, "mint(address user token,address validator token,uint256 amount,address to)", addLiquidity},
	{atFeeManager, "burn(address user token,address validator token,uint256 liquidity,address to)", removeLiquidity},
	{atFeeManager, "rebalanceSwap(address user token,address validator token,uint256 amount out,address to)", rebalanceSwap},

	{atExchange, "createPair(address base)", settings},
	{atExchange, "place(address token,uint128 amount,bool is bid,int16 tick)", placeOrder},
	{atExchange, "placeFlip(address token,uint128 amount,bool is bid,int16 tick,int16 flip tick)", placeOrder},
	{atExchange, "cancel(uint128 order)", releaseUnknown},
	{atExchange, "cancelStaleOrder(uint128 order)", settings},
	{atExchange, "swapExactAmountIn(address token in,address token out,uint128 amount in,uint128 least amount out)", swapExactIn},
	{atExchange, "swapExactAmountOut(address token in,address token out,uint128 amount out,uint128 most amount in)", swapExactOut},
	{atExchange, "withdraw(address token,uint128 amount)", withdrawBalance},
	{atExchange, "setBookIndex(uint32 index)", settings},

	{atChannels, "open(address payee,address operator,address token,uint96 deposit,bytes32 salt,address authorized signer)", openChannel},
	{atChannels, "topUp(" + channel + ",uint96 deposit)", topUpChannel},
	{atChannels, "reclassify(" + channel + ",uint96 cumulative amount,bytes signature)", settleChannel("cumulative amount")},
	{atChannels, "close(" + channel + ",uint96 cumulative amount,uint96 captured amount,bytes signature)", settleChannel("captured amount")},
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
	keyRestrictions = "(uint64:time expires,bool enforce limits,(address token,uint256:amount limit,uint64 period)[] limits," +
		"bool any call," + keyScopes + ") restrictions"
	channel = "(address payer,address payee,address operator,address token,bytes32 salt,address authorized signer,bytes32 expiring nonce hash) channel"
)

// tempoFunctions has the functions of the precompiles by selector.
var tempoFunctions = sync.OnceValue(func() map[[4]byte][]*function {
	bySelector := map[[4]byte][]*function{}
	for _, row := range tempoStandards {
		f := parseFunction(string(row.at), row.function)
		f.at, f.act = row.at, nonpayable(row.effects)
		selector := [4]byte(crypto.Keccak256([]byte(f.signature)))
		bySelector[selector] = append(bySelector[selector], f)
	}
	return bySelector
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

// TIP20Fee returns a fee in 10⁻¹⁸ US dollars, in which gas is priced on Tempo, in the
// smallest unit of a TIP-20 token, which has 6 decimals. It is rounded up.
func TIP20Fee(fee uint256.Int) *big.Int {
	const attodollars = 1e12 // in the smallest unit
	remainder := new(uint256.Int)
	if fee.DivMod(&fee, uint256.NewInt(attodollars), remainder); !remainder.IsZero() {
		fee.AddUint64(&fee, 1)
	}
	return fee.ToBig()
}

// tip20Field shows an amount of a TIP-20 token, which always has 6 decimals.
func tip20Field(label string, r role, amount *big.Int) chains.Field {
	field := chains.Amount(label, amount, 6, "")
	if r == roleAllowance && amount.Cmp(maxTIP20) > 0 {
		return field.WithNote("UNLIMITED: all of this token, now and later")
	}
	return field
}
