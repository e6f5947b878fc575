package file_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// sealed is a file with a valid MAC and bad content, and the error that refuses it.
type sealed struct {
	wallet         bool
	metadata, text string
	problem        string
}

// TestMalformedContent: a valid MAC authenticates the author of a file, not its format.
func TestMalformedContent(t *testing.T) {
	x, w := attackedWallet(t)
	key := metadataOf(t, x.read(t, x.a.ID))
	words := walletMetadataOf(t, x.read(t, w.ID))
	const digits = "0101010101010101010101010101010101010101010101010101010101010101"
	read := file.KeyFileReader(t, x.dir, passphrase)
	for name, s := range map[string]sealed{
		"no newline":              {false, key, digits, "not 64 hexadecimal digits and a newline"},
		"a digit short":           {false, key, digits[1:] + "\n", "not 64 hexadecimal digits and a newline"},
		"a space for the newline": {false, key, digits + " ", "not 64 hexadecimal digits and a newline"},
		"more behind it":          {false, key, digits + "\n\n", "not 64 hexadecimal digits and a newline"},
		"empty":                   {false, key, "", "not 64 hexadecimal digits and a newline"},
		"no digit":                {false, key, "g" + digits[1:] + "\n", "not in lower-case hexadecimal digits"},
		"upper case":              {false, key, strings.ReplaceAll(digits, "0", "A") + "\n", "not in lower-case hexadecimal digits"},
		"no scalar":               {false, key, strings.Repeat("0", 64) + "\n", "group order"},
		"metadata of no key":      {false, "{}", digits + "\n", "metadata"},
		"metadata of no wallet":   {true, key, testWords + "\n", "metadata"},
		"words without newline":   {true, words, testWords, "not one line with a mnemonic or an extended private key"},
		"words without end":       {true, words, strings.Repeat("test ", 1000), "not one line with a mnemonic or an extended private key"},
		"no words":                {true, words, "\n", "extended private key"},
		"no extended key":         {true, words, masterKey + "x\n", "extended private key: the checksum is wrong"},
		"no key on Ed25519":       {true, words, masterKey + "\n", "keys on Ed25519 are derived from the mnemonic"},
		"passphrase of no words":  {true, words, masterKey + "\npass word\n", "a second line after an extended private key"},
		"wrong words":             {true, words, strings.Replace(testWords, "junk", "test", 1) + "\n", "mnemonic"},
		"passphrase without end":  {true, words, testWords + "\npass word", "not a mnemonic and a passphrase, one line each"},
		"empty passphrase":        {true, words, testWords + "\n\n", "not a mnemonic and a passphrase, one line each"},
		"more than a passphrase":  {true, words, testWords + "\npass word\n\n", "not a mnemonic and a passphrase, one line each"},
	} {
		err := read(file.Seal(t, x.dir, passphrase, s.wallet, s.metadata, s.text))
		if err == nil || !strings.Contains(err.Error(), s.problem) || strings.Contains(err.Error(), "0101") || strings.Contains(err.Error(), "test test") {
			t.Errorf("%s: %v, want %q and no secret", name, err, s.problem)
		}
	}
}

// TestWalletAccountIsAKey: an account of a wallet is a key of the keystore already, with
// another id.
func TestWalletAccountIsAKey(t *testing.T) {
	x, w := attackedWallet(t)
	content := x.read(t, w.ID)
	metadata := walletMetadataOf(t, content)
	other := strings.Replace(strings.Replace(metadata, w.ID, stranger, 1), w.Accounts[0].ID, "11111111-2222-4333-8444-666666666666", 1)
	x.write(t, stranger, file.Seal(t, x.dir, passphrase, true, other, testWords+"\n"))
	_, err := file.Open(t.Context(), x.dir, passphrase, fast)
	if !errors.Is(err, keystore.ErrKeyExists) || !strings.Contains(err.Error(), "move one of them away") {
		t.Errorf("opened with %v, want ErrKeyExists", err)
	}
}

// TestTooLarge: a file longer than any this package writes is not read.
func TestTooLarge(t *testing.T) {
	x := newAttacked(t)
	testenv.Must(t, os.Truncate(x.path(x.a.ID), 1<<20))
	x.mustRefuse(t, x.a.ID+".age", file.ErrMalformed)
}

// TestDuplicateKeyFiles: of two files with the same key, the newer one is refused.
func TestDuplicateKeyFiles(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	own := x.read(t, x.a.ID)
	other := strings.Replace(metadataOf(t, own), x.a.ID, stranger, 1)
	x.write(t, stranger, file.Seal(t, x.dir, passphrase, false, other, decrypt(t, own, identity)))
	x.mustRefuse(t, stranger+".age", keystore.ErrKeyExists)
	if _, err := file.Open(t.Context(), x.dir, passphrase, fast); !strings.Contains(err.Error(), "the same key as "+x.a.ID+".age: move one of them away") {
		t.Errorf("the error does not name the other file: %v", err)
	}
}
