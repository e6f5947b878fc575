package software

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
)

// patience is a context that ends when it was asked so many times.
type patience struct {
	context.Context
	left int
}

func (p *patience) Err() error {
	if p.left == 0 {
		return context.Canceled
	}
	p.left--
	return nil
}

// TestTaprootGivenUp: the first search by taproot works through all keys. Who
// gives up on the way is told so, not that there is no such key; the next goes
// on from there.
func TestTaprootGivenUp(t *testing.T) {
	var index Index
	defer index.Close()
	var last *Key
	for i := range 5 {
		key, err := New(keystore.KeyInfo{ID: fmt.Sprint(i)}, keystore.CurveSecp256k1, unhex(t, fmt.Sprintf("%064x", i+1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := index.Insert("org", key); err != nil {
			t.Fatal(err)
		}
		last = key
	}
	at, err := keystore.TaprootLocator(last.Info().PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	const before = 1 // it is asked once when the search begins, then for each key
	for _, indexed := range []int{2, 2} {
		key, err := index.Key(&patience{t.Context(), before + indexed}, "org", at)
		if !errors.Is(err, context.Canceled) || key != nil {
			t.Errorf("given up after %d keys: %v, %v", indexed, key, err)
		}
	}
	if done := index.organizations["org"].taproot.done; done != 4 {
		t.Errorf("%d keys were worked through, want 2 twice", done)
	}
	if key, err := index.Key(&patience{t.Context(), before + 1}, "org", at); err != nil || key != last {
		t.Errorf("going on: %v, %v", key, err)
	}
}
