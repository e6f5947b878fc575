//go:build !cgo

package pkcs11_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// TestWithoutCgo: every error names the cure.
func TestWithoutCgo(t *testing.T) {
	var store pkcs11.Store
	_, opening := pkcs11.Open(t.Context(), "pkcs11:token=a?module-path=/m.so", pkcs11.Options{})
	_, finding := store.Find(t.Context(), "org", keystore.ByID("a"))
	_, generating := store.Generate(t.Context(), "org", "", keystore.CurveEd25519)
	_, importing := store.Add(t.Context(), "org", keystore.NewKey{})
	_, proving := pkcs11.OpenProofSigner(t.Context(), "pkcs11:token=a?module-path=/m.so", pkcs11.Options{})
	_, making := pkcs11.GenerateProofKey(t.Context(), "pkcs11:token=a?module-path=/m.so", pkcs11.Options{})
	_, signing := new(pkcs11.ProofSigner).Sign(nil, nil, nil)
	all := []error{opening, finding, generating, importing, proving, making, signing}
	for _, err := range store.Keys(t.Context(), "org") {
		all = append(all, err)
	}
	for i, err := range all {
		if err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=1") {
			t.Errorf("%d: %v does not say what to do", i, err)
		}
	}
	if len(all) != 8 {
		t.Errorf("%d errors, want 8", len(all))
	}
}
