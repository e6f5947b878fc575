package solanamsg

import (
	"github.com/countersign-dev/countersign/chains"
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

func parseRaw(raw []byte, chain chains.MessageSigner) chains.Transaction {
	text := &statement.Text{Text: texts.Read(raw, texts.SIWS), Name: "raw message", Kind: "text without a header",
		MaxArg: len(raw), Unknown: chains.Hazard{Name: HazardRawMessage,
			Detail: "the text has no header that separates it from what other programs sign: use an off-chain message"}}
	if text.IsSignIn() {
		text.Kind = "sign in (SIWS)"
	}
	return &statement.Message{By: chain, Bytes: raw, Content: text}
}
