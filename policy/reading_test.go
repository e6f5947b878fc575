package policy_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/policy"
)

// TestReading: a condition sees the descriptors' reading of the call whose effect it
// judges, and of no other call. Using the reading of a call without one is an error.
func TestReading(t *testing.T) {
	call := func(path string) chains.Effect {
		return chains.Effect{Kind: chains.KindCall, By: chains.BySigner, To: party(t, treasury), Undecoded: true, Path: path}
	}
	read := chains.Reading{Path: "call", Function: "swap(uint256)", Complete: true, Args: []chains.Arg{{Name: "amount", Value: "5"}}}
	const swaps = "schema: countersign.policy/2\nrules:\n  - {name: swaps, allow: call, when: \"effect.reading.function == 'swap(uint256)' && effect.reading.complete && effect.reading.arg('amount') == '5'\"}\n"
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

// TestReadingInTests: a file's own tests can give an effect a reading.
func TestReadingInTests(t *testing.T) {
	const swaps = "schema: countersign.policy/2\nrules:\n  - {name: swaps, allow: call, when: \"effect.reading.function == 'swap(uint256)' && effect.reading.complete && effect.reading.arg('amount') == '5'\"}\ntests:\n"
	for reading, want := range map[string]string{
		"{function: 'swap(uint256)', complete: true, args: {amount: '5'}}":  "allow",
		"{function: 'swap(uint256)', complete: false, args: {amount: '5'}}": "deny",
		"{function: 'swap(uint256)', complete: true, args: {amount: '6'}}":  "deny",
		"{function: 'swap(uint256)', complete: true}":                       "deny",
	} {
		effect := "{kind: call, to: \"" + treasury + "\", undecoded: true, reading: " + reading + "}"
		load(t, swaps+"  - {effects: ["+effect+"], expect: "+want+"}\n")
		load(t, swaps+"  - {effects: [{kind: call, undecoded: true}, "+effect+"], expect: deny}\n")
	}
	_, err := policy.Parse("p.yaml", []byte(swaps+"  - {effects: [{kind: call, reading: {intent: swap}}], expect: deny}\n"), options())
	if err == nil || !strings.Contains(err.Error(), "a reading needs a function") {
		t.Error(err)
	}
}
