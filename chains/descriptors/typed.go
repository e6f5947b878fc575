package descriptors

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// ofTyped reads the formats of typed data (EIP-712). Their keys are types as EIP-712
// encodes them.
func (d *descriptor) ofTyped(context *typedForm) (*descriptor, []target, error) {
	d.domain, d.typed = context.Domain, map[string]*format{}
	switch {
	case context.DomainSeparator != nil:
		d.external = "domainSeparator"
	case context.Domain.Salt != nil:
		d.external = "domain.salt"
	}
	targets, err := targetsOf(context.Deployments)
	if err != nil {
		return nil, nil, err
	}
	return d, targets, d.readFormats(func(key string, f *format) error {
		d.typed[key] = f
		return nil
	})
}

// readTyped reads typed data whose type has a format. Its domain must be that of the
// descriptor.
func (d *descriptor) readTyped(folder *Folder, call chains.Call, depth int) (chains.Reading, bool) {
	f := d.typed[call.Typed.Type]
	reading := chains.Reading{Owner: d.owner, Function: call.Typed.Type}
	switch {
	case f == nil:
		return chains.Reading{}, false
	case d.external != "":
		reading.Problem = "the descriptor depends on " + d.external + ", which is not checked"
		return reading, true
	case d.domain.Name != "" && d.domain.Name != call.Typed.DomainName:
		reading.Problem = fmt.Sprintf("the descriptor is for the domain %.64q", d.domain.Name)
		return reading, true
	case d.domain.Version != "" && d.domain.Version != call.Typed.DomainVersion:
		reading.Problem = fmt.Sprintf("the descriptor is for version %.64q of the domain", d.domain.Version)
		return reading, true
	}
	reading.Intent = f.intent
	return d.readArguments(folder, f, call, depth, arguments(call.Typed.Members), reading), true
}

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
