//go:build !cgo

package pkcs11

import (
	"context"
	"crypto"
	"errors"
	"io"

	"github.com/countersign-dev/countersign/keystore"
)

// errNoCgo is the error of all functions in a program built without cgo.
var errNoCgo = errors.New("pkcs11: this program was built without cgo, and a PKCS#11 module is a C library: build " +
	"it with CGO_ENABLED=1 and a C compiler, or keep the keys in a directory (file:DIR)")

// Store is not available in a program built without cgo: Open returns an error, and none.
type Store struct{ store }

// store has the methods of a Store.
type store interface {
	keystore.Keystore
	keystore.Generator
	keystore.Importer
	keystore.Renamer
	keystore.Deleter
	keystore.Readier
	keystore.Skipper
	keystore.SchnorrReporter
	Add(ctx context.Context, organizationID string, k keystore.NewKey) (keystore.KeyInfo, error)
	Extractable() []error
}

// Open returns an error that says how to build a program with PKCS#11.
func Open(_ context.Context, uri string, _ Options) (*Store, error) {
	_, err := Check(uri)
	return nil, err
}

// ProofSigner is not available in a program built without cgo: OpenProofSigner returns an error, and
// none.
type ProofSigner struct{ proofSigner }

type proofSigner interface {
	crypto.Signer
	io.Closer
}

// OpenProofSigner returns an error, like Open.
func OpenProofSigner(_ context.Context, uri string, _ Options) (*ProofSigner, error) {
	_, err := Check(uri)
	return nil, err
}
