//go:build cgo

package pkcs11_test

import (
	"testing"

	"github.com/countersign-dev/countersign/internal/chainvectors"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// TestVectorsOfAllChains signs through the engine with keys on the token, which uses random
// nonces.
func TestVectorsOfAllChains(t *testing.T) {
	token := testenv.SoftHSM(t)
	for name, v := range chainvectors.All(t) {
		t.Run(name, func(t *testing.T) {
			store, err := pkcs11.Open(t.Context(), token.URI(""), pkcs11.Options{PIN: []byte(token.PIN)})
			testenv.Must(t, err)
			engine := chainvectors.Engine(t, store)
			importKey(t, store, name, v.Key(t))
			v.Sign(t, engine, name, name)
		})
	}
}
