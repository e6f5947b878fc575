package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/file"
)

func TestIdentityFile(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, path string)
		want  error
	}{
		"missing": {func(t *testing.T, path string) { testenv.Must(t, os.Remove(path)) }, fs.ErrNotExist},
		"empty":   {func(t *testing.T, path string) { testenv.Must(t, os.WriteFile(path, nil, 0o600)) }, file.ErrMalformed},
		"open":    {func(t *testing.T, path string) { testenv.Must(t, os.Chmod(path, 0o644)) }, file.ErrPermissions},
		"link": {func(t *testing.T, path string) {
			testenv.Must(t, os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		}, file.ErrPermissions},
		"no identity":  {encryptedWithPassphrase("# nothing\n", 4), file.ErrMalformed},
		"two":          {encryptedWithPassphrase(newIdentityText(t)+newIdentityText(t), 4), file.ErrMalformed},
		"not one":      {encryptedWithPassphrase("AGE-SECRET-KEY-1XYZ\n", 4), file.ErrMalformed},
		"mixed kinds":  {encryptedWithPassphrase("# recovery: "+postQuantum(t).Recipient().String()+"\n"+newIdentityText(t), 4), file.ErrMalformed},
		"not hybrid":   {encryptedWithPassphrase("AGE-SECRET-KEY-PQ-1XYZ\n", 4), file.ErrMalformed},
		"bad recovery": {encryptedWithPassphrase("# recovery: age1xyz\n"+newIdentityText(t), 4), file.ErrMalformed},
		"work factor":  {encryptedWithPassphrase(newIdentityText(t), 9), file.ErrWorkFactor},
		"not encrypted": {func(t *testing.T, path string) {
			testenv.Write(t, path, []byte(newIdentityText(t)))
		}, file.ErrMalformed},
		"to a recipient": {func(t *testing.T, path string) {
			identity, _ := age.GenerateX25519Identity()
			testenv.Write(t, path, encryptTo(t, newIdentityText(t), identity.Recipient()))
		}, file.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			x := newAttacked(t)
			path := filepath.Join(x.dir, "identity.age")
			c.spoil(t, path)
			limited := fast
			limited.MaxWorkFactor = 8
			_, err := file.Open(t.Context(), x.dir, passphrase, limited)
			bad, ok := errors.AsType[*file.Error](err)
			if !ok || bad.Path != path || !errors.Is(err, c.want) {
				t.Errorf("opened with %v, want %v for %s", err, c.want, path)
			}
			if err != nil && strings.Contains(strings.ToUpper(err.Error()), "SECRET-KEY-1X") {
				t.Errorf("the error quotes the identity: %v", err)
			}
		})
	}
}

// TestWorkFactorAboveTheLimit checks that no identity is written that Open with the same
// options would refuse.
func TestWorkFactorAboveTheLimit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	high := fast
	high.WorkFactor, high.MaxWorkFactor = 9, 8
	if _, err := file.Create(dir, passphrase, high); !errors.Is(err, file.ErrWorkFactor) {
		t.Errorf("Create: %v", err)
	}
	created, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err, created.Close())
	store, err := file.Open(t.Context(), dir, passphrase, high)
	testenv.Must(t, err)
	defer store.Close()
	if err := store.ChangePassphrase([]byte("another")); !errors.Is(err, file.ErrWorkFactor) {
		t.Errorf("ChangePassphrase: %v", err)
	}
}

// TestIdentityAltered alters the ciphertext; the passphrase is right.
func TestIdentityAltered(t *testing.T) {
	x := newAttacked(t)
	path := filepath.Join(x.dir, "identity.age")
	content := testenv.Read(t, path)
	content[len(content)-1] ^= 1
	testenv.Write(t, path, content)
	_, err := file.Open(t.Context(), x.dir, passphrase, fast)
	if !errors.Is(err, file.ErrMalformed) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "authenticate") {
		t.Errorf("opened with %v, want that %s cannot be authenticated", err, path)
	}
}

// TestDefaultWorkFactor checks how slowly a passphrase can be guessed, in the header of
// the age file.
func TestDefaultWorkFactor(t *testing.T) {
	store, err := file.Create(filepath.Join(t.TempDir(), "keys"), passphrase, file.Options{})
	testenv.Must(t, err)
	defer store.Close()
	check := func(after string) {
		content := testenv.Read(t, filepath.Join(store.Dir(), "identity.age"))
		if header := strings.Split(string(content), "\n")[1]; !strings.HasPrefix(header, "-> scrypt ") || !strings.HasSuffix(header, " 18") {
			t.Errorf("%s: %q, want work factor 18", after, header)
		}
	}
	check("Create")
	testenv.Must(t, store.ChangePassphrase([]byte("another")))
	check("ChangePassphrase")
}

func newIdentityText(t *testing.T) string {
	identity, err := age.GenerateX25519Identity()
	testenv.Must(t, err)
	return identity.String() + "\n"
}

func encryptedWithPassphrase(text string, workFactor int) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		recipient, err := age.NewScryptRecipient(string(passphrase))
		testenv.Must(t, err)
		recipient.SetWorkFactor(workFactor)
		testenv.Write(t, path, encryptTo(t, text, recipient))
	}
}
