package solanamsg

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/texts"
)

// firstOfText is the smallest first byte of a raw message. The message of a legacy
// transaction begins with the number of its signers, which is below 20; those of other
// versions begin with 0x80 or 0x81.
const firstOfText = 0x20

// IsRawText reports whether raw is text and cannot be anything else.
func IsRawText(raw []byte) bool {
	return len(raw) > 0 && raw[0] >= firstOfText && plaintext.Problem(raw) == ""
}

// ParseRaw reads a text without a header. The error is a *chains.ParseError.
func ParseRaw(raw []byte) (chains.Transaction, error) {
	if !IsRawText(raw) {
		return nil, malformed("message", 0, "neither an off-chain message nor the message of a transaction nor text")
	}
	text := &statement.Text{Text: texts.Read(raw, texts.SIWS), Name: "raw message", Kind: "text without a header", MaxArg: len(raw),
		Unknown: chains.Hazard{Name: HazardRawMessage,
			Detail: "the text has no header that separates it from what other programs sign: use an off-chain message"}}
	if text.IsSignIn() {
		text.Kind = "sign in (SIWS)"
	}
	return statement.Parts{Chain: solana.Chain{}, Bytes: raw, Text: text}.Transaction(), nil
}
