package policy

import (
	"github.com/countersign-dev/countersign/chains"
)

// readTestReading reads what descriptors say of the call of an effect in a test:
//
//	reading: {function: "swap(uint256)", complete: true, args: {amount: "5"}}
func readTestReading(n node, path string) chains.Reading {
	made := chains.Reading{Path: path}
	n.fields("a reading", map[string]func(node){
		"function": func(n node) { made.Function = n.text("function") },
		"intent":   func(n node) { made.Intent = n.text("intent") },
		"owner":    func(n node) { made.Owner = n.text("owner") },
		"digest":   func(n node) { made.Digest = n.text("digest") },
		"complete": func(n node) { made.Complete = n.boolean("complete") },
		"args": func(n node) {
			for _, one := range n.pairs("args") {
				made.Args = append(made.Args, chains.Arg{Name: one.name, Value: one.text("an argument")})
			}
		},
	})
	if made.Function == "" {
		n.fail("a reading needs a function: without one a call is not read")
	}
	return made
}
