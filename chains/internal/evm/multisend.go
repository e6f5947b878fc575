package evm

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"github.com/countersign-dev/countersign/chains"
)

// transactionsField shows what a Safe's multiSend packs, one behind the other:
//
//	operation 1 ‖ to 20 ‖ value 32 ‖ length 32 ‖ data
//
// What does not end where the last transaction does is shown as bytes.
func transactionsField(name string, packed []byte, depth int) chains.Field {
	var fields []chains.Field
	for rest := packed; len(rest) > 0; {
		size, ok := packedSize(rest)
		if !ok || len(fields) == maxCallList {
			fields = append(fields, chains.Bytes("not decoded", rest))
			break
		}
		fields = append(fields, packedTransaction(len(fields)+1, rest[:size], depth))
		rest = rest[size:]
	}
	return chains.List(name, fields...)
}

// packedHead is the length of a packed transaction without its data.
const packedHead = 1 + 20 + word + word

func packedSize(packed []byte) (size int, ok bool) {
	if len(packed) < packedHead || !zeros(packed[packedHead-word:packedHead-8]) {
		return 0, false
	}
	length := binary.BigEndian.Uint64(packed[packedHead-8:])
	if length > uint64(len(packed)-packedHead) {
		return 0, false
	}
	return packedHead + int(length), true
}

func packedTransaction(number int, packed []byte, depth int) chains.Field {
	operation := make([]byte, word)
	operation[word-1] = packed[0]
	fields := []chains.Field{
		operationField("operation", newArguments(operation, 1)),
		chains.AddressField("to", Address(packed[1:21]).String()),
		chains.BigInteger("value", new(big.Int).SetBytes(packed[21:21+word])),
	}
	fields = append(fields, callFields("call", packed[packedHead:], depth)...)
	return chains.List(fmt.Sprintf("transaction %d", number), fields...)
}
