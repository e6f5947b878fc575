package software

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// patience is a context that ends after its error was read a number of times.
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

// TestTaprootCancelled: the first look-up by taproot computes the locators of all keys. If it is
// cancelled, it returns the context's error rather than ErrKeyNotFound, and the next look-up
// continues there.
func TestTaprootCancelled(t *testing.T) {
	var index Index
	defer index.Close()
	var last *Key
	for i := range 5 {
		key, err := New(keystore.KeyInfo{ID: fmt.Sprint(i)}, keystore.CurveSecp256k1, testenv.Hex(t, fmt.Sprintf("%064x", i+1)))
		testenv.Must(t, err)
		if _, err := index.Insert("org", key); err != nil {
			t.Fatal(err)
		}
		last = key
	}
	at, err := keystore.TaprootLocator(last.Info().PublicKey)
	testenv.Must(t, err)
	const before = 1 // the context is checked once at the beginning, then for each key
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
