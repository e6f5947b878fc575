package structures

import (
	"math/big"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// entryPoints are versions 0.8 and 0.9, whose user operations are typed data. Those of
// 0.6 and 0.7 are signed as typed data of the account, such as SafeOp.
var entryPoints = [][20]byte{
	contract("4337084D9E255Ff0702461CF8895CE9E3b5Ff108"),
	contract("433709009B8330FDa32311DF1C2AFA402eD8D009"),
}

// The EntryPoints of SafeOp.
var safeEntryPoints = [][20]byte{
	contract("5FF137D4b0FDCD49DcA30c7CF57E578a026d2789"), // 0.6
	contract("0000000071727De22E5E9d8BAf0edAc6f37da032"), // 0.7
}

// userOperations are operations of smart accounts (ERC-4337).
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
	if !r.domain.is(entryPoints...) {
		return
	}
	limits, fees := r.field("accountGasLimits").Bytes, r.field("gasFees").Bytes
	gas := new(big.Int).Add(new(big.Int).SetBytes(limits[:16]), new(big.Int).SetBytes(limits[16:]))
	gas.Add(gas, r.field("preVerificationGas").Int)
	r.operation(*r.domain.contract, r.field("sender"), gas, new(big.Int).SetBytes(fees[16:]))
}

// safeOperation is a user operation of a Safe, for EntryPoint 0.6 or 0.7.
func safeOperation(r *reading) {
	if entryPoint := [20]byte(r.field("entryPoint").Bytes); entryPoint != safeEntryPoints[0] && entryPoint != safeEntryPoints[1] {
		return
	}
	gas := new(big.Int)
	for _, name := range []string{"callGasLimit", "verificationGasLimit", "preVerificationGas"} {
		gas.Add(gas, r.field(name).Int)
	}
	r.operation([20]byte(r.field("entryPoint").Bytes), r.field("safe"), gas, r.field("maxFeePerGas").Int)
	if r.field("validUntil").Int.Sign() == 0 {
		r.danger(HazardFarDeadline, whole, "it ends never: validUntil is 0")
	} else {
		r.deadline(r.field("validUntil"), whole)
	}
}

// operation adds the effects of the call that the EntryPoint makes to the account, the
// creation of the account if there is initCode, and the maximum gas fee.
func (r *reading) operation(entryPoint [20]byte, sender *eip712.Value, gas, maxFee *big.Int) {
	account := [20]byte(sender.Bytes)
	r.call(&ethereum.AccountCall{ChainID: r.domain.id(), Account: entryPoint, To: account, Value: new(big.Int), Data: r.field("callData").Bytes})
	if len(r.field("initCode").Bytes) > 0 {
		r.add(chains.Effect{Kind: chains.KindCreate, From: party(sender), To: party(sender), Path: "message/initCode"})
	}
	fee := chains.Effect{Kind: chains.KindFee, From: party(sender), Asset: chains.Native(r.domain.network()),
		Amount: chains.AtMost(new(big.Int).Mul(gas, maxFee)), Path: "message"}
	if len(r.field("paymasterAndData").Bytes) > 0 { // the paymaster may charge tokens: the amount is not in the message
		fee.Asset, fee.Amount = chains.UnknownAsset(r.domain.network()), chains.UnknownQuantity()
	}
	r.add(fee)
}
