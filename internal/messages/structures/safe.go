package structures

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/internal/texts"
)

// messagesOfSafes are messages in the name of a Safe, often hashes.
var messagesOfSafes = []structure{{"SafeMessage(bytes message)", nil, safeMessage}}

// safeMessage adds that the Safe signs a text, if the message is one. What it may be used for is
// judged as that of any other text.
func safeMessage(r *reading) {
	message := r.field("message").Bytes
	if len(message) == 0 || r.domain.contract == nil || plaintext.Problem(message) != "" {
		if index := r.undecoded(); len(message) == 32 {
			r.danger(HazardHiddenContents, index,
				"the Safe's message is 32 bytes, like a hash whose preimage is unknown")
		}
		return
	}
	safe, text := r.network.Party(*r.domain.contract), texts.Read(message, texts.EIP4361)
	index := r.add(chains.Effect{Kind: chains.KindMessage, From: safe, Domain: text.Domain()})
	r.hazards = append(r.hazards, text.Hazards(safe, index)...)
}
