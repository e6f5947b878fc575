package file

import (
	"context"
	"crypto/hkdf"
	"crypto/sha256"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// KeyFileReader opens a keystore and returns a function that reads a key file of it.
func KeyFileReader(t testing.TB, dir string, passphrase []byte) func(content []byte) error {
	t.Helper()
	store, err := Open(t.Context(), dir, passphrase, Options{SkipInvalid: true})
	testenv.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return func(content []byte) error {
		opened, err := store.sealer.open(content)
		opened.destroy()
		return err
	}
}

// SealFor seals a key for a recipient instead of the keystore's identity.
func SealFor(t testing.TB, dir string, passphrase []byte, recipient age.Recipient, info keystore.KeyInfo, secret []byte) error {
	t.Helper()
	store, err := Open(t.Context(), dir, passphrase, Options{})
	testenv.Must(t, err)
	defer store.Close()
	store.sealer.recipients = []age.Recipient{recipient}
	info.PublicKey = keystore.PublicKey{}
	key, err := software.New(info, keystore.CurveSecp256k1, secret)
	testenv.Must(t, err)
	defer key.Destroy()
	_, err = store.sealer.seal(newMetadata("org", key.Info()), key)
	return err
}

// Seal returns a file with the keystore's MAC and arbitrary content.
func Seal(t testing.TB, dir string, passphrase []byte, wallet bool, metadata, text string) []byte {
	t.Helper()
	store, err := Open(t.Context(), dir, passphrase, Options{SkipInvalid: true})
	testenv.Must(t, err)
	defer store.Close()
	kind := kindKey
	if wallet {
		kind = kindWallet
	}
	content, err := store.sealer.encrypt(kind, []byte(metadata), []byte(text))
	testenv.Must(t, err)
	return content
}

// SealPayload returns the payload of an age file under a file key: a 16-byte nonce and one
// STREAM chunk.
func SealPayload(t testing.TB, fileKey []byte, text string) []byte {
	t.Helper()
	nonce := make([]byte, 16)
	key, err := hkdf.Key(sha256.New, fileKey, nonce, "payload", chacha20poly1305.KeySize)
	testenv.Must(t, err)
	aead, err := chacha20poly1305.New(key)
	testenv.Must(t, err)
	last := make([]byte, chacha20poly1305.NonceSize)
	last[len(last)-1] = 1
	return aead.Seal(nonce, last, []byte(text), nil)
}

// Limits that tests use.
const (
	MaxRecovery  = maxRecovery
	MaxNameSize  = maxNameSize
	ProgressStep = progressStep
)

// Dir returns the directory, as passed to Create or Open.
func (s *Store) Dir() string { return s.dir }

// Settled reports whether the directory is known not to have changed.
func (s *Store) Settled() bool { return s.settled.Load() != 0 }

// Lock locks a keystore as a writer does.
func Lock(t testing.TB, dir string) (unlock func()) {
	t.Helper()
	root, err := osDisk{}.OpenDirectory(dir)
	testenv.Must(t, err)
	release, _, err := lock(context.Background(), root, 0)
	testenv.Must(t, err)
	return func() { release(); _ = root.Close() }
}
