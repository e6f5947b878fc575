package evm

import (
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/crypto"
)

// where is the contracts at which a function is known to do what its standard
// says.
type where string

const (
	// atAny: on every contract. What such a function does is bounded by what the
	// standard lets it do to the asset that is called, whatever the contract is.
	atAny where = ""

	// asClaimed: the contract may do anything else besides. The function is read
	// and shown, but its call is not accounted for.
	asClaimed where = "claimed"
)

// standards are the functions that calls are decoded for. See abiType for the
// notation.
var standards = []struct {
	standard string
	where    where
	function string
}{
	{"ERC-20", atAny, "transfer(address to,uint256:amount amount)"},
	{"ERC-20 or ERC-721", atAny, "approve(address spender,uint256:allowance amount or token id)"},
	{"ERC-20 or ERC-721", atAny, "transferFrom(address from,address to,uint256 amount or token id)"},
	{"ERC-20", atAny, "increaseAllowance(address spender,uint256:allowance added amount)"},
	{"ERC-20", atAny, "decreaseAllowance(address spender,uint256:amount removed amount)"},
	{"ERC-20", atAny, "increaseApproval(address spender,uint256:allowance added amount)"},
	{"ERC-20", atAny, "decreaseApproval(address spender,uint256:amount removed amount)"},
	{"ERC-2612", atAny, "permit(address owner,address spender,uint256:allowance amount,uint256:time deadline,uint8 v,bytes32 r,bytes32 s)"},
	{"Dai", atAny, "permit(address holder,address spender,uint256 nonce,uint256:time expiry,bool:approval allowed,uint8 v,bytes32 r,bytes32 s)"},
	{"permitForAll", atAny, "permitForAll(address owner,address operator,uint256 nonce,uint256:time deadline,uint8 v,bytes32 r,bytes32 s)"},
	{"TIP-20", atAny, "transferWithMemo(address to,uint256:amount amount,bytes32 memo)"},
	{"TIP-20", atAny, "transferFromWithMemo(address from,address to,uint256:amount amount,bytes32 memo)"},
	{"ERC-3009", atAny, "transferWithAuthorization(address from,address to,uint256:amount amount,uint256:time valid after," +
		"uint256:time valid before,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)"},
	{"ERC-3009", atAny, "transferWithAuthorization(address from,address to,uint256:amount amount,uint256:time valid after," +
		"uint256:time valid before,bytes32 nonce,bytes signature)"},
	{"ERC-3009", atAny, "receiveWithAuthorization(address from,address to,uint256:amount amount,uint256:time valid after," +
		"uint256:time valid before,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)"},
	{"ERC-3009", atAny, "receiveWithAuthorization(address from,address to,uint256:amount amount,uint256:time valid after," +
		"uint256:time valid before,bytes32 nonce,bytes signature)"},
	{"ERC-3009", atAny, "cancelAuthorization(address authorizer,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)"},
	{"ERC-777", atAny, "send(address to,uint256:amount amount,bytes data)"},
	{"ERC-777", atAny, "burn(uint256:amount amount,bytes data)"},
	{"ERC-777", atAny, "authorizeOperator(address operator)"},
	{"ERC-777", atAny, "revokeOperator(address operator)"},
	{"ERC-777", atAny, "operatorSend(address from,address to,uint256:amount amount,bytes data,bytes operator data)"},
	{"ERC-1363", atAny, "transferAndCall(address to,uint256:amount amount)"},
	{"ERC-1363", atAny, "transferAndCall(address to,uint256:amount amount,bytes data)"},
	{"ERC-1363", atAny, "transferFromAndCall(address from,address to,uint256:amount amount)"},
	{"ERC-1363", atAny, "transferFromAndCall(address from,address to,uint256:amount amount,bytes data)"},
	{"ERC-1363", atAny, "approveAndCall(address spender,uint256:allowance amount)"},
	{"ERC-1363", atAny, "approveAndCall(address spender,uint256:allowance amount,bytes data)"},
	{"ERC-721", atAny, "safeTransferFrom(address from,address to,uint256 token id)"},
	{"ERC-721", atAny, "safeTransferFrom(address from,address to,uint256 token id,bytes data)"},
	{"ERC-721 or ERC-1155", atAny, "setApprovalForAll(address operator,bool:approval approved)"},
	{"ERC-1155", atAny, "safeTransferFrom(address from,address to,uint256 token id,uint256:amount amount,bytes data)"},
	{"ERC-1155", atAny, "safeBatchTransferFrom(address from,address to,uint256[] token ids,uint256[]:amount amounts,bytes data)"},
	{"ERC-6909", atAny, "transfer(address to,uint256 token id,uint256:amount amount)"},
	{"ERC-6909", atAny, "transferFrom(address from,address to,uint256 token id,uint256:amount amount)"},
	{"ERC-6909", atAny, "approve(address spender,uint256 token id,uint256:allowance amount)"},
	{"ERC-6909", atAny, "setOperator(address operator,bool:approval approved)"},

	{"WETH", atWETH, "deposit()"},
	{"WETH", atWETH, "withdraw(uint256:amount amount)"},

	{"Permit2", atPermit2, "approve(address token,address spender,uint160:allowance amount,uint48:time expiration)"},
	{"Permit2", atPermit2, "permit(address owner,((address token,uint160:allowance amount,uint48:time expiration,uint48 nonce) details," +
		"address spender,uint256:time signature deadline) permit,bytes signature)"},
	{"Permit2", atPermit2, "permit(address owner,((address token,uint160:allowance amount,uint48:time expiration,uint48 nonce)[] details," +
		"address spender,uint256:time signature deadline) permit,bytes signature)"},
	{"Permit2", atPermit2, "transferFrom(address from,address to,uint160:amount amount,address token)"},
	{"Permit2", atPermit2, "transferFrom((address from,address to,uint160:amount amount,address token)[] transfers)"},
	{"Permit2", atPermit2, "permitTransferFrom(((address token,uint256:amount amount) permitted,uint256 nonce,uint256:time deadline) permit," +
		"(address to,uint256:amount requested amount) transfer,address owner,bytes signature)"},
	{"Permit2", atPermit2, "permitTransferFrom(((address token,uint256:amount amount)[] permitted,uint256 nonce,uint256:time deadline) permit," +
		"(address to,uint256:amount requested amount)[] transfers,address owner,bytes signature)"},
	{"Permit2", atPermit2, "permitWitnessTransferFrom(((address token,uint256:amount amount) permitted,uint256 nonce,uint256:time deadline) permit," +
		"(address to,uint256:amount requested amount) transfer,address owner,bytes32 witness,string witness type,bytes signature)"},
	{"Permit2", atPermit2, "permitWitnessTransferFrom(((address token,uint256:amount amount)[] permitted,uint256 nonce,uint256:time deadline) permit," +
		"(address to,uint256:amount requested amount)[] transfers,address owner,bytes32 witness,string witness type,bytes signature)"},
	{"Permit2", atPermit2, "lockdown((address token,address spender)[] approvals)"},
	{"Permit2", atPermit2, "invalidateNonces(address token,address spender,uint48 new nonce)"},
	{"Permit2", atPermit2, "invalidateUnorderedNonces(uint256 word position,uint256 mask)"},

	{"Universal Router", atUniversalRouter, "execute(bytes:commands commands,bytes[] inputs)"},
	{"Universal Router", atUniversalRouter, "execute(bytes:commands commands,bytes[] inputs,uint256:time deadline)"},

	{"Multicall3", atMulticall3, "aggregate((address:target target,bytes:call call)[] calls)"},
	{"Multicall3", atMulticall3, "tryAggregate(bool require success,(address:target target,bytes:call call)[] calls)"},
	{"Multicall3", atMulticall3, "blockAndAggregate((address:target target,bytes:call call)[] calls)"},
	{"Multicall3", atMulticall3, "tryBlockAndAggregate(bool require success,(address:target target,bytes:call call)[] calls)"},
	{"Multicall3", atMulticall3, "aggregate3((address:target target,bool allow failure,bytes:call call)[] calls)"},
	{"Multicall3", atMulticall3, "aggregate3Value((address:target target,bool allow failure,uint256:native value,bytes:call call)[] calls)"},

	{"ERC-4337", atEntryPoint07, "handleOps((address:target sender,uint256 nonce,bytes:factory init code,bytes:op call," +
		"bytes32 account gas limits,uint256 pre-verification gas,bytes32 gas fees,bytes paymaster and data,bytes signature)[] operations," +
		"address beneficiary)"},
	{"ERC-4337", atEntryPoint06, "handleOps((address:target sender,uint256 nonce,bytes:factory init code,bytes:op call," +
		"uint256 call gas limit,uint256 verification gas limit,uint256 pre-verification gas,uint256 max fee per gas," +
		"uint256 max priority fee per gas,bytes paymaster and data,bytes signature)[] operations,address beneficiary)"},
	{"ERC-4337", atEntryPoint, "depositTo(address account)"},
	{"ERC-4337", atEntryPoint, "withdrawTo(address to,uint256 amount)"},
	{"ERC-4337", atEntryPoint, "addStake(uint32 unstake delay)"},
	{"ERC-4337", atEntryPoint, "unlockStake()"},
	{"ERC-4337", atEntryPoint, "withdrawStake(address to)"},
	{"ERC-4337", atEntryPoint, "incrementNonce(uint192 key)"},

	{"account", asClaimed, "execute(address:target to,uint256:native value,bytes:call call)"},
	{"account", asClaimed, "executeBatch(address[]:target to,bytes[]:call calls)"},
	{"account", asClaimed, "executeBatch(address[]:target to,uint256[]:native values,bytes[]:call calls)"},
	{"account", asClaimed, "executeBatch((address:target to,uint256:native value,bytes:call call)[] calls)"},
	{"ERC-7579 or ERC-7821", asClaimed, "execute(bytes32 mode,bytes:executions executions)"},
	{"ERC-7579", asClaimed, "executeFromExecutor(bytes32 mode,bytes:executions executions)"},
	{"ERC-7579", asClaimed, "installModule(uint256 module type,address module,bytes data)"},
	{"ERC-7579", asClaimed, "uninstallModule(uint256 module type,address module,bytes data)"},

	{"multicall", asClaimed, "multicall(bytes[]:self calls)"},
	{"multicall", asClaimed, "multicall(uint256:time deadline,bytes[]:self calls)"},
	{"multicall", asClaimed, "multicall(bytes32 previous blockhash,bytes[]:self calls)"},

	{"Safe", asClaimed, "execTransaction(address:target to,uint256:native value,bytes:call call,uint8:operation operation,uint256 safe tx gas," +
		"uint256 base gas,uint256 gas price,address gas token,address refund receiver,bytes signatures)"},
	{"Safe", asClaimed, "execTransactionFromModule(address:target to,uint256:native value,bytes:call call,uint8:operation operation)"},
	{"Safe", atMultiSend, "multiSend(bytes:packed transactions)"},
	{"Safe", asClaimed, "multiSend(bytes:packed transactions)"},
	{"Safe", asClaimed, "setup(address[] owners,uint256 threshold,address to,bytes data,address fallback handler," +
		"address payment token,uint256 payment,address payment receiver)"},
	{"Safe", asClaimed, "addOwnerWithThreshold(address owner,uint256 threshold)"},
	{"Safe", asClaimed, "removeOwner(address previous owner,address owner,uint256 threshold)"},
	{"Safe", asClaimed, "swapOwner(address previous owner,address old owner,address new owner)"},
	{"Safe", asClaimed, "changeThreshold(uint256 threshold)"},
	{"Safe", asClaimed, "enableModule(address module)"},
	{"Safe", asClaimed, "disableModule(address previous module,address module)"},
	{"Safe", asClaimed, "setGuard(address guard)"},
	{"Safe", asClaimed, "setModuleGuard(address guard)"},
	{"Safe", asClaimed, "setFallbackHandler(address handler)"},
	{"Safe", asClaimed, "approveHash(bytes32 hash)"},

	{"ownership", asClaimed, "transferOwnership(address new owner)"},
	{"ownership", asClaimed, "acceptOwnership()"},
	{"ownership", asClaimed, "renounceOwnership()"},
	{"access control", asClaimed, "grantRole(bytes32 role,address account)"},
	{"access control", asClaimed, "revokeRole(bytes32 role,address account)"},
	{"access control", asClaimed, "renounceRole(bytes32 role,address account)"},
	{"proxy", asClaimed, "upgradeTo(address implementation)"},
	{"proxy", asClaimed, "upgradeToAndCall(address implementation,bytes data)"},
	{"proxy", asClaimed, "changeAdmin(address new admin)"},
	{"ProxyAdmin", asClaimed, "upgrade(address proxy,address implementation)"},
	{"ProxyAdmin", asClaimed, "upgradeAndCall(address proxy,address implementation,bytes data)"},
	{"ProxyAdmin", asClaimed, "changeProxyAdmin(address proxy,address new admin)"},

	{"deposit contract", atDeposit, "deposit(bytes validator key,bytes withdrawal credentials,bytes signature,bytes32 deposit data root)"},
}

type function struct {
	standard   string
	where      where
	signature  string // as the selector is computed from it
	parameters []abiType
}

// functions has the standards by selector: the first four bytes of Keccak-256
// of the signature.
var functions = sync.OnceValue(func() map[[4]byte][]*function {
	bySelector := map[[4]byte][]*function{}
	for _, row := range standards {
		f := parseFunction(row.standard, row.function)
		f.where = row.where
		selector := [4]byte(crypto.Keccak256([]byte(f.signature)))
		bySelector[selector] = append(bySelector[selector], f)
	}
	return bySelector
})

// parseFunction reads name(parameters).
func parseFunction(standard, text string) *function {
	name, list, _ := strings.Cut(text, "(")
	parameters, _ := parseTypes(list)
	return &function{standard: standard, signature: name + "(" + typeList(parameters) + ")", parameters: parameters}
}

// functionAt returns the function that call data with a selector calls on a
// contract; nil if none is known there.
func (n *Network) functionAt(code Address, selector [4]byte) *function {
	for _, f := range functions()[selector] {
		if f.where == atAny || f.where == asClaimed || n.isKnown(code, f.where) {
			return f
		}
	}
	return nil
}
