package interop

import (
	"context"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/testkit/tempomodel"
	"github.com/countersign-dev/countersign/keystore"
)

// tempoAccessKey is a key that signs for another account.
type tempoAccessKey struct {
	keystore.Key
	root common.Address
}

func (k tempoAccessKey) ActsFor() []byte { return k.root[:] }

func (k tempoAccessKey) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	return k.Key.(keystore.ECDSASigner).SignECDSA(ctx, digest)
}

// TestTempoRoles compares the fee payer's countersignature, over both forms in which ox
// passes it a transaction, and an access key's signature for its account with those of ox
// and viem, for all kinds of transactions.
func TestTempoRoles(t *testing.T) {
	const count = 240
	random := rand.New(rand.NewPCG(26, 27))
	root, payer := common.Address{0xaa, 1}, crypto.Keccak256([]byte("the fee payer"))
	payerKey := chaintest.Key(t, keystore.CurveSecp256k1, payer)
	for i := range count {
		c := tempomodel.Generate(random, i)
		c.Tx.FeePayer = []byte{0x80}
		answer := askTempo(t, map[string]any{"privateKey": hexutil.Encode(crypto.FromECDSA(c.Key)), "tx": tempoFields(c.Tx), "payer": hexutil.Encode(payer), "root": root.Hex()})
		for _, given := range []string{answer.ToPayer, answer.ForPayer} {
			// With a placeholder ox leaves out the fee token, which the payer commits to.
			if given == answer.ToPayer && len(c.Tx.FeeToken) > 0 {
				continue
			}
			if got := signTempoRole(t, given, payerKey); got != answer.Countersigned {
				t.Errorf("given %s\nox   %s\nours %s", given, answer.Countersigned, got)
			}
		}
		if c.Tx.Key != nil || len(c.Tx.Calls[0].To) == 0 {
			continue // an access key neither creates contracts nor authorizes other keys
		}
		key := tempoAccessKey{chaintest.Key(t, keystore.CurveSecp256k1, crypto.FromECDSA(c.Key)), root}
		if got := signTempoRole(t, answer.Unsigned, key); got != answer.AccessKey || got != answer.AccessKeyViem {
			t.Errorf("access key\nox   %s\nviem %s\nours %s", answer.AccessKey, answer.AccessKeyViem, got)
		}
	}
}

// TestTempoSenderForms checks that the fee payer countersigns every form of a sender's
// signature that ox builds to ox's bytes, or refuses a form that no network accepts.
func TestTempoSenderForms(t *testing.T) {
	payer := crypto.Keccak256([]byte("the fee payer"))
	key := chaintest.Key(t, keystore.CurveSecp256k1, payer)
	random := rand.New(rand.NewPCG(28, 29))
	for i := range tempomodel.Kinds {
		c := tempomodel.Generate(random, i)
		c.Tx.FeePayer, c.Tx.FeeToken = []byte{0x80}, nil // ox leaves the token out of one of the forms
		answer := askTempo(t, map[string]any{"privateKey": hexutil.Encode(crypto.FromECDSA(c.Key)), "tx": tempoFields(c.Tx),
			"senders": true, "payer": hexutil.Encode(payer), "root": common.Address{0xaa, 1}.Hex()})
		if want := []string{"secp256k1", "p256", "webAuthn"}; !slices.Equal(answer.Types, want) || len(answer.Forms) != 14 {
			t.Fatalf("ox has keys of %q and %d forms: a form is missing here", answer.Types, len(answer.Forms))
		}
		for _, form := range answer.Forms {
			want := ""
			switch {
			case strings.HasPrefix(form.Name, "keychain v1"):
				want = "is of keychain version 1 (03)"
			case strings.HasSuffix(form.Name, "configurable"):
				want = "is of a configurable account (05)"
			}
			for _, given := range []string{form.ToPayer, form.ForPayer} {
				signed, err := chaintest.Sign(t.Context(), tempo.Chain{}, hexutil.MustDecode(given), key.ID(), key)
				switch {
				case want != "":
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %v, want %q", form.Name, err, want)
					}
				case err != nil:
					t.Errorf("%s: %v", form.Name, err)
				case hexutil.Encode(signed) != form.Countersigned:
					t.Errorf("%s, given %s\nox   %s\nours %x", form.Name, given, form.Countersigned, signed)
				}
			}
		}
	}
}

func signTempoRole(t *testing.T, raw string, key keystore.Key) string {
	t.Helper()
	signed, err := chaintest.Sign(t.Context(), tempo.Chain{}, hexutil.MustDecode(raw), key.ID(), key)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return "0x" + hex.EncodeToString(signed)
}
