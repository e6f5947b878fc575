package file_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

func postQuantum(t *testing.T) *age.HybridIdentity {
	t.Helper()
	identity, err := age.GenerateHybridIdentity()
	testenv.Must(t, err)
	return identity
}

// TestRecovery decrypts a key file with a recovery identity alone, of both kinds, also after
// a change of passphrase.
func TestRecovery(t *testing.T) {
	x25519, err := age.GenerateX25519Identity()
	testenv.Must(t, err)
	hybrid := postQuantum(t)
	for name, c := range map[string]struct {
		identity  age.Identity
		recipient string
		stanza    string // of each recipient, the keystore's own identity included
	}{
		"X25519":       {x25519, x25519.Recipient().String(), "-> X25519 "},
		"post-quantum": {hybrid, hybrid.Recipient().String(), "-> mlkem768x25519 "},
	} {
		t.Run(name, func(t *testing.T) {
			options := fast
			options.Recovery = []string{c.recipient}
			dir := filepath.Join(t.TempDir(), "keys")
			created, err := file.Create(dir, passphrase, options)
			testenv.Must(t, err)
			testenv.Must(t, created.ChangePassphrase([]byte("another")))
			testenv.Must(t, created.Close())
			store, err := file.Open(t.Context(), dir, []byte("another"), fast)
			testenv.Must(t, err)
			info, err := store.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret(1)})
			testenv.Must(t, err)
			testenv.Must(t, store.Close())
			content, err := os.ReadFile(filepath.Join(dir, "keys", info.ID+".age"))
			testenv.Must(t, err)
			if got, want := decrypt(t, content, c.identity), hex.EncodeToString(secret(1))+"\n"; got != want {
				t.Errorf("decrypted %q, want %q", got, want)
			}
			if many, arrows := strings.Count(string(content), "\n"+c.stanza), strings.Count(string(content), "\n-> "); many != 2 || arrows != 3 {
				t.Errorf("%d stanzas of this kind of %d, want 2 and ours", many, arrows)
			}
			reopened, err := file.Open(t.Context(), dir, []byte("another"), fast)
			testenv.Must(t, err)
			defer reopened.Close()
			if listed := ids(t, reopened, "org"); len(listed) != 1 {
				t.Errorf("%d keys after reopening, want 1", len(listed))
			}
		})
	}
}

// TestPostQuantum creates a keystore with a post-quantum identity and no recovery recipients.
// Neither its key nor its wallet is encrypted to X25519 alone.
func TestPostQuantum(t *testing.T) {
	options := fast
	options.PostQuantum = true
	dir := filepath.Join(t.TempDir(), "keys")
	store, err := file.Create(dir, passphrase, options)
	testenv.Must(t, err)
	defer store.Close()
	info, err := store.Generate(t.Context(), "org", "name", keystore.CurveEd25519)
	testenv.Must(t, err)
	w := addWallet(t, store)
	testenv.Must(t, store.Disable(t.Context(), "org", info.ID))
	testenv.Must(t, store.Enable(t.Context(), "org", info.ID))
	for _, id := range []string{info.ID, w.ID} {
		content, err := os.ReadFile(filepath.Join(dir, "keys", id+".age"))
		testenv.Must(t, err)
		if text := string(content); strings.Contains(text, "\n-> X25519 ") || !strings.Contains(text, "\n-> mlkem768x25519 ") {
			t.Errorf("the header is %.200s…", text)
		}
	}
	reopened := reopen(t, dir)
	serves(t, reopened, w)
	if _, err := reopened.Find(t.Context(), "org", keystore.ByID(info.ID)); err != nil {
		t.Error(err)
	}
}

// TestRecoveryRefused: mixed kinds, recipients of plugins, and mistyped ones.
func TestRecoveryRefused(t *testing.T) {
	x25519, err := age.GenerateX25519Identity()
	testenv.Must(t, err)
	hybrid := postQuantum(t).Recipient().String()
	many := make([]string, file.MaxRecovery+1)
	for i := range many {
		many[i] = hybrid
	}
	mistyped := hybrid[:40] + "q" + hybrid[41:]
	if mistyped == hybrid {
		mistyped = hybrid[:40] + "p" + hybrid[41:]
	}
	for name, c := range map[string]struct {
		recovery    []string
		postQuantum bool
		want        string
	}{
		"both kinds":           {[]string{hybrid, x25519.Recipient().String()}, false, "cannot be mixed with X25519"},
		"in the other order":   {[]string{x25519.Recipient().String(), hybrid}, false, "cannot be mixed with X25519"},
		"not post-quantum":     {[]string{x25519.Recipient().String()}, true, "cannot be mixed with X25519"},
		"a plugin":             {[]string{"age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t"}, false, "only X25519 recipients (age1…) and post-quantum ones (age1pq1…)"},
		"SSH":                  {[]string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHsKLqeplhpW+uObz5dvMgjz1OxfM/XXUB+VHtZ6isGN"}, false, "only X25519 recipients"},
		"a mistyped recipient": {[]string{mistyped}, false, "recovery recipient 1: not a post-quantum recipient (age1pq1…): mistyped?"},
		"an identity":          {[]string{x25519.String()}, false, "this is an identity, a secret"},
		"too many":             {many, false, "at most 16"},
	} {
		options := fast
		options.Recovery, options.PostQuantum = c.recovery, c.postQuantum
		dir := filepath.Join(t.TempDir(), "keys")
		_, err := file.Create(dir, passphrase, options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), x25519.String()) {
			t.Errorf("%s: the error quotes the identity", name)
		}
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("%s: a directory was made", name)
		}
	}
	options := fast
	options.Recovery = many[1:]
	store, err := file.Create(filepath.Join(t.TempDir(), "keys"), passphrase, options)
	testenv.Must(t, err)
	defer store.Close()
	if _, err := store.Generate(t.Context(), "org", strings.Repeat("n", file.MaxNameSize), keystore.CurveEd25519); err != nil {
		t.Errorf("a key for the maximum number of recipients: %v", err)
	}
	if listed := ids(t, reopen(t, store.Dir()), "org"); len(listed) != 1 {
		t.Errorf("%d keys, want 1", len(listed))
	}
}
