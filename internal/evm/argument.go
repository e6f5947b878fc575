package evm

import (
	"math/big"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
)

// ArgumentKind is the type of an argument, sizes aside.
type ArgumentKind uint8

// The kinds of arguments.
const (
	ArgumentNumber ArgumentKind = iota
	ArgumentAddress
	ArgumentBool
	ArgumentBytes // of fixed length too
	ArgumentText
	ArgumentStruct
	ArgumentList
)

// Argument is a decoded argument of a Function.
type Argument struct {
	Name   string
	Kind   ArgumentKind
	Number *big.Int   // of a number
	Bytes  []byte     // an address's 20 bytes, a number's or bool's word, the content of bytes and text
	Opaque bool       // bytes of any length, whose meaning is not known
	List   []Argument // members of a struct, elements of a list
}

// Arguments decodes the arguments of a call in their one canonical encoding. ok is
// false for any other encoding; rest is what follows the arguments. tag is a byte that
// may precede an address, 0 for none.
func (f *Function) Arguments(data []byte, tag byte) (arguments []Argument, rest []byte, ok bool) {
	d := decoder{tag: tag}
	values, used := d.tuple(data, f.parameters)
	if d.bad {
		return nil, nil, false
	}
	return publish(values), data[used:], true
}

func publish(values []value) []Argument {
	arguments := make([]Argument, len(values))
	for i := range values {
		arguments[i] = values[i].argument()
	}
	return arguments
}

func (v *value) argument() Argument {
	a := Argument{Name: v.name}
	switch v.kind {
	case kindUint, kindInt:
		a.Kind, a.Number, a.Bytes = ArgumentNumber, v.big(), v.word
	case kindAddress:
		a.Kind, a.Bytes = ArgumentAddress, v.word[word-20:]
	case kindBool:
		a.Kind, a.Bytes = ArgumentBool, v.word
	case kindFixed:
		a.Kind, a.Bytes = ArgumentBytes, v.fixed()
	case kindBytes:
		a.Kind, a.Bytes, a.Opaque = ArgumentBytes, v.bytes, true
	case kindString:
		a.Kind, a.Bytes = ArgumentText, v.bytes
	case kindTuple:
		a.Kind, a.List = ArgumentStruct, publish(v.list)
	case kindArray:
		a.Kind, a.List = ArgumentList, publish(v.list)
	}
	for i := range a.List {
		if a.List[i].Name == "" {
			a.List[i].Name = strconv.Itoa(i)
		}
	}
	return a
}

// Calls returns the call and those in its arguments, without delegatecalls and
// without the calls that another signature authorizes.
func (c *Call) Calls() []chains.Call { return c.calls(nil) }

func (c *Call) calls(into []chains.Call) []chains.Call {
	if len(c.data) > 0 && !c.delegate && c.code == c.self && c.operator == nil && len(into) < chains.MaxEffects {
		into = append(into, chains.Call{Path: c.path, Chain: c.pass.ID, From: c.callerParty(), To: c.party(c.self),
			Value: c.value, Data: c.data})
	}
	return callsIn(c.args, into)
}

func callsIn(values []value, into []chains.Call) []chains.Call {
	for i := range values {
		for _, call := range values[i].calls {
			into = call.calls(into)
		}
		into = callsIn(values[i].list, into)
	}
	return into
}
