package solanamsg

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// firstOfText is the smallest first byte of a raw message. The message of a legacy
// transaction begins with the number of its signers, which is below 20; those of other
// versions begin with 0x80 or 0x81.
const firstOfText = 0x20

// IsRawText reports whether raw is text and cannot be anything else.
func IsRawText(raw []byte) bool {
	return len(raw) > 0 && raw[0] >= firstOfText && plaintext.Problem(raw) == ""
}

// ParseRaw reads a text without a header. known are the chains whose transactions it must not
// be. The error is a *chains.ParseError.
func ParseRaw(raw []byte, known ...chains.Chain) (chains.Transaction, error) {
	if !IsRawText(raw) {
		return nil, malformed("message", 0, "neither an off-chain message nor the message of a transaction nor text")
	}
	return statement.Parts{Chain: solana.Chain{}, Bytes: raw, Text: &rawText{raw, personal.ParseSolanaSignIn(raw), known}}.Transaction(), nil
}

// rawText is a text without a header. It implements statement.Text.
type rawText struct {
	raw    []byte
	signIn *personal.SignIn // nil if it is none
	known  []chains.Chain
}

func (t *rawText) Function() string {
	if t.signIn != nil {
		return "sign in"
	}
	return "raw message"
}

func (t *rawText) Args() []chains.Arg { return textArgs(t.raw, t.signIn) }

func (t *rawText) Fields() []chains.Field {
	fields := []chains.Field{chains.Text("kind", "text without a header")}
	if t.signIn != nil {
		fields = append([]chains.Field{chains.Text("kind", "sign in (SIWS)")}, t.signIn.Fields()...)
	}
	return append(fields, chains.Text("message", string(t.raw)))
}

// textArgs returns what a policy sees of a text.
func textArgs(text []byte, signIn *personal.SignIn) []chains.Arg {
	if signIn != nil {
		return signIn.Args()
	}
	return []chains.Arg{{Name: "message", Value: string(text)}}
}

func (t *rawText) Hazards(signer chains.Party) []chains.Hazard {
	hazards := append(personal.TextHazards(t.raw, t.known...), personal.SignInHazards(t.signIn, t.raw, "SIWS", signer)...)
	if t.signIn == nil {
		hazards = append(hazards, chains.Hazard{Name: HazardRawMessage,
			Detail: "the text has no header that separates it from what other programs sign: use an off-chain message"})
	}
	return hazards
}
