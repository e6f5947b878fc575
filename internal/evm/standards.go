package evm

import (
	"sync"

	"github.com/countersign-dev/countersign/chains"
)

// standards are the functions that are decoded, and what they do. A row has the standard, the
// contracts where the function is known to do that, the function, and its act.
//
// A function is written in Solidity's human-readable ABI, with a role after a type:
//
//	function   = name "(" [ parameters ] ")"
//	parameters = parameter { "," parameter }
//	parameter  = type [ ":" role ] [ " " name ]
//	type       = ( elementary | "(" parameters ")" ) { "[" [ size ] "]" }
//
// A name may have spaces: it is what a person reads, and by which the act asks for the argument.
// Types and roles are those of types.go. The role of an array is that of its elements.
//
// The typed data that carries the same act (signed, signedAs) is written as EIP-712's encodeType,
// in which a member may have a role, and the name of the argument that it is if the names differ:
//
//	member = type [ ":" role ] " " name [ "=" argument ]
//
// An act adds effects of the kind that they have if they go where the function's name says. Only
// reclassify changes a kind, and only by who gets what: what is unstaked or minted for another
// party is transferred, what others transfer to the caller is received, and what goes where it
// cannot be spent is burned.
var standards = []standardAct{
	{"ERC-20", atAny, "transfer(address to,uint256:amount amount)", nonpayable(sends(erc20))},
	{"ERC-20 or ERC-721", atAny, "approve(address spender,uint256:allowance amount or token id)", nonpayable(approve)},
	{"ERC-20 or ERC-721", atAny, "transferFrom(address from,address to,uint256 amount or token id)",
		nonpayable(transferFrom)},
	{"ERC-20", atAny, "increaseAllowance(address spender,uint256:allowance added amount)", nonpayable(raiseAllowance)},
	{"ERC-20", atAny, "decreaseAllowance(address spender,uint256:amount removed amount)", nonpayable(lowersAllowance)},
	{"ERC-20", atAny, "increaseApproval(address spender,uint256:allowance added amount)", nonpayable(raiseAllowance)},
	{"ERC-20", atAny, "decreaseApproval(address spender,uint256:amount removed amount)", nonpayable(lowersAllowance)},
	{"ERC-2612", atAny, "permit(address owner,address spender,uint256:allowance amount,uint256:time deadline," +
		"uint8 v,bytes32 r,bytes32 s)", nonpayable(permit(erc20)).
		signed("Permit(address owner,address spender,uint256 value=amount,uint256 nonce,uint256 deadline)")},
	{"Dai", atAny, "permit(address holder,address spender,uint256 nonce,uint256:time expiry,bool:approval allowed," +
		"uint8 v,bytes32 r,bytes32 s)", nonpayable(permitDai).
		signed("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)")},
	{"permitForAll", atAny, "permitForAll(address owner,address operator,uint256 nonce,uint256:time deadline," +
		"uint8 v,bytes32 r,bytes32 s)", nonpayable(permitForAll)},
	{"TIP-20", atAny, "transferWithMemo(address to,uint256:amount amount,bytes32 memo)", nonpayable(sends(erc20))},
	{"TIP-20", atAny, "transferFromWithMemo(address from,address to,uint256:amount amount,bytes32 memo)",
		nonpayable(transferFrom)},
	{"ERC-3009", atAny, "transferWithAuthorization(address from,address to,uint256:amount amount," +
		"uint256:time valid after,uint256:time valid before,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)",
		nonpayable(transferWithAuthorization).signed(transfer3009)},
	{"ERC-3009", atAny, "transferWithAuthorization(address from,address to,uint256:amount amount," +
		"uint256:time valid after,uint256:time valid before,bytes32 nonce,bytes signature)",
		nonpayable(transferWithAuthorization).signed(transfer3009)},
	{"ERC-3009", atAny, "receiveWithAuthorization(address from,address to,uint256:amount amount," +
		"uint256:time valid after,uint256:time valid before,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)",
		nonpayable(transferWithAuthorization).signed(receive3009)},
	{"ERC-3009", atAny, "receiveWithAuthorization(address from,address to,uint256:amount amount," +
		"uint256:time valid after,uint256:time valid before,bytes32 nonce,bytes signature)",
		nonpayable(transferWithAuthorization).signed(receive3009)},
	{"ERC-3009", atAny, "cancelAuthorization(address authorizer,bytes32 nonce,uint8 v,bytes32 r,bytes32 s)",
		nonpayable(cancelAuthorization).
			signed("CancelAuthorization(address authorizer,bytes32 nonce)")},
	{"ERC-777", atAny, "send(address to,uint256:amount amount,bytes data)", nonpayable(sends(erc777))},
	{"ERC-777", atAny, "burn(uint256:amount amount,bytes data)",
		nonpayable(adds(chains.KindBurn, toZero, called(erc777), exactly("amount")))},
	{"ERC-777", atAny, "authorizeOperator(address operator)",
		nonpayable(adds(chains.KindApprove, to("operator"), called(erc777), unlimited))},
	{"ERC-777", atAny, "revokeOperator(address operator)",
		nonpayable(adds(chains.KindRevoke, to("operator"), called(erc777)))},
	{"ERC-777", atAny, "operatorSend(address from,address to,uint256:amount amount,bytes data,bytes operator data)",
		nonpayable(takes(erc777))},
	{"ERC-1363", atAny, "transferAndCall(address to,uint256:amount amount)", nonpayable(sends(erc20))},
	{"ERC-1363", atAny, "transferAndCall(address to,uint256:amount amount,bytes data)", nonpayable(sends(erc20))},
	{"ERC-1363", atAny, "transferFromAndCall(address from,address to,uint256:amount amount)", nonpayable(takes(erc20))},
	{"ERC-1363", atAny, "transferFromAndCall(address from,address to,uint256:amount amount,bytes data)",
		nonpayable(takes(erc20))},
	{"ERC-1363", atAny, "approveAndCall(address spender,uint256:allowance amount)", nonpayable(approves(erc20))},
	{"ERC-1363", atAny, "approveAndCall(address spender,uint256:allowance amount,bytes data)",
		nonpayable(approves(erc20))},
	{"ERC-721", atAny, "safeTransferFrom(address from,address to,uint256 token id)", nonpayable(takes(erc721))},
	{"ERC-721", atAny, "safeTransferFrom(address from,address to,uint256 token id,bytes data)",
		nonpayable(takes(erc721))},
	{"ERC-721 or ERC-1155", atAny, "setApprovalForAll(address operator,bool:approval approved)",
		nonpayable(adds(chains.KindApprove, to("operator"), called(erc721Or1155), allowingAll("approved")))},
	{"ERC-1155", atAny, "safeTransferFrom(address from,address to,uint256 token id,uint256:amount amount,bytes data)",
		nonpayable(takes(erc1155))},
	{"ERC-1155", atAny, "safeBatchTransferFrom(address from,address to,uint256[] token ids," +
		"uint256[]:amount amounts,bytes data)", nonpayable(transferBatch)},
	{"ERC-6909", atAny, "transfer(address to,uint256 token id,uint256:amount amount)", nonpayable(sends(erc6909))},
	{"ERC-6909", atAny, "transferFrom(address from,address to,uint256 token id,uint256:amount amount)",
		nonpayable(takes(erc6909))},
	{"ERC-6909", atAny, "approve(address spender,uint256 token id,uint256:allowance amount)",
		nonpayable(approves(erc6909))},
	{"ERC-6909", atAny, "setOperator(address operator,bool:approval approved)",
		nonpayable(adds(chains.KindApprove, to("operator"), called(erc6909), allowingAll("approved")))},

	{"ERC-5805", atAny, "delegate(address delegatee)",
		nonpayable(adds(chains.KindAuthority, to("delegatee"), called(erc20)))},
	{"ERC-5805", atAny, "delegateBySig(address delegatee,uint256 nonce,uint256:time expiry,uint8 v,bytes32 r," +
		"bytes32 s)", nonpayable(delegatesVotesOf).
		signed("Delegation(address delegatee,uint256 nonce,uint256 expiry)")},

	{"ERC-4626", atAny, "deposit(uint256 assets,address receiver)",
		nonpayable(vault(deposits(exactly("assets")), "receiver"))},
	{"ERC-4626", atAny, "mint(uint256:amount shares,address receiver)",
		nonpayable(vault(deposits(unknownAmount), "receiver"))},
	{"ERC-4626", atAny, "withdraw(uint256 assets,address receiver,address owner)",
		nonpayable(vault(adds(chains.KindUnstake, toCaller, called(erc20), unknownAmount), "receiver", "owner"))},
	{"ERC-4626", atAny, "redeem(uint256:amount shares,address receiver,address owner)",
		nonpayable(vault(adds(chains.KindUnstake, toCaller, called(erc20), exactly("shares")), "receiver", "owner"))},

	{"WETH", atWETH, "deposit()", payable(wrap)},
	{"WETH", atWETH, "withdraw(uint256:amount amount)", nonpayable(unwrap)},

	{"Permit2", atPermit2, "approve(address token,address spender,uint160:allowance amount,uint48:time expiration)",
		nonpayable(permit2Approve)},
	{"Permit2", atPermit2, "permit(address owner,((address token,uint160:allowance amount,uint48:time expiration," +
		"uint48 nonce) details,address spender,uint256:time signature deadline) permit,bytes signature)",
		nonpayable(permit2Permit).
			signed("PermitSingle(PermitDetails details,address spender,uint256 sigDeadline=signature deadline)" +
				permit2Details)},
	{"Permit2", atPermit2, "permit(address owner,((address token,uint160:allowance amount,uint48:time expiration," +
		"uint48 nonce)[] details,address spender,uint256:time signature deadline) permit,bytes signature)",
		nonpayable(permit2Permit).
			signed("PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline=signature deadline)" +
				permit2Details)},
	{"Permit2", atPermit2, "transferFrom(address from,address to,uint160:amount amount,address token)",
		nonpayable(permit2Transfer)},
	{"Permit2", atPermit2, "transferFrom((address from,address to,uint160:amount amount,address token)[] transfers)",
		nonpayable(permit2TransferBatch)},
	{"Permit2", atPermit2, "permitTransferFrom(((address token,uint256:amount amount) permitted,uint256 nonce," +
		"uint256:time deadline) permit,(address to,uint256:amount requested amount) transfer,address owner," +
		"bytes signature)", nonpayable(permit2Signed).
		signedAs(permit2TransferType, permit2Transferable, nil)},
	{"Permit2", atPermit2, "permitTransferFrom(((address token,uint256:amount amount)[] permitted,uint256 nonce," +
		"uint256:time deadline) permit,(address to,uint256:amount requested amount)[] transfers,address owner," +
		"bytes signature)", nonpayable(permit2Signed).
		signedAs(permit2BatchType, permit2Transferable, nil)},
	{"Permit2", atPermit2, "permitWitnessTransferFrom(((address token,uint256:amount amount) permitted," +
		"uint256 nonce,uint256:time deadline) permit,(address to,uint256:amount requested amount) transfer," +
		"address owner,bytes32 witness,string witness type,bytes signature)", nonpayable(permit2Signed).
		signedAs(permit2TransferType, permit2Transferable, nil)},
	{"Permit2", atPermit2, "permitWitnessTransferFrom(((address token,uint256:amount amount)[] permitted," +
		"uint256 nonce,uint256:time deadline) permit,(address to,uint256:amount requested amount)[] transfers," +
		"address owner,bytes32 witness,string witness type,bytes signature)", nonpayable(permit2Signed).
		signedAs(permit2BatchType, permit2Transferable, nil)},
	{"Permit2", atPermit2, "lockdown((address token,address spender)[] approvals)", nonpayable(permit2Lockdown)},
	{"Permit2", atPermit2, "invalidateNonces(address token,address spender,uint48 new nonce)",
		nonpayable(adds(chains.KindSettings, to("spender"), ofCalled, token(erc20, "token")))},
	{"Permit2", atPermit2, "invalidateUnorderedNonces(uint256 word position,uint256 mask)", nonpayable(settings)},

	{"Universal Router", atUniversalRouter, "execute(bytes:commands commands,bytes[] inputs)", payable(nested)},
	{"Universal Router", atUniversalRouter, "execute(bytes:commands commands,bytes[] inputs,uint256:time deadline)",
		payable(nested)},

	{"Multicall3", atMulticall3, "aggregate((address:target target,bytes:call call)[] calls)", payable(nested)},
	{"Multicall3", atMulticall3, "tryAggregate(bool:required require success,(address:target target," +
		"bytes:call call)[] calls)", payable(nested)},
	{"Multicall3", atMulticall3, "blockAndAggregate((address:target target,bytes:call call)[] calls)", payable(nested)},
	{"Multicall3", atMulticall3, "tryBlockAndAggregate(bool:required require success,(address:target target," +
		"bytes:call call)[] calls)", payable(nested)},
	{"Multicall3", atMulticall3, "aggregate3((address:target target,bool:optional allow failure," +
		"bytes:call call)[] calls)", payable(nested)},
	{"Multicall3", atMulticall3, "aggregate3Value((address:target target,bool:optional allow failure," +
		"uint256:native value,bytes:call call)[] calls)", payable(nested)},

	{"ERC-4337", atEntryPoint07, "handleOps((address:target sender,uint256 nonce,bytes:factory init code," +
		"bytes:op call,bytes32 account gas limits,uint256 pre-verification gas,bytes32 gas fees," +
		"bytes paymaster and data,bytes signature)[] operations,address beneficiary)",
		act{effects: handleOps, after: payBeneficiary}.
			signedAs("PackedUserOperation(address:target sender,uint256 nonce,bytes initCode=init code,"+
				"bytes:op callData=call,bytes32 accountGasLimits=account gas limits,"+
				"uint256 preVerificationGas=pre-verification gas,bytes32 gasFees=gas fees,"+
				"bytes paymasterAndData=paymaster and data)", packedOperation, chargeOperation).
			signedAs("SafeOp(address:target safe=sender,uint256 nonce,bytes initCode=init code,bytes:op callData=call,"+
				"uint128 verificationGasLimit=verification gas limit,uint128 callGasLimit=call gas limit,"+
				"uint256 preVerificationGas=pre-verification gas,uint128 maxPriorityFeePerGas,"+
				"uint128 maxFeePerGas=max fee per gas,bytes paymasterAndData=paymaster and data,uint48 validAfter,"+
				"uint48 validUntil=valid until,address:verifier entryPoint)", safeOperation, chargeOperation)},
	{"ERC-4337", atEntryPoint06, "handleOps((address:target sender,uint256 nonce,bytes:factory init code," +
		"bytes:op call,uint256 call gas limit,uint256 verification gas limit,uint256 pre-verification gas," +
		"uint256 max fee per gas,uint256 max priority fee per gas,bytes paymaster and data," +
		"bytes signature)[] operations,address beneficiary)", act{effects: handleOps, after: payBeneficiary}.
		signedAs("SafeOp(address:target safe=sender,uint256 nonce,bytes initCode=init code,bytes:op callData=call,"+
			"uint256 callGasLimit=call gas limit,uint256 verificationGasLimit=verification gas limit,"+
			"uint256 preVerificationGas=pre-verification gas,uint256 maxFeePerGas=max fee per gas,"+
			"uint256 maxPriorityFeePerGas,bytes paymasterAndData=paymaster and data,uint48 validAfter,"+
			"uint48 validUntil=valid until,address:verifier entryPoint)",
			safeOperation, chargeOperation)},
	{"ERC-4337", atEntryPoint, "depositTo(address account)",
		holds(adds(chains.KindStake, to("account"), ofCalled, native, ownValue))},
	{"ERC-4337", atEntryPoint, "withdrawTo(address to,uint256 amount)",
		nonpayable(adds(chains.KindUnstake, to("to"), ofCalled, native, exactly("amount")))},
	{"ERC-4337", atEntryPoint, "addStake(uint32 unstake delay)", holds(addStake)},
	{"ERC-4337", atEntryPoint, "unlockStake()", nonpayable(settings)},
	{"ERC-4337", atEntryPoint, "withdrawStake(address to)",
		nonpayable(adds(chains.KindUnstake, to("to"), ofCalled, native, everything))},
	{"ERC-4337", atEntryPoint, "incrementNonce(uint192 key)", nonpayable(settings)},

	{"account", asClaimed, "execute(address:target to,uint256:native value,bytes:call call)", payable(nested)},
	{"account", asClaimed, "executeBatch(address[]:target to,bytes[]:call calls)", payable(nested)},
	{"account", asClaimed, "executeBatch(address[]:target to,uint256[]:native values,bytes[]:call calls)",
		payable(nested)},
	{"account", asClaimed, "executeBatch((address:target to,uint256:native value,bytes:call call)[] calls)",
		payable(nested)},
	{"ERC-7579 or ERC-7821", asClaimed, "execute(bytes32 mode,bytes:executions executions)", payable(nested)},
	{"ERC-7579", asClaimed, "executeFromExecutor(bytes32 mode,bytes:executions executions)", payable(nested)},
	{"ERC-7579", asClaimed, "installModule(uint256 module type,address module,bytes data)",
		nonpayable(controlTo("module"))},
	{"ERC-7579", asClaimed, "uninstallModule(uint256 module type,address module,bytes data)",
		nonpayable(loses("module"))},

	{"multicall", asClaimed, "multicall(bytes[]:self calls)", payable(nested)},
	{"multicall", asClaimed, "multicall(uint256:time deadline,bytes[]:self calls)", payable(nested)},
	{"multicall", asClaimed, "multicall(bytes32 previous blockhash,bytes[]:self calls)", payable(nested)},

	{"Safe", asClaimed, "execTransaction(address:target to,uint256:native value,bytes:call call," +
		"uint8:operation operation,uint256 safe tx gas,uint256 base gas,uint256 gas price,address gas token," +
		"address refund receiver,bytes signatures)", act{payable: true, effects: executes, after: execTransaction}.
		signed("SafeTx(address:target to,uint256:native value,bytes:call data=call,uint8:operation operation," +
			"uint256 safeTxGas=safe tx gas,uint256 baseGas=base gas,uint256 gasPrice=gas price," +
			"address gasToken=gas token,address refundReceiver=refund receiver,uint256 nonce)")},
	{"Safe", asClaimed, "execTransactionFromModule(address:target to,uint256:native value,bytes:call call," +
		"uint8:operation operation)", payable(nested)},
	{"Safe", atMultiSend, "multiSend(bytes:packed transactions)", payable(nested)},
	{"Safe", asClaimed, "multiSend(bytes:packed transactions)", payable(nested)},
	{"Safe", asClaimed, "setup(address[] owners,uint256 threshold,address to,bytes data,address fallback handler," +
		"address payment token,uint256 payment,address payment receiver)", nonpayable(setupSafe)},
	{"Safe", asClaimed, "addOwnerWithThreshold(address owner,uint256 threshold)", nonpayable(controlTo("owner"))},
	{"Safe", asClaimed, "removeOwner(address previous owner,address owner,uint256 threshold)",
		nonpayable(loses("owner"))},
	{"Safe", asClaimed, "swapOwner(address previous owner,address old owner,address new owner)",
		nonpayable(both(loses("old owner"), controlTo("new owner")))},
	{"Safe", asClaimed, "changeThreshold(uint256 threshold)", nonpayable(settings)},
	{"Safe", asClaimed, "enableModule(address module)", nonpayable(controlTo("module"))},
	{"Safe", asClaimed, "disableModule(address previous module,address module)", nonpayable(loses("module"))},
	{"Safe", asClaimed, "setGuard(address guard)", nonpayable(controlTo("guard"))},
	{"Safe", asClaimed, "setModuleGuard(address guard)", nonpayable(controlTo("guard"))},
	{"Safe", asClaimed, "setFallbackHandler(address handler)", nonpayable(controlTo("handler"))},
	{"Safe", asClaimed, "approveHash(bytes32 hash)", nonpayable(nested)},

	{"ownership", asClaimed, "transferOwnership(address new owner)", nonpayable(controlTo("new owner"))},
	{"ownership", asClaimed, "acceptOwnership()", nonpayable(adds(chains.KindAuthority, toCaller, ofCalled))},
	{"ownership", asClaimed, "renounceOwnership()", nonpayable(adds(chains.KindAuthority, toZero, ofCalled))},
	{"access control", asClaimed, "grantRole(bytes32 role,address account)", nonpayable(controlTo("account"))},
	{"access control", asClaimed, "revokeRole(bytes32 role,address account)", nonpayable(loses("account"))},
	{"access control", asClaimed, "renounceRole(bytes32 role,address account)", nonpayable(loses("account"))},
	{"proxy", asClaimed, "upgradeTo(address implementation)", nonpayable(controlTo("implementation"))},
	{"proxy", asClaimed, "upgradeToAndCall(address implementation,bytes data)", payable(controlTo("implementation"))},
	{"proxy", asClaimed, "changeAdmin(address new admin)", nonpayable(controlTo("new admin"))},
	{"ProxyAdmin", asClaimed, "upgrade(address proxy,address implementation)",
		nonpayable(adds(chains.KindAuthority, to("implementation"), over("proxy")))},
	{"ProxyAdmin", asClaimed, "upgradeAndCall(address proxy,address implementation,bytes data)",
		payable(adds(chains.KindAuthority, to("implementation"), over("proxy")))},
	{"ProxyAdmin", asClaimed, "changeProxyAdmin(address proxy,address new admin)",
		nonpayable(adds(chains.KindAuthority, to("new admin"), over("proxy")))},

	{"deposit contract", atDeposit, "deposit(bytes validator key,bytes withdrawal credentials,bytes signature," +
		"bytes32 deposit data root)", holds(depositValidator)},
}

