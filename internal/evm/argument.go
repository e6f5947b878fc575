package evm

import (
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/rlp"
)

// Arguments decodes the arguments of a call in their one canonical encoding. ok is
// false for any other encoding; rest is what follows the arguments. tag is a byte that
// may precede an address, 0 for none.
func (f *Function) Arguments(data []byte, tag byte) (arguments []chains.TypedValue, rest []byte, ok bool) {
	d := decoder{tag: tag}
	values, used := d.tuple(data, f.parameters)
	if d.bad {
		return nil, nil, false
	}
	return publish(values), data[used:], true
}

func publish(values []value) []chains.TypedValue {
	arguments := make([]chains.TypedValue, len(values))
	for i := range values {
		arguments[i] = values[i].argument()
	}
	return arguments
}

func (v *value) argument() chains.TypedValue {
	a := chains.TypedValue{Name: v.name}
	switch v.kind {
	case kindUint, kindInt:
		a.Kind, a.Number = chains.TypedNumber, v.big()
	case kindAddress:
		a.Kind, a.Bytes = chains.TypedAddress, v.word[word-20:]
	case kindBool:
		a.Kind, a.Number = chains.TypedBool, rlp.Big(v.word)
	case kindFixed:
		a.Kind, a.Bytes = chains.TypedFixedBytes, v.fixed()
	case kindBytes:
		a.Kind, a.Bytes = chains.TypedBytes, v.bytes
	case kindString:
		a.Kind, a.Bytes = chains.TypedText, v.bytes
	case kindTuple:
		a.Kind, a.List = chains.TypedStruct, publish(v.list)
	case kindArray:
		a.Kind, a.List = chains.TypedList, publish(v.list)
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
