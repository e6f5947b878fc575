package statement

import (
	"cmp"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/texts"
)

// Text is the content of a message that is a text, in one of its carriers. It has one effect, a
// message of the signer's.
type Text struct {
	*texts.Text
	Name   string // such as "personal message"; a sign-in is called one
	Kind   string // how it is shown; empty: by its name
	MaxArg int    // the length of the longest text that a policy sees, in bytes

	// More is what the carrier says besides the text, and what a policy sees of that.
	More     []chains.Field
	MoreArgs []chains.Arg

	// Unknown is a hazard of the carrier's if the text is not known. It may have no name.
	Unknown chains.Hazard
}

// The path of a text's effect, and its index: it is the only one.
const (
	textPath   = "message"
	textEffect = 0
)

func (t *Text) name() string {
	if t.IsSignIn() {
		return "sign in"
	}
	return t.Name
}

func (t *Text) Fields() []chains.Field {
	kind := cmp.Or(t.Kind, t.name())
	return append([]chains.Field{chains.Text("kind", kind)}, t.Text.Fields(t.More...)...)
}

func (t *Text) Effects(signer Signer) []chains.Effect {
	return signer.Resolve([]chains.Effect{{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner,
		Domain: t.Domain(), Function: t.name(), Args: append(t.Args(t.MaxArg), t.MoreArgs...), Path: textPath}}, nil)
}

// Hazards implements Content. They do not depend on the effect.
func (t *Text) Hazards(signer Signer) []chains.Hazard {
	hazards := t.Text.Hazards(signer.Party, textEffect)
	if last := len(hazards) - 1; t.Unknown.Name != "" && last >= 0 && hazards[last].Name == texts.HazardFreeText {
		hazards = append(hazards, t.Unknown.OnEffect(textEffect))
	}
	return hazards
}

// Calls implements chains.Caller: the text, for a reader to know.
func (t *Text) Calls() []chains.Call {
	return []chains.Call{{Path: textPath, From: chains.SignerParty(), Text: t.String()}}
}
