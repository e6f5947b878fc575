package solana

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// signing is a transaction and the keys that sign it now.
type signing struct {
	t     *Transaction
	hands []hand
	slots []int // of the hands
}

// KeyIDs implements chains.Signing.
func (s *signing) KeyIDs() (ids []string) {
	for _, hand := range s.hands {
		ids = append(ids, hand.id)
	}
	return ids
}

// SignerView implements chains.Signing: what each key is in this transaction.
func (s *signing) SignerView() (fields []chains.Field) {
	for _, slot := range s.slots {
		role := fmt.Sprintf("signer %d, %s", slot, s.t.slotState(slot))
		if slot == 0 {
			role += ", pays the fee"
		}
		fields = append(fields, chains.AddressField("ours", encode58(s.t.key(slot))).WithNote(role))
		if used := s.t.instructionsWith(slot); len(used) > 0 {
			fields = append(fields, chains.Text("your account is in", strings.Join(used, ", ")))
		}
	}
	return fields
}

// Effects implements chains.Signing. What another signer authorizes is by that
// one, whether or not its signature is there yet.
func (s *signing) Effects() []chains.Effect { return s.t.effectsFor(s.slots) }

// Hazards implements chains.Signing.
func (s *signing) Hazards() []chains.Hazard {
	return append(s.t.messageHazards(), s.t.hazardsFor(s.t.effects(), s.slots)...)
}

// AppendSigned implements chains.Signing. It signs the message bytes as they came
// and fills the slots of its keys; every other byte is that of the raw transaction.
func (s *signing) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	start := len(dst)
	dst = append(dst, s.t.raw...)
	for _, hand := range s.hands {
		signature, err := hand.signer.SignEd25519(ctx, s.t.Message())
		if err != nil {
			return nil, err
		}
		copy(dst[start+s.t.signatureAt(hand.slot):], signature[:])
	}
	return dst, nil
}

// AppendSignature implements chains.SignatureAppender.
func (s *signing) AppendSignature(ctx context.Context, dst []byte) ([]byte, error) {
	if len(s.hands) != 1 {
		return nil, notSigner("%d keys would sign: name one by its address or id", len(s.hands))
	}
	signature, err := s.hands[0].signer.SignEd25519(ctx, s.t.Message())
	if err != nil {
		return nil, err
	}
	return append(dst, signature[:]...), nil
}
