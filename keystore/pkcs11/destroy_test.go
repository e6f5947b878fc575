//go:build cgo

package pkcs11

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestHandleOfAnotherKey: a token that gives handles away again must not be made
// to destroy a key that is in use.
func TestHandleOfAnotherKey(t *testing.T) {
	token := testenv.SoftHSM(t)
	store, err := Open(t.Context(), token.URI(""), Options{PIN: []byte(token.PIN)})
	if err != nil {
		t.Fatal(err)
	}
	info, err := store.Generate(t.Context(), "org", "in use", keystore.CurveSecp256k1)
	if err != nil {
		t.Fatal(err)
	}
	inUse := store.lookUp("org", keystore.ByID(info.ID))
	handle := []pkcs11.ObjectHandle{pkcs11.ObjectHandle(inUse.handle.Load())}
	other, own := uuid.New(), uuid.MustParse(info.ID)
	err = store.remove(t.Context(), other[:], handle)
	if err == nil || !strings.Contains(err.Error(), "its handle is that of another object by now") {
		t.Errorf("%v, want that the handle is that of another object", err)
	}
	if _, err := inUse.sign(t.Context(), make([]byte, 32)); err != nil {
		t.Errorf("the key in use: %v", err)
	}
	if err := store.remove(t.Context(), own[:], handle); err != nil {
		t.Errorf("under its own id: %v", err)
	}
	if _, err := inUse.sign(t.Context(), make([]byte, 32)); err == nil {
		t.Error("the key signs after it was removed")
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