type standardAct struct {
	standard string
	at       contractSet
	function string // empty: it is only decoded as typed data
	act      act
}

const (
	transfer3009 = "TransferWithAuthorization(address from,address to,uint256 value=amount,uint256 validAfter," +
		"uint256 validBefore=valid before,bytes32 nonce)"
	receive3009 = "ReceiveWithAuthorization(address from,address to,uint256 value=amount,uint256 validAfter," +
		"uint256 validBefore=valid before,bytes32 nonce)"
	permit2Details = "PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)"
)

// functions has the standards by selector.
var functions = sync.OnceValue(func() map[[4]byte][]*function {
	all := functionsBySelector{}
	for _, row := range standards {
		all.add(parseFunction(row.standard, row.function), row.at, row.act)
	}
	return all
})

// functionAt returns the function of a contract with a selector, nil if none is known there.
func (n *Network) functionAt(code Address, selector [4]byte) *function {
	if precompile := n.precompile(code); precompile != "" {
		for _, f := range tempoFunctions()[selector] {
			if f.at == precompile {
				return f
			}
		}
	}
	for _, f := range functions()[selector] {
		// WETH takes calls of functions that it does not have, and does nothing. Of these it has three.
		has := f.standard == "ERC-20 or ERC-721" || f.signature == "transfer(address,uint256)"
		lacks := f.at == atAny && !has && n.isKnown(code, atWETH)
		if f.at == atAny && !lacks || f.at == asClaimed || n.isKnown(code, f.at) {
			return f
		}
	}
	return nil
}
