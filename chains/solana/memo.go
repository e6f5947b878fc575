package solana

import (
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
)

// addMemos appends what memos say by a signature over the transaction. A memo is a reference to a
// payment, which cannot pass for a signature over another message, and so is no message. But
// sites log hardware wallets in by the memo of a transaction and look at nothing else: one that
// is a sign-in, has the form of an order or makes a key is a message, and judged as one. So is any
// memo of a transaction that does nothing which it could refer to.
func (t *accountTable) addMemos(effects []effect) []effect {
	refers := slices.ContainsFunc(effects, func(e effect) bool {
		return e.Kind != chains.KindFee && e.Kind != chains.KindSettings
	})
	for i, in := range t.instructions {
		if programs[[keySize]byte(t.key(t.program(in)))] != memoProgram {
			continue
		}
		text := texts.Read(t.data(in), texts.SIWS)
		if refers && text.IsOrdinary() {
			continue
		}
		from := party(t.key(0)) // who pays the fee, unless the memo names who says it
		if given := t.accountsOf(in, nil); len(given) > 0 {
			from = given[0].party()
		}
		effects = append(effects, effect{text: text,
			Effect: chains.Effect{Kind: chains.KindMessage, By: chains.BySigner, From: from,
				Function: "memo", Args: text.Args(len(t.data(in))), Domain: text.Domain(), Path: instructionPaths[i]}})
	}
	return effects
}
