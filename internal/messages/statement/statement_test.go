package statement_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/keystore"
)

// written counts what is written of a message.
type written struct{ effects, fields int }

func (w *written) Fields() []chains.Field { w.fields++; return []chains.Field{chains.Text("a", "1")} }

func (w *written) Effects(signer statement.Signer) []chains.Effect {
	w.effects++
	return signer.Resolve([]chains.Effect{{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner, Path: "message"}}, nil)
}

func (w *written) Hazards(statement.Signer) []chains.Hazard {
	return []chains.Hazard{{Name: "test/hazard"}}
}

// TestWrittenOnce checks that judging and signing a message writes neither its fields nor its
// effects, and that each is written as often as it is asked for.
func TestWrittenOnce(t *testing.T) {
	key := chaintest.Key(t, keystore.CurveSecp256k1, bytes.Repeat([]byte{0x46}, keystore.SecretSize))
	w := new(written)
	message := &statement.Message{By: ethereum.Chain{}, Digest: [32]byte{1}, Content: w}
	signing := chaintest.MustReady(t, message, key.ID(), key)
	if _, err := signing.AppendSigned(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if len(signing.Hazards()) != 1 || len(message.Hazards()) != 1 {
		t.Error("the hazards are wrong")
	}
	if *w != (written{}) {
		t.Errorf("a signature without a policy and a record: %+v were written", *w)
	}
	if effects := signing.Effects(); len(effects) != 1 || effects[0].From.IsSigner() || w.effects != 1 {
		t.Errorf("effects %+v", effects)
	}
	if summary := message.Summary(); len(summary.Fields) != 1 || !summary.Effects[0].From.IsSigner() || *w != (written{2, 1}) {
		t.Errorf("summary %+v", summary)
	}
}
