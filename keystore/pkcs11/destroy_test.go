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

// TestHandleOfAnotherKey: removing a new key must not destroy a key in use whose handle the
// token has reassigned.
func TestHandleOfAnotherKey(t *testing.T) {
	token := testenv.SoftHSM(t)
	store, err := Open(t.Context(), token.URI(""), Options{PIN: []byte(token.PIN)})
	testenv.Must(t, err)
	info, err := store.Generate(t.Context(), "org", "in use", keystore.CurveSecp256k1)
	testenv.Must(t, err)
	inUse := store.lookUp("org", keystore.ByID(info.ID))
	handle := []pkcs11.ObjectHandle{pkcs11.ObjectHandle(inUse.handle.Load())}
	other, own := uuid.New(), uuid.MustParse(info.ID)
	err = store.remove(t.Context(), other[:], handle)
	if err == nil || !strings.Contains(err.Error(), "its handle now belongs to another object") {
		t.Errorf("%v, want that the handle belongs to another object", err)
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
	testenv.Must(t, store.Close())
}
