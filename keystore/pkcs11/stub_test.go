//go:build !cgo

package pkcs11_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// TestWithoutCgo: every error names the cure.
func TestWithoutCgo(t *testing.T) {
	const uri = "pkcs11:token=a?module-path=/m.so"
	_, opening := pkcs11.Open(t.Context(), uri, pkcs11.Options{})
	_, proving := pkcs11.OpenProofSigner(t.Context(), uri, pkcs11.Options{})
	for i, err := range []error{opening, proving} {
		if err == nil || !strings.Contains(err.Error(), "CGO_ENABLED=1") {
			t.Errorf("%d: %v does not say what to do", i, err)
		}
	}
}
