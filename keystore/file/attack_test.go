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

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

const stranger = "11111111-2222-4333-8444-555555555555"

// TestPlantedKey has an attacker who knows the recipient, but not the passphrase, forge key
// files.
func TestPlantedKey(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	metadata := strings.Replace(metadataOf(t, x.read(t, x.a.ID)), x.a.ID, stranger, 1)
	original := headerOf(t, x.read(t, x.a.ID))
	for name, stanzas := range map[string][][]string{ // the arguments of each stanza of ours
		"without our stanza":                            {},
		"without a MAC":                                 {{}},
		"with a random MAC":                             {{strings.Repeat("A", 43)}},
		"with an empty MAC":                             {{"A"}},
		"with the MAC of another file":                  {{original.mac}},
		"with the MAC and the file key of another file": {{original.mac, original.wrapped}},
		"with an empty file key":                        {{original.mac, "AA"}},
		"with an extra argument":                        {{original.mac, original.wrapped, original.wrapped}},
		"with two MACs":                                 {{original.mac, original.mac}},
		"with two stanzas":                              {{original.mac}, {original.mac}},
	} {
		t.Run(name, func(t *testing.T) {
			plant := planter(func([]byte) (planted []*age.Stanza) {
				for _, args := range stanzas {
					planted = append(planted, &age.Stanza{Type: "countersign.dev/key/v1", Args: args, Body: []byte(metadata)})
				}
				return planted
			})
			x.write(t, stranger, encryptTo(t, strings.Repeat("11", 32)+"\n", identity.Recipient(), plant))
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

// TestRecoveryRecipientReplacesSecret has a recovery recipient, who knows the file key,
// forge a file with the same header and another secret.
func TestRecoveryRecipientReplacesSecret(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	content := x.read(t, x.a.ID)
	end := bytes.Index(content, []byte("\n--- ")) + len("\n--- ") + 43 + 1
	fileKey := fileKeyOf(t, content, identity)
	forged := encryptWith(t, fileKey, content[:end], strings.Repeat("11", 32)+"\n")
	if got := decrypt(t, forged, identity); got != strings.Repeat("11", 32)+"\n" {
		t.Fatalf("the forgery is not what it should be: %q", got)
	}
	x.write(t, x.a.ID, forged)
	x.mustRefuse(t, x.a.ID+".age", file.ErrNotAuthentic)
	if err := file.KeyFileReader(t, x.dir, passphrase)(forged); !strings.Contains(err.Error(), "does not belong to the public key") {
		t.Errorf("refused with %v, want the public key as the reason", err)
	}
}

// TestRecoveryRecipientEditsMetadata has a recovery recipient, who knows the file key, move
// the key to another organization and recompute age's header MAC.
func TestRecoveryRecipientEditsMetadata(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	content := x.read(t, x.a.ID)
	fileKey := fileKeyOf(t, content, identity)
	old := metadataOf(t, content)
	edited := bytes.Replace(content, wrapped(old), wrapped(strings.Replace(old, `"org"`, `"gro"`, 1)), 1)
	end := bytes.Index(edited, []byte("\n--- ")) + len("\n---")
	macKey, err := hkdf.Key(sha256.New, fileKey, nil, "header", 32)
	testenv.Must(t, err)
	mac := hmac.New(sha256.New, macKey)
	mac.Write(edited[:end])
	forged := append(bytes.Clone(edited[:end]), " "+base64.RawStdEncoding.EncodeToString(mac.Sum(nil))+"\n"...)
	forged = append(forged, edited[end+len(" \n")+43:]...)
	if got := decrypt(t, forged, identity); len(got) != 65 {
		t.Fatalf("the forgery is not what it should be: %q", got)
	}
	x.write(t, x.a.ID, forged)
	x.mustRefuse(t, x.a.ID+".age", file.ErrNotAuthentic)
}

// TestCopiedStanza has an attacker who knows the recipient copy a whole stanza into a file
// with a secret of their own. Without the wrapped file key, the MAC refuses it before the
// secret is used. With it, the file key is the other file's, and age's header MAC does not
// verify under it.
func TestCopiedStanza(t *testing.T) {
	for name, refusal := range map[string]string{
		"MAC":              "the MAC is not this keystore's",
		"MAC and file key": "bad header MAC",
	} {
		t.Run(name, func(t *testing.T) {
			x := newAttacked(t)
			identity, _ := x.identity(t)
			original := headerOf(t, x.read(t, x.a.ID))
			args := []string{original.mac, original.wrapped}
			if name == "MAC" {
				args = args[:1]
			}
			copied := planter(func([]byte) []*age.Stanza {
				return []*age.Stanza{{Type: "countersign.dev/key/v1", Args: args, Body: []byte(original.metadata)}}
			})
			forged := encryptTo(t, strings.Repeat("11", 32)+"\n", identity.Recipient(), copied)
			x.write(t, x.a.ID, forged)
			x.mustRefuse(t, x.a.ID+".age", file.ErrNotAuthentic)
			if err := file.KeyFileReader(t, x.dir, passphrase)(forged); !strings.Contains(err.Error(), refusal) {
				t.Errorf("refused with %v, want %q", err, refusal)
			}
		})
	}
}

// TestWrappedFileKeyBindsKind turns a key file into a wallet file: the wrapped file key is
// bound to the kind.
func TestWrappedFileKeyBindsKind(t *testing.T) {
	x := newAttacked(t)
	forged := bytes.Replace(x.read(t, x.a.ID), []byte("countersign.dev/key/v1"), []byte("countersign.dev/wallet/v1"), 1)
	if err := file.KeyFileReader(t, x.dir, passphrase)(forged); !errors.Is(err, file.ErrNotAuthentic) || !strings.Contains(err.Error(), "not encrypted to this keystore") {
		t.Errorf("refused with %v", err)
	}
}

// TestSealChecksAgeStanza: a file is not written unless its X25519 stanza yields the same
// file key as our stanza.
func TestSealChecksAgeStanza(t *testing.T) {
	x := newAttacked(t)
	stranger, err := age.GenerateX25519Identity()
	testenv.Must(t, err)
	if err := file.SealFor(t, x.dir, passphrase, stranger.Recipient(), x.a, secret(1)); err == nil || !strings.Contains(err.Error(), "reading the new file back") {
		t.Errorf("sealed for another identity alone: %v", err)
	}
}

func decrypt(t *testing.T, content []byte, identity age.Identity) string {
	t.Helper()
	payload, err := age.Decrypt(bytes.NewReader(content), identity)
	testenv.Must(t, err)
	text, err := io.ReadAll(payload)
	testenv.Must(t, err)
	return string(text)
}

// TestFormat builds a key file by hand from its documentation.
func TestFormat(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	metadata := `{"organizationId":"org","privateKeyId":"` + stranger + `","name":"by hand","curve":"CURVE_SECP256K1",` +
		`"publicKey":"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798","createdAt":"2026-01-02T03:04:05Z"}`
	stanza := planter(func(fileKey []byte) []*age.Stanza {
		macKey, err := hkdf.Key(sha256.New, []byte(identity.String()), nil, "countersign.dev/key-file-mac/v1", 32)
		testenv.Must(t, err)
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
	testenv.Must(t, err)
	defer store.Close()
	key, err := store.Find(t.Context(), "org", keystore.ByID(stranger))
	testenv.Must(t, err)
	if want := "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"; key.PublicKey().String() != want {
		t.Errorf("public key %v, want %s", key.PublicKey(), want)
	}
}

// thief is an identity that records the file key.
type thief struct {
	*age.X25519Identity
	fileKey *[]byte
}

func (t thief) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	fileKey, err := t.X25519Identity.Unwrap(stanzas)
	*t.fileKey = bytes.Clone(fileKey)
	return fileKey, err
}

func fileKeyOf(t *testing.T, content []byte, identity *age.X25519Identity) (fileKey []byte) {
	t.Helper()
	_, err := age.Decrypt(bytes.NewReader(content), thief{identity, &fileKey})
	testenv.Must(t, err)
	return fileKey
}

// TestSwapped renames, copies and replaces whole files.
func TestSwapped(t *testing.T) {
	t.Run("renamed", func(t *testing.T) {
		x := newAttacked(t)
		testenv.Must(t, os.Rename(x.path(x.a.ID), x.path(stranger)))
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

// TestEditedMetadata changes each member of the metadata and leaves the rest.
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

// wrapped returns a stanza's body: base64 in lines of 64 characters.
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
