package file_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// attacked is a keystore with two keys, closed, for tests to work on.
type attacked struct {
	dir  string
	a, b keystore.KeyInfo
}

func newAttacked(t *testing.T) attacked {
	t.Helper()
	x := attacked{dir: filepath.Join(t.TempDir(), "keys")}
	store, err := file.Create(x.dir, passphrase, fast)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if x.a, err = store.Generate("org", "a", keystore.CurveSecp256k1); err != nil {
		t.Fatal(err)
	}
	if x.b, err = store.Generate("org", "b", keystore.CurveEd25519); err != nil {
		t.Fatal(err)
	}
	return x
}

func (x attacked) path(id string) string { return filepath.Join(x.dir, "keys", id+".age") }

func (x attacked) read(t *testing.T, id string) []byte {
	t.Helper()
	content, err := os.ReadFile(x.path(id))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func (x attacked) write(t *testing.T, id string, content []byte) {
	t.Helper()
	if err := os.WriteFile(x.path(id), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// identity returns the age identity: what a test needs to play someone who has
// it, or whom it has encrypted for.
func (x attacked) identity(t *testing.T) (*age.X25519Identity, string) {
	t.Helper()
	sealed, err := os.Open(filepath.Join(x.dir, "identity.age"))
	if err != nil {
		t.Fatal(err)
	}
	defer sealed.Close()
	unlock, err := age.NewScryptIdentity(string(passphrase))
	if err != nil {
		t.Fatal(err)
	}
	text := new(bytes.Buffer)
	payload, err := age.Decrypt(sealed, unlock)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(text, payload); err != nil {
		t.Fatal(err)
	}
	identities, err := age.ParseIdentities(bytes.NewReader(text.Bytes()))
	if err != nil || len(identities) != 1 {
		t.Fatalf("%d identities, %v", len(identities), err)
	}
	return identities[0].(*age.X25519Identity), text.String()
}

// mustRefuse opens the keystore and wants the file of this name refused, for
// this reason, and the other keys served when bad files are left out.
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
	lenient.LeaveOutBadFiles = true
	store, err := file.Open(t.Context(), x.dir, passphrase, lenient)
	if err != nil {
		t.Fatalf("leaving bad files out: %v", err)
	}
	defer store.Close()
	if left := store.BadFiles(); len(left) != 1 || left[0].Path != path {
		t.Fatalf("BadFiles: %v", left)
	}
	for _, info := range []keystore.KeyInfo{x.a, x.b} {
		_, err := store.Find(t.Context(), "org", keystore.ByID(info.ID))
		if isBad := info.ID+".age" == name; isBad != errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("key %s beside bad file %s: %v", info.ID, name, err)
		}
	}
}

const stranger = "11111111-2222-4333-8444-555555555555"

// TestPlantedKey: who knows the recipient makes a key file, as well as can be
// done without the passphrase.
func TestPlantedKey(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	metadata := strings.Replace(metadataOf(t, x.read(t, x.a.ID)), x.a.ID, stranger, 1)
	for name, plant := range map[string]func([]byte) []*age.Stanza{
		"without our stanza": func([]byte) []*age.Stanza { return nil },
		"with a random MAC": func([]byte) []*age.Stanza {
			return []*age.Stanza{{Type: "countersign.dev/key/v1", Args: []string{strings.Repeat("A", 43)}, Body: []byte(metadata)}}
		},
		"with an empty MAC": func([]byte) []*age.Stanza {
			return []*age.Stanza{{Type: "countersign.dev/key/v1", Args: []string{"A"}, Body: []byte(metadata)}}
		},
		"with the MAC of another file": func([]byte) []*age.Stanza {
			return []*age.Stanza{{Type: "countersign.dev/key/v1", Args: []string{macOf(t, x.read(t, x.a.ID))}, Body: []byte(metadata)}}
		},
		"with a MAC too many": func([]byte) []*age.Stanza {
			mac := macOf(t, x.read(t, x.a.ID))
			return []*age.Stanza{{Type: "countersign.dev/key/v1", Args: []string{mac, mac}, Body: []byte(metadata)}}
		},
		"with two stanzas": func([]byte) []*age.Stanza {
			ours := &age.Stanza{Type: "countersign.dev/key/v1", Args: []string{macOf(t, x.read(t, x.a.ID))}, Body: []byte(metadata)}
			return []*age.Stanza{ours, ours}
		},
		"without a MAC": func([]byte) []*age.Stanza {
			return []*age.Stanza{{Type: "countersign.dev/key/v1", Body: []byte(metadata)}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			x.write(t, stranger, encryptTo(t, strings.Repeat("11", 32)+"\n", identity.Recipient(), planter(plant)))
			x.mustRefuseAny(t, stranger+".age")
		})
	}
}

func (x attacked) mustRefuseAny(t *testing.T, name string) {
	t.Helper()
	_, err := file.Open(t.Context(), x.dir, passphrase, fast)
	bad, ok := errors.AsType[*file.BadFilesError](err)
	if !ok || len(bad.Files) != 1 || filepath.Base(bad.Files[0].Path) != name {
		t.Fatalf("opened with %v, want %s refused", err, name)
	}
	if !errors.Is(err, file.ErrNotAuthentic) && !errors.Is(err, file.ErrMalformed) {
		t.Fatalf("refused with %v, want ErrNotAuthentic or ErrMalformed", err)
	}
}

// planter is an age.Recipient that adds stanzas of its own.
type planter func(fileKey []byte) []*age.Stanza

func (p planter) Wrap(fileKey []byte) ([]*age.Stanza, error) { return p(fileKey), nil }

func encryptTo(t *testing.T, text string, recipients ...age.Recipient) []byte {
	t.Helper()
	var sealed bytes.Buffer
	payload, err := age.Encrypt(&sealed, recipients...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(payload, text); err != nil {
		t.Fatal(err)
	}
	if err := payload.Close(); err != nil {
		t.Fatal(err)
	}
	return sealed.Bytes()
}

// header is what our stanza of a key file says.
type header struct{ mac, metadata string }

func headerOf(t *testing.T, content []byte) header {
	t.Helper()
	_, rest, ok := strings.Cut(string(content), "-> countersign.dev/key/v1 ")
	if !ok {
		t.Fatal("no stanza of ours")
	}
	mac, rest, _ := strings.Cut(rest, "\n")
	body, _, _ := strings.Cut(rest, "\n--- ")
	metadata, err := base64.RawStdEncoding.DecodeString(strings.ReplaceAll(body, "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	return header{mac, string(metadata)}
}

func macOf(t *testing.T, content []byte) string { t.Helper(); return headerOf(t, content).mac }
func metadataOf(t *testing.T, content []byte) string {
	t.Helper()
	return headerOf(t, content).metadata
}

// TestRecoveryRecipientPlantsSecret: who was given the file key, and so can read
// the secret, makes a file of the same header with another secret.
func TestRecoveryRecipientPlantsSecret(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	content := x.read(t, x.a.ID)
	end := bytes.Index(content, []byte("\n--- ")) + len("\n--- ") + 43 + 1
	var fileKey []byte
	if _, err := age.Decrypt(bytes.NewReader(content), thief{identity, &fileKey}); err != nil {
		t.Fatal(err)
	}
	forged := encryptWith(t, fileKey, content[:end], strings.Repeat("11", 32)+"\n")
	if got := decrypt(t, forged, identity); got != strings.Repeat("11", 32)+"\n" {
		t.Fatalf("the forgery is not what it should be: %q", got)
	}
	x.write(t, x.a.ID, forged)
	x.mustRefuse(t, x.a.ID+".age", file.ErrNotAuthentic)
	if err := file.KeyFileReader(t, x.dir, passphrase)(forged); !strings.Contains(err.Error(), "does not belong to the public key") {
		t.Errorf("refused for another reason than its public key: %v", err)
	}
}

func decrypt(t *testing.T, content []byte, identity age.Identity) string {
	t.Helper()
	payload, err := age.Decrypt(bytes.NewReader(content), identity)
	must(t, err)
	text, err := io.ReadAll(payload)
	must(t, err)
	return string(text)
}

// TestFormat makes a key file by hand, as the documentation draws it.
func TestFormat(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	metadata := `{"organizationId":"org","privateKeyId":"` + stranger + `","name":"by hand","curve":"CURVE_SECP256K1",` +
		`"publicKey":"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798","createdAt":"2026-01-02T03:04:05Z"}`
	stanza := planter(func(fileKey []byte) []*age.Stanza {
		macKey, err := hkdf.Key(sha256.New, []byte(identity.String()), nil, "countersign.dev/key-file-mac/v1", 32)
		must(t, err)
		mac := hmac.New(sha256.New, macKey)
		mac.Write([]byte("countersign.dev/key/v1\n"))
		mac.Write(fileKey)
		mac.Write([]byte(metadata))
		return []*age.Stanza{{
			Type: "countersign.dev/key/v1",
			Args: []string{base64.RawStdEncoding.EncodeToString(mac.Sum(nil))},
			Body: []byte(metadata),
		}}
	})
	x.write(t, stranger, encryptTo(t, strings.Repeat("0", 63)+"1\n", identity.Recipient(), stanza))
	store, err := file.Open(t.Context(), x.dir, passphrase, fast)
	must(t, err)
	defer store.Close()
	key, err := store.Find(t.Context(), "org", keystore.ByID(stranger))
	must(t, err)
	if want := "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"; key.PublicKey().String() != want {
		t.Errorf("public key %v, want %s", key.PublicKey(), want)
	}
}

// thief is an identity that keeps the file key.
type thief struct {
	*age.X25519Identity
	fileKey *[]byte
}

func (t thief) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	fileKey, err := t.X25519Identity.Unwrap(stanzas)
	*t.fileKey = bytes.Clone(fileKey)
	return fileKey, err
}

// TestSwapped exchanges, renames and copies whole files.
func TestSwapped(t *testing.T) {
	t.Run("renamed", func(t *testing.T) {
		x := newAttacked(t)
		if err := os.Rename(x.path(x.a.ID), x.path(stranger)); err != nil {
			t.Fatal(err)
		}
		x.mustRefuseAny(t, stranger+".age")
	})
	t.Run("copied over another", func(t *testing.T) {
		x := newAttacked(t)
		x.write(t, x.a.ID, x.read(t, x.b.ID))
		x.mustRefuse(t, x.a.ID+".age", file.ErrNotAuthentic)
	})
	t.Run("of another keystore", func(t *testing.T) {
		x, y := newAttacked(t), newAttacked(t)
		x.write(t, y.a.ID, y.read(t, y.a.ID))
		x.mustRefuse(t, y.a.ID+".age", file.ErrNotAuthentic)
	})
	t.Run("in upper case", func(t *testing.T) {
		x := newAttacked(t)
		upper := strings.ToUpper(x.a.ID)
		x.write(t, upper, x.read(t, x.a.ID))
		x.mustRefuse(t, upper+".age", file.ErrNotAuthentic)
	})
}

// TestEditedMetadata changes each member of the metadata, leaving the rest.
func TestEditedMetadata(t *testing.T) {
	for _, edit := range [][2]string{
		{`"organizationId":"org"`, `"organizationId":"gro"`},
		{`"name":"a"`, `"name":"z"`},
		{`CURVE_SECP256K1`, `CURVE_ED25519`},
		{`"publicKey":"0`, `"publicKey":"1`},
		{`"createdAt":"2`, `"createdAt":"3`},
	} {
		x := newAttacked(t)
		content := x.read(t, x.a.ID)
		old := metadataOf(t, content)
		edited := strings.Replace(old, edit[0], edit[1], 1)
		if edited == old {
			t.Fatalf("%s is not in %s", edit[0], old)
		}
		x.write(t, x.a.ID, bytes.Replace(content, wrapped(old), wrapped(edited), 1))
		x.mustRefuse(t, x.a.ID+".age", file.ErrNotAuthentic)
	}
}

// wrapped is a stanza's body: base64 in lines of 64.
func wrapped(body string) []byte {
	var lines bytes.Buffer
	encoded := base64.RawStdEncoding.EncodeToString([]byte(body))
	for ; len(encoded) > 64; encoded = encoded[64:] {
		lines.WriteString(encoded[:64] + "\n")
	}
	lines.WriteString(encoded)
	return lines.Bytes()
}

func encryptWith(t *testing.T, fileKey, header []byte, text string) []byte {
	t.Helper()
	return append(bytes.Clone(header), file.SealPayload(t, fileKey, text)...)
}
