package evm

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// carrierOf returns the carrier whose type begins with a text.
func carrierOf(t testing.TB, beginning string) (c carrier, at contractSet) {
	t.Helper()
	for _, row := range slices.Concat(standards, typedOnly) {
		for _, c := range row.act.carriers {
			if strings.HasPrefix(c.text, beginning) {
				return c, row.at
			}
		}
	}
	t.Fatalf("no typed data begins with %s", beginning)
	return c, at
}

// membersOf returns the members of typed data: those named, and zeros.
func membersOf(parameters []abiType, named map[string]any) []chains.TypedValue {
	members := make([]chains.TypedValue, len(parameters))
	for i := range parameters {
		p, m := &parameters[i], &members[i]
		m.Name = p.name
		switch p.kind {
		case kindAddress:
			m.Kind, m.Bytes = chains.TypedAddress, make([]byte, 20)
		case kindBytes:
			m.Kind = chains.TypedBytes
		case kindFixed:
			m.Kind, m.Bytes = chains.TypedFixedBytes, make([]byte, p.size)
		case kindTuple:
			m.Kind, m.List = chains.TypedStruct, membersOf(p.members, named)
		case kindArray:
			m.Kind = chains.TypedList
		default:
			m.Kind, m.Number = chains.TypedNumber, new(big.Int)
		}
		switch v := named[p.name].(type) {
		case Address:
			m.Bytes = slices.Clone(v[:])
		case []byte:
			m.Bytes = v
		case *big.Int:
			m.Number = v
		}
	}
	return members
}

// typedOf reads typed data of the act whose type begins with a text. What does nothing has no
// effects.
func typedOf(t testing.TB, n *Network, beginning string, contract Address, named map[string]any) *Signed {
	t.Helper()
	c, _ := carrierOf(t, beginning)
	typed := Typed{Type: c.encoded(), Contract: &contract, Members: membersOf(c.parameters(), named)}
	if c.text == zkSyncTransaction {
		typed.Name, typed.Version, typed.Contract = "zkSync", "2", nil
	}
	signed, ok := n.Pass().ReadTyped(typed)
	if !ok {
		return &Signed{}
	}
	return signed
}

// safeRefund has what a Safe's message says of its refund; numbers that are nil are 0.
type safeRefund struct {
	SafeTxGas, BaseGas, GasPrice *big.Int
	Token, Receiver              Address
}

// signedSafe returns what a SafeTx does.
func signedSafe(t testing.TB, n *Network, safe, to Address, data []byte, r safeRefund) []chains.Effect {
	t.Helper()
	named := map[string]any{"to": to, "call": data, "gas token": r.Token, "refund receiver": r.Receiver}
	for name, number := range map[string]*big.Int{"safe tx gas": r.SafeTxGas, "base gas": r.BaseGas, "gas price": r.GasPrice} {
		if number != nil {
			named[name] = number
		}
	}
	return typedOf(t, n, "SafeTx(", safe, named).Effects
}

// signedOperation returns what an operation does in typed data.
func signedOperation(t testing.TB, n *Network, o *operation) []chains.Effect {
	t.Helper()
	named := map[string]any{"sender": o.Sender, "init code": o.InitCode, "call": o.CallData, "paymaster and data": o.Paymaster,
		"call gas limit": o.CallGas, "verification gas limit": o.VerificationGas, "pre-verification gas": o.PreVerificationGas,
		"max fee per gas": o.MaxFeePerGas, "entryPoint": o.EntryPoint,
		"account gas limits": append(o.VerificationGas.FillBytes(make([]byte, 16)), o.CallGas.FillBytes(make([]byte, 16))...),
		"gas fees":           o.MaxFeePerGas.FillBytes(make([]byte, 32))}
	beginning := "SafeOp(address:target safe=sender,uint256 nonce,bytes initCode=init code,bytes:op callData=call,uint128"
	switch entryPoints[o.EntryPoint] {
	case 6:
		beginning = "SafeOp(address:target safe=sender,uint256 nonce,bytes initCode=init code,bytes:op callData=call,uint256"
	case 8, 9:
		beginning = "PackedUserOperation("
	}
	return typedOf(t, n, beginning, o.EntryPoint, named).Effects
}
