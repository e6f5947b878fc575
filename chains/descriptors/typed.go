package descriptors

import (
	"math/big"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// arguments returns the values of typed data in the form of a function's arguments.
func arguments(values []chains.TypedValue) []evm.Argument {
	list := make([]evm.Argument, len(values))
	for i := range values {
		if list[i] = argument(&values[i]); list[i].Name == "" {
			list[i].Name = strconv.Itoa(i)
		}
	}
	return list
}

// argumentKinds are the kinds of arguments that values of typed data are.
var argumentKinds = map[chains.TypedKind]evm.ArgumentKind{
	chains.TypedNumber: evm.ArgumentNumber, chains.TypedBool: evm.ArgumentBool,
	chains.TypedAddress: evm.ArgumentAddress, chains.TypedText: evm.ArgumentText,
	chains.TypedBytes: evm.ArgumentBytes, chains.TypedFixedBytes: evm.ArgumentBytes,
	chains.TypedStruct: evm.ArgumentStruct, chains.TypedList: evm.ArgumentList,
}

func argument(v *chains.TypedValue) evm.Argument {
	a := evm.Argument{Name: v.Name, Kind: argumentKinds[v.Kind], Bytes: v.Bytes, Opaque: v.Kind == chains.TypedBytes}
	switch v.Kind {
	case chains.TypedNumber:
		a.Number, a.Bytes = v.Number, wordOf(v.Number)
	case chains.TypedBool:
		a.Bytes = wordOf(v.Number)
	case chains.TypedStruct, chains.TypedList:
		a.List = arguments(v.List)
	}
	return a
}

// wordOf returns the two's complement of a number in 256 bits.
func wordOf(number *big.Int) []byte {
	if number.Sign() < 0 {
		number = new(big.Int).Add(number, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return number.FillBytes(make([]byte, 32))
}
