//go:build unix

package clitest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// NthSecret returns the secret of test key number i.
func NthSecret(i int) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "countersign test key %d", i))
	return hex.EncodeToString(digest[:])
}

// NthTransaction returns a transaction that is unique to i.
func NthTransaction(i int) string {
	const before = "02ed0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b78501"
	return fmt.Sprintf("%s%08x80c0", before, i)
}

// IntentLine returns a line of sign --jsonl.
func IntentLine(signWith, unsigned string) string {
	const line = `{"signWith":"%s","unsignedTransaction":"%s","type":"TRANSACTION_TYPE_ETHEREUM"}` + "\n"
	return fmt.Sprintf(line, signWith, unsigned)
}

// OtherEncodings returns a text as editors and shells save it that do not write plain UTF-8.
func OtherEncodings(text []byte) map[string]string {
	wide := func(mark string, at int) string {
		for _, char := range text {
			unit := [2]byte{}
			unit[at] = char
			mark += string(unit[:])
		}
		return mark
	}
	return map[string]string{
		"UTF-8 with a mark":     "\ufeff" + string(text),
		"UTF-16LE":              wide("\xff\xfe", 0),
		"UTF-16BE":              wide("\xfe\xff", 1),
		"UTF-16LE without mark": wide("", 0),
	}
}

// The keystore of the tests, in keys/ with its passphrase in the file pass. Its
// keys belong to the organization "default"; the first is the one of the
// Ethereum vectors.
const (
	Passphrase = "correct horse battery staple"
	Secret     = "e7f99af93e47e2370fbf05e7f360cf577c7961271653e8c80c703f3fb4516eca"
	Address    = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	KeyID      = "11111111-1111-4111-8111-111111111111"
	Seed       = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60" // RFC 8032, test 1
	SeedPublic = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
	SeedID     = "22222222-2222-4222-8222-222222222222"
)

// One of the Ethereum vectors, and the first key's signed transaction for it.
const (
	Unsigned = "02e80107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0"
	Signed   = "02f86a0107843b9aca008504a817c80082ea609408d2b0a37f869ff76bacb5bab3278e26ab7067b77b80c0" +
		"01a04d4e7d89896385d9c45261ca8abf4d033f1a15b5e0164a5cc20baa16424d7742" +
		"9fd5199e526182f00ee7273a2ad38ea39e7c5235d297fa008931138cf04fde55"
)

// makeFixture writes the keystore of the tests and its passphrase into a directory.
// The keystore is created once and copied: creating one waits for the disk many times.
func makeFixture(t testing.TB, dir string) {
	t.Helper()
	files, err := fixtureFiles()
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// fixtureFiles are the files of the fixture, by their paths.
var fixtureFiles = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "countersign-fixture-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := createFixture(filepath.Join(dir, "keys")); err != nil {
		return nil, err
	}
	files := map[string][]byte{"pass": []byte(Passphrase + "\n")}
	root := os.DirFS(dir)
	return files, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(root, path)
		return err
	})
})

func createFixture(dir string) error {
	keys, err := file.Create(dir, []byte(Passphrase), file.Options{WorkFactor: 1})
	if err != nil {
		return err
	}
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, key := range []struct {
		id, name string
		curve    keystore.Curve
		secret   string
	}{
		{KeyID, "vectors", keystore.CurveSecp256k1, Secret},
		{SeedID, "", keystore.CurveEd25519, Seed},
	} {
		secret, err := hex.DecodeString(key.secret)
		if err != nil {
			return err
		}
		add := keystore.NewKey{ID: key.id, Name: key.name, Curve: key.curve, Secret: secret}
		add.CreatedAt = created.Add(time.Duration(i) * time.Second)
		if _, err := keys.Add(context.Background(), deployment.DefaultOrganization, add); err != nil {
			return errors.Join(err, keys.Close())
		}
	}
	return keys.Close()
}

// Answer is an answer of the server, with the members that tests read.
type Answer struct {
	Activity struct {
		ID     string `json:"id"`
		Result struct {
			SignTransactionResult activity.SignTransactionResult `json:"signTransactionResult"`
			InitOTPAuthResultV2   activity.InitOTPAuthResult     `json:"initOtpAuthResultV2"`
		} `json:"result"`
	} `json:"activity"`
}

// SignBody is a sign_transaction request.
func SignBody(organizationID, signWith, unsigned string, at time.Time) []byte {
	return console.JSONLine(map[string]any{
		"type":           activity.TypeSignTransaction,
		"timestampMs":    fmt.Sprint(at.UnixMilli()),
		"organizationId": organizationID,
		"parameters": activity.SignTransactionIntent{
			SignWith: signWith, UnsignedTransaction: unsigned, Type: activity.TransactionTypeEthereum,
		},
	})
}

// WritePrivate writes a file that only its owner can read.
func WritePrivate(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
