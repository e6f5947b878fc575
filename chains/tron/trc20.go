package tron

import (
	"bytes"
	"encoding/binary"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// A call of a smart contract is a selector of 4 bytes and words of 32:
//
//	a9059cbb  000000000000000000000000 to(20)  amount(32)
//
// Some clients write addresses into words with the byte 41 in front of the 20;
// the virtual machine does not look at it.

// call is one function of TRC-20 or TRC-721.
type call struct {
	name      string
	arguments []argument
}

type argument struct {
	label string
	kind  argumentKind
}

type argumentKind uint8

const (
	argAddress argumentKind = iota
	argAmount               // of a token, in its smallest unit
	argLimit                // an amount that somebody else may spend
	argNumber
	argBool
)

// calls are the functions that are decoded, by selector: the first 4 bytes of
// Keccak-256 over the signature, which a test computes.
var calls = map[uint32]call{
	0xa9059cbb: {"transfer(address,uint256)", []argument{{"to", argAddress}, {"amount", argAmount}}},
	0x095ea7b3: {"approve(address,uint256)", []argument{{"spender", argAddress}, {"amount", argLimit}}},
	0x23b872dd: {"transferFrom(address,address,uint256)", []argument{{"from", argAddress}, {"to", argAddress}, {"amount or token id", argAmount}}},
	0x39509351: {"increaseAllowance(address,uint256)", []argument{{"spender", argAddress}, {"by", argLimit}}},
	0xa457c2d7: {"decreaseAllowance(address,uint256)", []argument{{"spender", argAddress}, {"by", argAmount}}},
	0xd73dd623: {"increaseApproval(address,uint256)", []argument{{"spender", argAddress}, {"by", argLimit}}},
	0x66188463: {"decreaseApproval(address,uint256)", []argument{{"spender", argAddress}, {"by", argAmount}}},
	0x42842e0e: {"safeTransferFrom(address,address,uint256)", []argument{{"from", argAddress}, {"to", argAddress}, {"token id", argNumber}}},
	0xa22cb465: {"setApprovalForAll(address,bool)", []argument{{"operator", argAddress}, {"approved", argBool}}},
}

const (
	selectorSize = 4
	wordSize     = 32
)

// callSummary decodes the call of a TriggerSmartContract, if it is one that is
// known and it is written exactly as its signature says.
func (tx *transaction) callSummary() []chains.Field {
	if tx.contract.message != triggerSmartContract {
		return nil
	}
	data := tx.bytes(tx.values[triggerData])
	if len(data) < selectorSize {
		return nil
	}
	known, ok := calls[binary.BigEndian.Uint32(data)]
	if !ok || len(data) != selectorSize+wordSize*len(known.arguments) {
		return nil
	}
	fields := []chains.Field{
		chains.Text("function", known.name),
		chains.AddressField("token", readAddress(tx.bytes(tx.values[triggerContract])).String()),
	}
	for i, arg := range known.arguments {
		word := data[selectorSize+wordSize*i:][:wordSize]
		field, ok := arg.field(word)
		if !ok {
			return nil
		}
		fields = append(fields, field)
	}
	return []chains.Field{chains.List("call", fields...)}
}

// field shows an argument. It is not ok if the word cannot hold one.
func (a argument) field(word []byte) (chains.Field, bool) {
	number := new(big.Int).SetBytes(word)
	switch a.kind {
	case argAddress:
		if len(bytes.Trim(word[:11], "\x00")) > 0 || word[11] != 0 && word[11] != addressPrefix {
			return chains.Field{}, false
		}
		return chains.AddressField(a.label, address(word[12:]).String()), true
	case argBool:
		return chains.Text(a.label, yesNo(number.Sign() != 0)), number.IsUint64() && number.Uint64() <= 1
	case argLimit:
		return limitField(a.label, number), true
	}
	return chains.BigInteger(a.label, number), true
}

// limitField marks an allowance that no supply of a token exhausts.
func limitField(label string, limit *big.Int) chains.Field {
	field := chains.BigInteger(label, limit)
	if limit.BitLen() == wordSize*8 {
		return field.WithNote("unlimited")
	}
	return field
}
