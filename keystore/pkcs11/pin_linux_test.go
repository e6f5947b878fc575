//go:build cgo

package pkcs11_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/pkcs11"
)

// TestPINFileCannotBeRead: a file that can be opened but not read must not count as empty.
func TestPINFileCannotBeRead(t *testing.T) {
	token := testenv.SoftHSM(t)
	_, err := pkcs11.Open(t.Context(), token.URI(""), pkcs11.Options{PINFile: "/proc/self/mem"})
	if err == nil || !strings.Contains(err.Error(), "PIN file /proc/self/mem: ") || !strings.Contains(err.Error(), "input/output error") {
		t.Errorf("%v, want an input/output error", err)
	}
}
