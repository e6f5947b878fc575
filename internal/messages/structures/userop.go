package structures

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// userOperations are operations of smart accounts (ERC-4337). Those of EntryPoint 0.8 and
// 0.9 are typed data. Those of 0.6 and 0.7 are signed as typed data of the account, such
// as SafeOp, whose types have the members of their version.
var userOperations = []structure{
	{"PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits," +
		"uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)", packedOperation},
	{"SafeOp(address safe,uint256 nonce,bytes initCode,bytes callData,uint256 callGasLimit,uint256 verificationGasLimit," +
		"uint256 preVerificationGas,uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,bytes paymasterAndData," +
		"uint48 validAfter,uint48 validUntil,address entryPoint)", safeOperation},
	{"SafeOp(address safe,uint256 nonce,bytes initCode,bytes callData,uint128 verificationGasLimit,uint128 callGasLimit," +
		"uint256 preVerificationGas,uint128 maxPriorityFeePerGas,uint128 maxFeePerGas,bytes paymasterAndData," +
		"uint48 validAfter,uint48 validUntil,address entryPoint)", safeOperation},
}

// packedOperation is a user operation of EntryPoint 0.8 and 0.9.
func packedOperation(r *reading) {
	if !r.atEntryPoint(r.domain.contract, 8, 9) {
		return
	}
	o := r.operation(*r.domain.contract, "sender")
	o.SetGasLimits(r.field("accountGasLimits").Bytes)
	o.SetGasFees(r.field("gasFees").Bytes)
	if member, err := o.CheckHashed(); err != nil {
		r.err = &chains.ParseError{Kind: chains.ErrMalformed, Chain: eip712.Name, Field: "message." + member, Offset: -1, Problem: err.Error()}
	}
	r.operate(o)
}

// safeOperation is a user operation of a Safe, for EntryPoint 0.6 or 0.7.
func safeOperation(r *reading) {
	entryPoint := [20]byte(r.field("entryPoint").Bytes)
	if !r.atEntryPoint(&entryPoint, 6, 7) {
		return
	}
	o := r.operation(entryPoint, "safe")
	o.CallGas, o.VerificationGas = r.field("callGasLimit").Int, r.field("verificationGasLimit").Int
	o.MaxFeePerGas = r.field("maxFeePerGas").Int
	r.operate(o)
	if r.field("validUntil").Int.Sign() == 0 {
		r.danger(HazardFarDeadline, whole, "it ends never: validUntil is 0")
	} else {
		r.deadline(r.field("validUntil"), whole)
	}
}

// atEntryPoint reports whether a contract is an EntryPoint of one of two versions.
func (r *reading) atEntryPoint(contract *[20]byte, versions ...int) bool {
	return r.data.Chain == ethereum.Name && contract != nil && slices.Contains(versions, evm.EntryPointVersion(*contract))
}

// operation returns the members of an operation that its types have in common.
func (r *reading) operation(entryPoint [20]byte, sender string) *evm.Operation {
	return &evm.Operation{EntryPoint: entryPoint, Sender: [20]byte(r.field(sender).Bytes), InitCode: r.field("initCode").Bytes,
		CallData: r.field("callData").Bytes, Paymaster: r.field("paymasterAndData").Bytes, PreVerificationGas: r.field("preVerificationGas").Int}
}

// operate adds what an operation does, which depends on whether its sender and its
// paymaster are our own.
func (r *reading) operate(o *evm.Operation) {
	r.calling(o.Read(r.network))
	sender := r.partyAt(o.Sender)
	r.own = func(effects []chains.Effect, own func(chains.Party) bool) {
		evm.ClaimFees(effects, own)
		if own(sender) {
			o.Delegated(effects)
		}
	}
}

// calling adds the effects and the fields of an account's call.
func (r *reading) calling(effects []chains.Effect, fields []chains.Field) {
	r.effects = append(r.effects, effects...)
	r.shown = append(r.shown, fields...)
}
