package fuzz

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

var keystorePassphrase = []byte("a passphrase for fuzzing")

const keystoreSeedID = "11111111-2222-4333-8444-555555555555"

// seedKeystore is a keystore with one key.
type seedKeystore struct {
	dir, keyFile string
	content      []byte // of keyFile
	info         keystore.KeyInfo
}

func newSeedKeystore(f *testing.F) seedKeystore {
	f.Helper()
	dir := filepath.Join(f.TempDir(), "keys")
	store, err := file.Create(dir, keystorePassphrase, file.Options{WorkFactor: 1})
	testenv.Must(f, err)
	info, err := store.Add(f.Context(), "org", keystore.NewKey{
		ID: keystoreSeedID, Name: "seed", Curve: keystore.CurveSecp256k1, Secret: bytes.Repeat([]byte{7}, 32),
	})
	testenv.Must(f, err)
	testenv.Must(f, store.Close())
	seed := seedKeystore{dir: dir, keyFile: filepath.Join(dir, "keys", keystoreSeedID+".age"), info: info}
	seed.content = testenv.Read(f, seed.keyFile)
	return seed
}

// open opens the keystore with this content of its key file.
func (s seedKeystore) open(t *testing.T, content []byte) *file.Store {
	t.Helper()
	testenv.Write(t, s.keyFile, content)
	store, err := file.Open(t.Context(), s.dir, keystorePassphrase, file.Options{SkipInvalid: true})
	testenv.Must(t, err)
	t.Cleanup(func() { testenv.Must(t, store.Close()) })
	return store
}

// FuzzKeystoreKeyFile checks that a key file that differs in any byte from what was
// written is refused with a reason.
func FuzzKeystoreKeyFile(f *testing.F) {
	seed := newSeedKeystore(f)
	f.Add(seed.content)
	f.Add([]byte{})
	f.Add([]byte("age-encryption.org/v1\n-> countersign.dev/key/v1 AAAA\n\n--- AAAA\n"))
	f.Add(bytes.Replace(seed.content, []byte("-> X25519"), []byte("-> x25519"), 1))
	f.Fuzz(func(t *testing.T, content []byte) {
		store := seed.open(t, content)
		_, err := store.Find(t.Context(), "org", keystore.ByID(keystoreSeedID))
		if found := err == nil; found != bytes.Equal(content, seed.content) {
			t.Errorf("found: %v, with %q", found, content)
		}
		for _, bad := range store.Skipped() {
			if !errors.Is(bad, file.ErrNotAuthentic) && !errors.Is(bad, file.ErrMalformed) {
				t.Errorf("refused with %v, want ErrNotAuthentic or ErrMalformed", bad)
			}
		}
	})
}

// FuzzKeystoreAuthenticFile reads key files with arbitrary metadata and payload and
// the right MAC, as only the keystore can write them, and checks that only one form
// of each is accepted.
func FuzzKeystoreAuthenticFile(f *testing.F) {
	seed := newSeedKeystore(f)
	identity := keystoreIdentity(f, seed.dir)
	created := seed.info.CreatedAt.Format(time.RFC3339)
	metadata := `{"organizationId":"org","privateKeyId":"` + keystoreSeedID + `","name":"seed","curve":"CURVE_SECP256K1","publicKey":"` +
		seed.info.PublicKey.String() + `","createdAt":"` + created + `"}`
	payload := strings.Repeat("07", 32) + "\n"
	f.Add(metadata, payload)
	f.Add(strings.Replace(metadata, "seed", `\u0073eed`, 1), payload)
	f.Add(strings.Replace(metadata, `"name"`, `"Name"`, 1), payload)
	f.Add(strings.Replace(metadata, `{`, `{"x":1,`, 1), payload)
	f.Add(metadata+" ", payload)
	f.Add(strings.Replace(metadata, keystoreSeedID, strings.ToUpper(keystoreSeedID), 1), payload)
	f.Add(metadata, strings.Repeat("07", 32))
	f.Add(metadata, strings.Repeat("0A", 32)+"\n")
	f.Fuzz(func(t *testing.T, metadata, payload string) {
		if len(metadata) > 8<<10 || len(payload) > 8<<10 {
			return
		}
		store := seed.open(t, authenticKeyFile(t, identity, metadata, payload))
		var read struct{ OrganizationID string }
		_ = json.Unmarshal([]byte(metadata), &read)
		found, err := store.Find(t.Context(), read.OrganizationID, keystore.ByID(keystoreSeedID))
		if err != nil {
			if len(store.Skipped()) != 1 {
				t.Errorf("neither found nor refused: %v", err)
			}
			return
		}
		checkKeystoreWritten(t, store, found, read.OrganizationID, metadata, payload)
	})
}

