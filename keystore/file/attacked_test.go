package file_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// attacked is a closed keystore with two keys for tests to tamper with.
type attacked struct {
	dir  string
	a, b keystore.KeyInfo
}

func newAttacked(t *testing.T) attacked {
	t.Helper()
	x := attacked{dir: filepath.Join(t.TempDir(), "keys")}
	store, err := file.Create(x.dir, passphrase, fast)
	testenv.Must(t, err)
	defer store.Close()
	if x.a, err = store.Generate(t.Context(), "org", "a", keystore.CurveSecp256k1); err != nil {
		t.Fatal(err)
	}
	if x.b, err = store.Generate(t.Context(), "org", "b", keystore.CurveEd25519); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x attacked) path(id string) string { return filepath.Join(x.dir, "keys", id+".age") }

func (x attacked) read(t *testing.T, id string) []byte {
	t.Helper()
	content := testenv.Read(t, x.path(id))
	return content
}

func (x attacked) write(t *testing.T, id string, content []byte) {
	t.Helper()
	testenv.Write(t, x.path(id), content)
}

// identity returns the keystore's age identity and its text, for tests that act as its
// owner or encrypt to it.
func (x attacked) identity(t *testing.T) (*age.X25519Identity, string) {
	t.Helper()
	sealed, err := os.Open(filepath.Join(x.dir, "identity.age"))
	testenv.Must(t, err)
	defer sealed.Close()
	unlock, err := age.NewScryptIdentity(string(passphrase))
	testenv.Must(t, err)
	text := new(bytes.Buffer)
	payload, err := age.Decrypt(sealed, unlock)
	testenv.Must(t, err)
	if _, err := io.Copy(text, payload); err != nil {
		t.Fatal(err)
	}
	identities, err := age.ParseIdentities(bytes.NewReader(text.Bytes()))
	if err != nil || len(identities) != 1 {
		t.Fatalf("%d identities, %v", len(identities), err)
	}
	return identities[0].(*age.X25519Identity), text.String()
}

// mustRefuse expects Open to refuse exactly the file of this name, for this reason, and to
// serve the other keys with SkipInvalid.
func (x attacked) mustRefuse(t *testing.T, name string, reason error) {
	t.Helper()
	_, err := file.Open(t.Context(), x.dir, passphrase, fast)
	bad, ok := errors.AsType[*file.BadFilesError](err)
	if !ok {
		t.Fatalf("opened with %v, want *BadFilesError about %s", err, name)
	}
	path := filepath.Join(x.dir, "keys", name)
	if len(bad.Files) != 1 || bad.Files[0].Path != path || !strings.Contains(err.Error(), path) {
		t.Fatalf("the error does not name %s alone: %v", path, err)
	}
	if !errors.Is(err, reason) {
		t.Fatalf("refused with %v, want %v", err, reason)
	}
	lenient := fast
	lenient.SkipInvalid = true
	store, err := file.Open(t.Context(), x.dir, passphrase, lenient)
	if err != nil {
		t.Fatalf("with SkipInvalid: %v", err)
	}
	defer store.Close()
	if skipped := store.Skipped(); len(skipped) != 1 || pathOf(skipped[0]) != path {
		t.Fatalf("skipped: %v", skipped)
	}
	for _, info := range []keystore.KeyInfo{x.a, x.b} {
		_, err := store.Find(t.Context(), "org", keystore.ByID(info.ID))
		if isBad := info.ID+".age" == name; isBad != errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("key %s next to bad file %s: %v", info.ID, name, err)
		}
	}
}

// planter is an age.Recipient that adds arbitrary stanzas.
type planter func(fileKey []byte) []*age.Stanza

func (p planter) Wrap(fileKey []byte) ([]*age.Stanza, error) { return p(fileKey), nil }

func encryptTo(t *testing.T, text string, recipients ...age.Recipient) []byte {
	t.Helper()
	var sealed bytes.Buffer
	payload, err := age.Encrypt(&sealed, recipients...)
	testenv.Must(t, err)
	if _, err := io.WriteString(payload, text); err != nil {
		t.Fatal(err)
	}
	testenv.Must(t, payload.Close())
	return sealed.Bytes()
}

// header is the content of our stanza in a key file.
type header struct{ mac, wrapped, metadata string }

func headerOf(t *testing.T, content []byte) header {
	t.Helper()
	_, rest, ok := strings.Cut(string(content), "-> countersign.dev/key/v1 ")
	if !ok {
		t.Fatal("no stanza of ours")
	}
	args, rest, _ := strings.Cut(rest, "\n")
	mac, wrapped, _ := strings.Cut(args, " ")
	body, _, _ := strings.Cut(rest, "\n--- ")
	metadata, err := base64.RawStdEncoding.DecodeString(strings.ReplaceAll(body, "\n", ""))
	testenv.Must(t, err)
	return header{mac, wrapped, string(metadata)}
}

func metadataOf(t *testing.T, content []byte) string {
	t.Helper()
	return headerOf(t, content).metadata
}

// pathOf returns the path in a *file.Error.
func pathOf(err error) string {
	bad, ok := errors.AsType[*file.Error](err)
	if !ok {
		return ""
	}
	return bad.Path
}
