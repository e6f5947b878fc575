package keys

import (
	"bytes"
	"io"
	"testing"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestExportedFileDecrypts: age decrypts an exported file with the password.
func TestExportedFileDecrypts(t *testing.T) {
	testenv.Slow(t)
	text := appendExported(nil, keystore.KeyInfo{ID: "id", Name: "name"}, bytes.Repeat([]byte{7}, keystore.SecretSize))
	sealed, err := ageEncrypt(text, []byte("password"))
	testenv.Must(t, err)
	if bytes.Contains(sealed, []byte("0707")) {
		t.Error("the secret is not encrypted")
	}
	identity, err := age.NewScryptIdentity("password")
	testenv.Must(t, err)
	payload, err := age.Decrypt(bytes.NewReader(sealed), identity)
	testenv.Must(t, err)
	if read, err := io.ReadAll(payload); err != nil || !bytes.Equal(read, text) {
		t.Errorf("read %q, %v, want %q", read, err, text)
	}
}

// TestExportGrowth: when the text is moved to a larger buffer, the old buffer is wiped.
func TestExportGrowth(t *testing.T) {
	secret := bytes.Repeat([]byte{7}, keystore.SecretSize)
	first := appendExported(nil, keystore.KeyInfo{ID: "a"}, secret)
	text := first
	for &text[0] == &first[0] {
		text = appendExported(text, keystore.KeyInfo{ID: "b"}, secret)
	}
	if bytes.Contains(first[:cap(first)], []byte("0707")) {
		t.Error("a copy of a secret is left")
	}
}