// checkKeystoreWritten checks that what was read, written as documented, is what was
// there.
func checkKeystoreWritten(t *testing.T, store *file.Store, key keystore.Key, organizationID, metadata, payload string) {
	t.Helper()
	for info, err := range store.Keys(t.Context(), organizationID) {
		testenv.Must(t, err)
		var again bytes.Buffer
		encoder := json.NewEncoder(&again)
		encoder.SetEscapeHTML(false)
		testenv.Must(t, encoder.Encode(struct {
			OrganizationID string `json:"organizationId"`
			PrivateKeyID   string `json:"privateKeyId"`
			Name           string `json:"name"`
			Curve          string `json:"curve"`
			PublicKey      string `json:"publicKey"`
			CreatedAt      string `json:"createdAt"`
		}{organizationID, info.ID, info.Name, info.PublicKey.Curve().String(), info.PublicKey.String(), info.CreatedAt.Format(time.RFC3339)}))
		if again.String() != metadata+"\n" {
			t.Errorf("read %q, which is written %q", metadata, again.String())
		}
	}
	testenv.Must(t, store.RevealSecret(t.Context(), organizationID, key.ID(), func(secret []byte) error {
		if again := hex.EncodeToString(secret) + "\n"; again != payload {
			t.Errorf("read payload %q, which is written %q", payload, again)
		}
		return nil
	}))
}

// keystoreIdentity decrypts identity.age.
func keystoreIdentity(f *testing.F, dir string) *age.X25519Identity {
	f.Helper()
	sealed := testenv.Read(f, filepath.Join(dir, "identity.age"))
	unlock, err := age.NewScryptIdentity(string(keystorePassphrase))
	testenv.Must(f, err)
	text, err := age.Decrypt(bytes.NewReader(sealed), unlock)
	testenv.Must(f, err)
	identities, err := age.ParseIdentities(text)
	testenv.Must(f, err)
	return identities[0].(*age.X25519Identity)
}

// authenticKeyStanza returns the stanza of a key file, as documented in package
// keystore/file and its sealer.
type authenticKeyStanza struct {
	identity *age.X25519Identity
	metadata string
}

func (s authenticKeyStanza) Wrap(fileKey []byte) ([]*age.Stanza, error) {
	key, err := hkdf.Key(sha256.New, []byte(s.identity.String()), nil, "countersign.dev/key-file-mac/v1", 32)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("countersign.dev/key/v1\n"))
	mac.Write(fileKey)
	mac.Write([]byte(s.metadata))
	return []*age.Stanza{{
		Type: "countersign.dev/key/v1",
		Args: []string{base64.RawStdEncoding.EncodeToString(mac.Sum(nil))},
		Body: []byte(s.metadata),
	}}, nil
}

func authenticKeyFile(t *testing.T, identity *age.X25519Identity, metadata, payload string) []byte {
	t.Helper()
	var sealed bytes.Buffer
	writer, err := age.Encrypt(&sealed, identity.Recipient(), authenticKeyStanza{identity, metadata})
	testenv.Must(t, err)
	_, err = writer.Write([]byte(payload))
	testenv.Must(t, err)
	testenv.Must(t, writer.Close())
	return sealed.Bytes()
}

// FuzzKeystoreIdentity opens keystores with arbitrary identity.age files and checks
// that only the passphrase opens one, and that hostile work factors cost nothing.
func FuzzKeystoreIdentity(f *testing.F) {
	seed := newSeedKeystore(f)
	path := filepath.Join(seed.dir, "identity.age")
	content := testenv.Read(f, path)
	f.Add(content)
	f.Add(bytes.Replace(content, []byte(" 1\n"), []byte(" 30\n"), 1))
	f.Add(bytes.Replace(content, []byte("scrypt"), []byte("X25519"), 1))
	f.Fuzz(func(t *testing.T, identity []byte) {
		testenv.Write(t, path, identity)
		store, err := file.Open(t.Context(), seed.dir, keystorePassphrase, file.Options{MaxWorkFactor: 3})
		if opened := err == nil; opened != bytes.Equal(identity, content) {
			t.Errorf("opened: %v, with %q", opened, identity)
		}
		if err == nil {
			testenv.Must(t, store.Close())
		}
	})
}
