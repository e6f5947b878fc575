//go:build !cgo

package pkcs11

import (
	"context"
	"crypto"
	"errors"
	"io"
	"iter"

	"github.com/countersign-dev/countersign/keystore"
)

// errNoCgo is the error of all functions in a program built without cgo.
var errNoCgo = errors.New("pkcs11: this program was built without cgo, and a PKCS#11 module is a C library: build " +
	"it with CGO_ENABLED=1 and a C compiler, or keep the keys in a directory (file:DIR)")

// Store is not available in a program built without cgo: Open returns an error.
type Store struct{}

var _ keystore.Keystore = (*Store)(nil)

// Open returns an error that says how to build a program with PKCS#11.
func Open(_ context.Context, uri string, _ Options) (*Store, error) {
	_, err := Check(uri)
	return nil, err
}

// Find returns an error, like Open.
func (*Store) Find(context.Context, string, keystore.Locator) (keystore.Key, error) {
	return nil, errNoCgo
}

// Keys yields an error, like Open.
func (*Store) Keys(context.Context, string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) { yield(keystore.KeyInfo{}, errNoCgo) }
}

// Generate returns an error, like Open.
func (*Store) Generate(context.Context, string, string, keystore.Curve) (keystore.KeyInfo, error) {
	return keystore.KeyInfo{}, errNoCgo
}

// Add returns an error, like Open.
func (*Store) Add(context.Context, string, keystore.NewKey) (keystore.KeyInfo, error) {
	return keystore.KeyInfo{}, errNoCgo
}

// Rename returns an error, like Open.
func (*Store) Rename(context.Context, string, string, string) error { return errNoCgo }

// Skipped returns nothing.
func (*Store) Skipped() []error { return nil }

// SignsSchnorr returns false.
func (*Store) SignsSchnorr() bool { return false }

// AddBatch returns an error for each key, like Open.
func (*Store) AddBatch(_ context.Context, _ string, keys []keystore.NewKey) ([]keystore.KeyInfo, []error) {
	errs := make([]error, len(keys))
	for i := range errs {
		errs[i] = errNoCgo
	}
	return make([]keystore.KeyInfo, len(keys)), errs
}

// Extractable returns nothing.
func (*Store) Extractable() []error { return nil }

// Ready returns an error, like Open.
func (*Store) Ready(context.Context) error { return errNoCgo }

// Delete returns an error, like Open.
func (*Store) Delete(context.Context, string, string) error { return errNoCgo }

// Close does nothing.
func (*Store) Close() error { return nil }

// ProofSigner is not available in a program built without cgo: OpenProofSigner returns an
// error.
type ProofSigner struct{}

var _ crypto.Signer = (*ProofSigner)(nil)

// OpenProofSigner returns an error, like Open.
func OpenProofSigner(_ context.Context, uri string, _ Options) (*ProofSigner, error) {
	_, err := Check(uri)
	return nil, err
}

// GenerateProofKey returns an error, like Open.
func GenerateProofKey(_ context.Context, uri string, _ Options) (*ProofSigner, error) {
	_, err := Check(uri)
	return nil, err
}

// Public returns nil.
func (*ProofSigner) Public() crypto.PublicKey { return nil }

// Sign returns an error, like Open.
func (*ProofSigner) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) { return nil, errNoCgo }

// Close does nothing.
func (*ProofSigner) Close() error { return nil }
