package statement_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/internal/texts"
	"github.com/countersign-dev/countersign/keystore"
)

// written counts what is written of a message.
type written struct{ args, fields, hazards int }

func (w *written) Args() []chains.Arg { w.args++; return []chains.Arg{{Name: "a", Value: "1"}} }

func (w *written) Fields() []chains.Field { w.fields++; return []chains.Field{chains.Text("a", "1")} }

func (w *written) Hazards(chains.Party) []chains.Hazard {
	w.hazards++
	return []chains.Hazard{{Name: "test/hazard"}}
}

func (w *written) effects(args []chains.Arg) []chains.Effect {
	return []chains.Effect{{Kind: chains.KindMessage, From: chains.SignerParty(), By: chains.BySigner, Function: "test", Args: args, Path: "message"}}
}

// TestWrittenOnce checks that judging and signing a message writes neither its fields nor an
// argument, and that arguments are written once, however often somebody asks for the effects.
func TestWrittenOnce(t *testing.T) {
	key := chaintest.Key(t, keystore.CurveSecp256k1, bytes.Repeat([]byte{0x46}, keystore.SecretSize))
	for name, parts := range map[string]func(w *written) statement.Parts{
		"a text": func(w *written) statement.Parts {
			return statement.Parts{Text: &statement.Text{Text: texts.Read([]byte("hello"), texts.EIP4361), Name: "test", More: func() ([]chains.Field, []chains.Arg) {
				return w.Fields(), w.Args()
			}}}
		},
		"another message": func(w *written) statement.Parts {
			return statement.Parts{Fields: w.Fields, Effects: w.effects(nil), Whole: func() []chains.Effect { return w.effects(w.Args()) },
				Hazards: func(_ []chains.Effect, signer chains.Party) []chains.Hazard { return w.Hazards(signer) }}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := new(written)
			of := parts(w)
			of.Chain, of.Digest = ethereum.Chain{}, [32]byte{1}
			message := of.Transaction()
			signing, err := chaintest.Ready(message, key.ID(), key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := signing.AppendSigned(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if len(signing.Hazards()) != 1 || len(message.Hazards()) != 1 || message.EffectCount() != 1 || message.ChainName() != ethereum.Name {
				t.Error("the hazards or the outline are wrong")
			}
			if w.args != 0 || w.fields != 0 {
				t.Errorf("a signature that nobody reads about: %+v were written", *w)
			}
			for range 3 {
				if effects := signing.Effects(); len(effects) != 1 || effects[0].Function != "test" || len(effects[0].Args) != 1 || effects[0].From.IsSigner() {
					t.Errorf("effects %+v", effects)
				}
			}
			if summary := message.Summary(); len(summary.Fields) == 0 || len(summary.Effects) != 1 || !summary.Effects[0].From.IsSigner() {
				t.Errorf("summary %+v", summary)
			}
			if w.args > 2 || w.fields > 2 {
				t.Errorf("arguments were written %d times, fields %d times", w.args, w.fields)
			}
		})
	}
}
