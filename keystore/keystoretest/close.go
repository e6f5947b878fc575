package keystoretest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// concurrentUse finds, lists and signs from several goroutines.
func (s suite) concurrentUse(t *testing.T) {
	store, keys := s.open(t)
	var done sync.WaitGroup
	for worker := range 8 {
		done.Go(func() {
			key := keys[worker%len(keys)]
			for name, locator := range key.locators(t) {
				found, err := store.Find(t.Context(), key.OrganizationID, locator)
				if err != nil {
					t.Errorf("Find by %s: %v", name, err)
					continue
				}
				for scheme, sign := range signatures(keystore.Verified(found)) {
					if _, err := sign(t.Context(), [32]byte{byte(worker)}); err != nil {
						t.Errorf("%s: %v", scheme, err)
					}
				}
			}
			for _, err := range store.Keys(t.Context(), Organization) {
				if err != nil {
					t.Errorf("Keys: %v", err)
				}
			}
		})
	}
	done.Wait()
}

// close closes a keystore twice and then makes every call.
func (s suite) close(t *testing.T) {
	store, keys := s.open(t)
	handles := make([]keystore.Key, len(keys))
	for i, key := range keys {
		handles[i] = find(t, store, key)
	}
	for range 2 {
		if err := store.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	for i, key := range keys {
		for name, locator := range key.locators(t) {
			if _, err := store.Find(t.Context(), key.OrganizationID, locator); !errors.Is(err, keystore.ErrClosed) {
				t.Errorf("Find by %s after Close: %v, want ErrClosed", name, err)
			}
		}
		if handles[i].ID() == "" || handles[i].PublicKey() != key.publicKey(t) {
			t.Errorf("key %s has lost its id or public key after Close", key.ID)
		}
		checkNoSignature(t, handles[i])
	}
	yields := 0
	for _, err := range store.Keys(t.Context(), Organization) {
		yields++
		if !errors.Is(err, keystore.ErrClosed) {
			t.Errorf("Keys after Close: %v, want ErrClosed", err)
		}
	}
	if yields != 1 {
		t.Errorf("Keys after Close yielded %d times, want one error", yields)
	}
}

func checkNoSignature(t *testing.T, key keystore.Key) {
	t.Helper()
	for name, sign := range signatures(key) {
		if signature, err := sign(t.Context(), [32]byte{}); !errors.Is(err, keystore.ErrClosed) {
			t.Errorf("%s after Close: %x, %v, want ErrClosed", name, signature, err)
		}
	}
}

// closeDuringUse closes a keystore while other goroutines sign. Every signature must verify, and
// none may be made after Close has returned.
func (s suite) closeDuringUse(t *testing.T) {
	for range 5 {
		store, keys := s.open(t)
		var closed atomic.Bool
		var running, done sync.WaitGroup
		for _, key := range keys {
			handle := keystore.Verified(find(t, store, key))
			running.Add(1)
			done.Go(func() {
				running.Done()
				signUntilClosed(t, handle, &closed)
			})
		}
		running.Wait()
		time.Sleep(2 * time.Millisecond)
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		closed.Store(true)
		done.Wait()
	}
}

func signUntilClosed(t *testing.T, key keystore.Key, closed *atomic.Bool) {
	for {
		for name, sign := range signatures(key) {
			late := closed.Load()
			_, err := sign(context.Background(), [32]byte{1})
			switch {
			case errors.Is(err, keystore.ErrClosed):
				return
			case err != nil:
				t.Errorf("%s during Close: %v", name, err)
				return
			case late:
				t.Errorf("%s: a signature was made after Close had returned", name)
				return
			}
		}
	}
}
