package evm

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// Calls hide in calls: how deep they are followed, and how many of one list are
// shown. What lies beyond is shown as bytes.
const (
	maxCallDepth = 4
	maxCallList  = 64
)

// Call tells what calldata asks a contract to do: the function and its
// arguments for the common standards, the bytes for anything else.
func Call(data []byte) []chains.Field { return callFields("call", data, 0) }

func callFields(label string, data []byte, depth int) []chains.Field {
	if len(data) == 0 {
		return nil
	}
	if len(data) < 4 || depth >= maxCallDepth {
		return []chains.Field{chains.Bytes(label, data)}
	}
	selector := [4]byte(data)
	f, known := functions()[selector]
	if !known {
		return []chains.Field{unknownCall(label, data)}
	}
	fields, ok := f.decode(data[4:], depth)
	if !ok {
		note := "has the selector of " + f.signature + ", but not its canonical encoding: not decoded"
		return []chains.Field{chains.Bytes(label, data).WithNote(note)}
	}
	head := chains.Text("function", f.signature).WithNote(f.standard)
	return []chains.Field{chains.List(label, append([]chains.Field{head}, fields...)...)}
}

func unknownCall(label string, data []byte) chains.Field {
	fields := []chains.Field{chains.Bytes("selector", data[:4]).WithNote("unknown function")}
	if len(data) > 4 {
		fields = append(fields, chains.Bytes("arguments", data[4:]))
	}
	return chains.List(label, fields...)
}

func (f function) decode(data []byte, depth int) (fields []chains.Field, ok bool) {
	args := newArguments(data, len(f.parameters))
	for _, p := range f.parameters {
		fields = append(fields, p.read(args, depth)...)
		if args.bad {
			return nil, false
		}
	}
	if rest := args.trailing(); len(rest) > 0 {
		fields = append(fields, chains.Bytes("after the arguments", rest))
	}
	return fields, true
}

// read reads one argument into the fields that show it.
func (p parameter) read(args *arguments, depth int) []chains.Field {
	switch p.kind {
	case "address":
		return []chains.Field{chains.AddressField(p.name, Address(args.right(20)).String())}
	case "uint256":
		return []chains.Field{chains.BigInteger(p.name, new(big.Int).SetBytes(args.next()))}
	case "amount":
		return []chains.Field{amountField(p.name, args.next())}
	case "allowance":
		return []chains.Field{allowanceField(p.name, args.next())}
	case "uint8":
		return []chains.Field{chains.Integer(p.name, uint64(args.right(1)[0]))}
	case "bytes32":
		return []chains.Field{chains.Bytes(p.name, args.next())}
	case "bytes":
		return []chains.Field{chains.Bytes(p.name, args.dynamic())}
	case "approval":
		return []chains.Field{approvalField(p.name, args)}
	case "operation":
		return []chains.Field{operationField(p.name, args)}
	case "uint256[]":
		return []chains.Field{numbersField(p.name, args.words())}
	case "call":
		return callFields(p.name, args.dynamic(), depth+1)
	case "call[]":
		return []chains.Field{callsField(p.name, args.list(), depth+1)}
	case "transactions":
		return []chains.Field{transactionsField(p.name, args.dynamic(), depth+1)}
	}
	panic("evm: no reader for arguments of type " + p.kind)
}

// A token's decimals do not stand in the transaction, so that amounts are
// shown as they are written.
func amountField(name string, value []byte) chains.Field {
	return chains.BigInteger(name, new(big.Int).SetBytes(value)).WithNote("in the token's smallest unit")
}

// An allowance that no balance can reach has no limit. Tokens hold at most
// 2^128 units in practice, and some store allowances in 96 bits.
func allowanceField(name string, value []byte) chains.Field {
	amount := new(big.Int).SetBytes(value)
	field := chains.BigInteger(name, amount)
	if amount.BitLen() >= 96 {
		return field.WithNote("UNLIMITED: all of this token, now and later")
	}
	return field.WithNote("in the token's smallest unit")
}

func approvalField(name string, args *arguments) chains.Field {
	switch args.right(1)[0] {
	case 0:
		return chains.Text(name, "no")
	case 1:
		return chains.Text(name, "yes").WithNote("UNLIMITED: all tokens of this contract, now and later")
	}
	args.bad = true
	return chains.Field{}
}

func operationField(name string, args *arguments) chains.Field {
	switch operation := args.right(1)[0]; operation {
	case 0:
		return chains.Text(name, "call")
	case 1:
		return chains.Text(name, "DELEGATECALL").WithNote("the target's code runs as the Safe itself")
	default:
		return chains.Integer(name, uint64(operation)).WithNote("unknown operation")
	}
}

func numbersField(name string, words [][]byte) chains.Field {
	fields := make([]chains.Field, 0, min(len(words), maxCallList+1))
	for i, value := range words {
		if i == maxCallList {
			fields = append(fields, restField(words[i:]))
			break
		}
		fields = append(fields, chains.BigInteger(fmt.Sprint(i+1), new(big.Int).SetBytes(value)))
	}
	return chains.List(name, fields...)
}

func callsField(name string, calls [][]byte, depth int) chains.Field {
	var fields []chains.Field
	for i, data := range calls {
		if i == maxCallList {
			fields = append(fields, restField(calls[i:]))
			break
		}
		label := fmt.Sprintf("call %d", i+1)
		if len(data) == 0 {
			fields = append(fields, chains.Bytes(label, nil).WithNote("empty"))
			continue
		}
		fields = append(fields, callFields(label, data, depth)...)
	}
	return chains.List(name, fields...)
}

// restField stands for the elements of a list that are too many to show. It
// still commits to each of them: 8 bytes of length, big-endian, and the element.
func restField(rest [][]byte) chains.Field {
	var all []byte
	for _, element := range rest {
		all = binary.BigEndian.AppendUint64(all, uint64(len(element)))
		all = append(all, element...)
	}
	return chains.Bytes(fmt.Sprintf("%d more", len(rest)), all)
}
