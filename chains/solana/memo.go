package solana

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
)

// maxMemoArg is the length of the longest memo that a policy sees, in bytes.
const maxMemoArg = 1024

// memos appends what memos say by a signature over the transaction. Beside a payment a memo is
// a reference, and no message unless it is a sign-in, an order or makes a key: a site that logs
// hardware wallets in by a memo looks at nothing else. A memo alone is a text that is signed,
// as every other one. Transfers to oneself are no payment.
func (t *Transaction) memos(effects []effect) []effect {
	alone := !slices.ContainsFunc(effects, func(e effect) bool { return e.Kind != chains.KindFee && !e.ToItself() })
	for i, in := range t.instructions {
		if programs[[keySize]byte(t.key(t.program(in)))] != memoProgram {
			continue
		}
		text := texts.Read(t.data(in), Name)
		if !alone && text.IsOrdinary() {
			continue
		}
		from := party(t.key(0)) // who pays the fee, unless the memo names who says it
		if given := t.accountsOf(in, nil); len(given) > 0 {
			from = given[0].party()
		}
		effects = append(effects, effect{text: text, Effect: chains.Effect{Kind: chains.KindMessage, By: chains.BySigner, From: from,
			Function: "memo", Args: text.Args(maxMemoArg), Domain: text.Domain(), Path: instructionPaths[i]}})
	}
	return effects
}
