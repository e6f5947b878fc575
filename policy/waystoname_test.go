package policy_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/wallettest"
	"github.com/countersign-dev/countersign/keystore"
)

// recorder records what a policy is asked, and allows it.
type recorder struct{ last access.Authorization }

func (a *recorder) Authorize(_ context.Context, authorization access.Authorization) error {
	a.last = authorization
	return nil
}

// questionOf is what a decision depends on, other than the words of the request.
func questionOf(t *testing.T, a *access.Authorization) string {
	t.Helper()
	for i := range a.Keys {
		a.Keys[i].Addresses = nil
	}
	text, err := json.Marshal(struct {
		Hazards, Effects, Keys, Wallet any
		Mixed                          bool
	}{a.Hazards, a.Effects, a.Keys, a.Wallet, a.MixedWallets})
	testenv.Must(t, err)
	return string(text)
}

// TestWaysToName: on every chain, a transaction is judged in the same way however its key is named,
// by its id, an address, or its wallet, and however its bytes are written. A way that is refused
// allows nothing.
func TestWaysToName(t *testing.T) {
	policy := &recorder{}
	f := enginetest.New(t, wallettest.With(t, map[string]string{"key-1": "m/84'/0'/0'/0/0", "key-2": "m/44'/501'/0'/0'"}),
		func(c *countersign.Config) { c.Policy = policy })
	sign := func(intent activity.SignTransactionIntent) (string, error) {
		_, err := f.Engine.As(access.User{ID: "u-1"}, "").SignTransaction(t.Context(), enginetest.Organization, intent)
		return questionOf(t, &policy.last), err
	}
	same := map[activity.TransactionType]int{}
	for name, intent := range newOrdinaryDraw(t, f, rand.New(rand.NewPCG(53, 14))).all() {
		want, err := sign(intent)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		raw, ways := intent.UnsignedTransaction, waysToName(t, f, intent.SignWith)
		for _, text := range []string{raw, "0x" + raw, strings.ToUpper(raw)} {
			for _, signWith := range ways {
				intent.UnsignedTransaction, intent.SignWith = text, signWith
				got, err := sign(intent)
				switch {
				case err != nil:
				case got != want:
					t.Errorf("%s, signed with %s: judged as\n%s\nand by the id of the key as\n%s", name, signWith, got, want)
				default:
					same[intent.Type]++
				}
			}
		}
	}
	for kind, n := range same {
		if n < 12 {
			t.Errorf("%s: %d: the test shows nothing", kind, n)
		}
	}
	if len(same) != 4 {
		t.Errorf("%v", same)
	}
}

// waysToName returns the ids, addresses and wallets that stand for a key.
func waysToName(t *testing.T, f *enginetest.Fixture, id string) []string {
	t.Helper()
	key, err := f.Signing.Find(t.Context(), enginetest.Organization, keystore.ByID(id))
	testenv.Must(t, err)
	ways := []string{id, wallettest.ID, "hot"}
	for _, chain := range f.Config.Chains {
		for _, address := range chain.Addresses(key.PublicKey()) {
			ways = append(ways, address.Address, strings.ToLower(address.Address), strings.ToUpper(address.Address))
		}
	}
	return ways
}
