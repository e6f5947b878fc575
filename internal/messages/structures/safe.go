package structures

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/messages/personal"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// messagesOfSafes are messages in the name of a Safe, often hashes.
var messagesOfSafes = []structure{{"SafeMessage(bytes message)", safeMessage}}

// safeMessage adds that the Safe signs a text, if the message is one. What it may be used for is
// judged as that of any other text.
func safeMessage(r *reading) {
	message := r.field("message").Bytes
	if len(message) == 0 || r.domain.contract == nil || plaintext.Problem(message) != "" {
		r.undecodedSafe(message)
		return
	}
	index := r.add(chains.Effect{Kind: chains.KindMessage, From: r.network.Party(*r.domain.contract), Path: "message"})
	for _, hazard := range judgeText(message) {
		r.hazards = append(r.hazards, hazard.OnEffect(index))
	}
}

func (r *reading) undecodedSafe(message []byte) {
	if index := r.undecoded(); len(message) == 32 {
		r.danger(HazardHiddenContents, index, "the Safe's message is 32 bytes, like a hash whose preimage is unknown")
	}
}

// judgeText returns the hazards that a text in typed data has, as one has in any other message.
func judgeText(text []byte) []chains.Hazard {
	return personal.TextHazards(text, ethereum.Chain{}, tron.Chain{})
}
