package policy_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// TestReading looks into what descriptors say of the call whose effect is judged,
// and of no other; a call without a reading has none, which is an error to use.
func TestReading(t *testing.T) {
	call := func(path string) chains.Effect {
		return chains.Effect{Kind: chains.KindCall, By: chains.BySigner, To: party(t, treasury), Undecoded: true, Path: path}
	}
	read := chains.Reading{Path: "call", Function: "swap(uint256)", Complete: true, Args: []chains.Arg{{Name: "amount", Value: "5"}}}
	const swaps = "schema: countersign.policy/1\nrules:\n  - {name: swaps, allow: call, when: \"effect.reading.function == 'swap(uint256)' && effect.reading.complete && effect.reading.arg('amount') == '5'\"}\n"
	for name, test := range map[string]struct {
		effects  []chains.Effect
		readings chains.Readings
		want     string
	}{
		"read":            {[]chains.Effect{call("call")}, chains.Readings{read}, "allowed by swaps"},
		"of another call": {[]chains.Effect{call("call/0")}, chains.Readings{read}, "effect.reading is absent"},
		"none":            {[]chains.Effect{call("call")}, nil, "effect.reading is absent"},
		"not trusted":     {[]chains.Effect{call("call")}, chains.Readings{{Path: "call", Problem: "not trusted"}}, "effect.reading is absent"},
		"one of two":      {[]chains.Effect{call("call"), call("call/1")}, chains.Readings{read}, "effect 1"},
		"no such argument": {[]chains.Effect{call("call")}, chains.Readings{{Path: "call", Function: "swap(uint256)", Complete: true}},
			"effect.reading.arg('amount') is absent"},
	} {
		asked := ask(test.effects...)
		asked.Readings = test.readings
		if got, _ := decide(t, swaps, asked); !strings.Contains(got, test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
