package keystore_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"

	"github.com/countersign-dev/countersign/keystore"
)

// peek returns the very bytes of a secret, which is allowed only in tests.
func peek(t *testing.T, secret keystore.Secret) (revealed []byte) {
	t.Helper()
	testenv.Must(t, secret.Reveal(func(bytes []byte) error { revealed = bytes; return nil }))
	return revealed
}

func TestSecretHoldsACopy(t *testing.T) {
	given := []byte("a secret of some bytes")
	secret := keystore.NewSecret(given)
	defer secret.Destroy()
	clear(given)
	if revealed := peek(t, secret); string(revealed) != "a secret of some bytes" {
		t.Errorf("revealed %q", revealed)
	}
}

func TestSecretReveal(t *testing.T) {
	secret := keystore.NewSecret([]byte("x"))
	defer secret.Destroy()
	own := errors.New("own")
	if err := secret.Reveal(func([]byte) error { return own }); err != own {
		t.Errorf("Reveal returned %v, want the error of use", err)
	}
}

func TestSecretDestroy(t *testing.T) {
	secret := keystore.NewSecret([]byte("to be forgotten"))
	copied := secret
	revealed := peek(t, secret)
	copied.Destroy()
	if !bytes.Equal(revealed, make([]byte, len(revealed))) {
		t.Errorf("after Destroy: %q", revealed)
	}
	for range 2 {
		secret.Destroy()
		if err := secret.Reveal(func([]byte) error { t.Error("called"); return nil }); !errors.Is(err, keystore.ErrClosed) {
			t.Errorf("Reveal after Destroy: %v, want ErrClosed", err)
		}
	}
}

// TestSecretDestroyWaits destroys a secret in use, which stays intact until its use ends.
func TestSecretDestroyWaits(t *testing.T) {
	secret := keystore.NewSecret([]byte("in use"))
	using, destroyed := make(chan struct{}), make(chan struct{})
	go func() {
		<-using
		secret.Destroy()
		close(destroyed)
	}()
	err := secret.Reveal(func(revealed []byte) error {
		close(using)
		time.Sleep(20 * time.Millisecond)
		select {
		case <-destroyed:
			t.Error("destroyed while in use")
		default:
		}
		if string(revealed) != "in use" {
			t.Errorf("in use it is %q", revealed)
		}
		return nil
	})
	testenv.Must(t, err)
	<-destroyed
}

func TestZeroSecret(t *testing.T) {
	var zero keystore.Secret
	zero.Destroy()
	if err := zero.Reveal(func([]byte) error { t.Error("called"); return nil }); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("Reveal: %v, want ErrClosed", err)
	}
	if zero.Equal(zero) || zero.Equal(keystore.NewSecret(nil)) || keystore.NewSecret(nil).Equal(zero) {
		t.Error("the zero Secret equals something")
	}
	if zero.String() != "[redacted]" {
		t.Errorf("prints %s", zero)
	}
}

func TestSecretEqual(t *testing.T) {
	a, same, other := keystore.NewSecret([]byte("abc")), keystore.NewSecret([]byte("abc")), keystore.NewSecret([]byte("abd"))
	longer, empty := keystore.NewSecret([]byte("abcd")), keystore.NewSecret(nil)
	if !a.Equal(same) || !same.Equal(a) || !a.Equal(a) || !empty.Equal(keystore.NewSecret([]byte{})) {
		t.Error("equal secrets are not equal")
	}
	for _, b := range []keystore.Secret{other, longer, empty} {
		if a.Equal(b) || b.Equal(a) {
			t.Error("unequal secrets are equal")
		}
	}
	same.Destroy()
	if a.Equal(same) || same.Equal(a) || same.Equal(same) {
		t.Error("a destroyed secret equals something")
	}
}

// TestSecretEqualWhileDestroyed compares two secrets both ways while both are destroyed, which
// must not deadlock.
func TestSecretEqualWhileDestroyed(t *testing.T) {
	for range 500 {
		a, b := keystore.NewSecret([]byte("a")), keystore.NewSecret([]byte("b"))
		var done sync.WaitGroup
		done.Go(func() { a.Equal(b) })
		done.Go(func() { b.Equal(a) })
		done.Go(a.Destroy)
		done.Go(b.Destroy)
		done.Wait()
	}
}

func TestWipe(t *testing.T) {
	secret := []byte("secret")
	keystore.Wipe(secret)
	if !bytes.Equal(secret, make([]byte, 6)) {
		t.Errorf("left %q", secret)
	}
}
