package remote_test

import (
	"context"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

// keeper is a service that reports when Keep begins and when it has ended.
type keeper struct {
	fake
	began, ended chan struct{} // buffered
}

func newKeeper() keeper {
	return keeper{fake{remotetest.NewKeys(), remotetest.DER}, make(chan struct{}, 8), make(chan struct{}, 8)}
}

func (k keeper) Keep(ctx context.Context) {
	k.began <- struct{}{}
	<-ctx.Done()
	k.ended <- struct{}{}
}

// TestKeep: a service is kept from when a store has a key of it, once, until Close returns. A lazy
// store keeps none.
func TestKeep(t *testing.T) {
	kept, later := newKeeper(), newKeeper()
	pins := []remote.Pin{}
	for _, name := range []string{"a", "b"} {
		kept.keys.Generate(name, remote.Secp256k1)
		pins = append(pins, pinOf(kept.keys, name))
	}
	later.keys.Generate("c", remote.Ed25519)
	added := pinOf(later.keys, "c")
	added.URI = "later:c"
	services := remote.Services{"fake": kept, "later": later}

	lazy, err := remote.Open(t.Context(), services, pins, remote.Options{Lazy: true})
	testenv.Must(t, err)
	testenv.Must(t, lazy.Close())
	changed := false
	store, err := remote.Open(t.Context(), services, pins, remote.Options{Follow: func() ([]remote.Pin, bool, error) {
		return append(pins, added), changed, nil
	}})
	testenv.Must(t, err)
	<-kept.began
	changed = true
	if _, err := store.Pins(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-later.began
	testenv.Must(t, store.Close())
	for name, service := range map[string]keeper{"fake": kept, "later": later} {
		if began, ended := len(service.began), len(service.ended); began != 0 || ended != 1 {
			t.Errorf("%s: Keep was called %d times more, and has ended %d times when Close returns", name, began, ended)
		}
	}
	if _, err := store.Pins(t.Context()); err == nil || len(kept.began) > 0 {
		t.Errorf("after Close: %v", err)
	}
}

// TestKeepProof: an app-proof key keeps its service too.
func TestKeepProof(t *testing.T) {
	kept := newKeeper()
	kept.keys.Generate("proof", remote.P256)
	signer, err := remote.OpenProofSigner(t.Context(), remote.Services{"fake": kept}, "fake:proof")
	testenv.Must(t, err)
	<-kept.began
	if err := signer.Close(); err != nil || len(kept.ended) != 1 {
		t.Errorf("%v; Keep has ended %d times", err, len(kept.ended))
	}
}
