package chaintest

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// organization is the organization of all keys.
const organization = "chaintest"

// Key returns a handle to a secret of keystore.SecretSize bytes. Like in the engine, its
// signatures are verified. The handle is closed when the test ends.
func Key(t testing.TB, curve keystore.Curve, secret []byte) keystore.Key {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	info, err := store.Add(t.Context(), organization, keystore.NewKey{Curve: curve, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.Find(t.Context(), organization, keystore.ByID(info.ID))
	if err != nil {
		t.Fatal(err)
	}
	return keystore.Verified(key)
}

// Unhex decodes hex, with or without 0x.
func Unhex(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(strings.TrimPrefix(text, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
