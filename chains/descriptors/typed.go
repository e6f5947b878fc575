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

func argument(v *chains.TypedValue) evm.Argument {
	a := evm.Argument{Name: v.Name, Bytes: v.Bytes}
	switch v.Kind {
	case chains.TypedNumber:
		a.Kind, a.Number, a.Bytes = evm.ArgumentNumber, v.Number, wordOf(v.Number)
	case chains.TypedBool:
		a.Kind, a.Bytes = evm.ArgumentBool, wordOf(v.Number)
	case chains.TypedAddress:
		a.Kind = evm.ArgumentAddress
	case chains.TypedBytes:
		a.Kind, a.Opaque = evm.ArgumentBytes, true
	case chains.TypedFixedBytes:
		a.Kind = evm.ArgumentBytes
	case chains.TypedText:
		a.Kind = evm.ArgumentText
	case chains.TypedStruct:
		a.Kind, a.List = evm.ArgumentStruct, arguments(v.List)
	case chains.TypedList:
		a.Kind, a.List = evm.ArgumentList, arguments(v.List)
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
