package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// sealed is a file that the keystore itself might have made, and what it is
// refused with.
type sealed struct {
	wallet         bool
	metadata, text string
	problem        string
}

// TestSealedBadly: a MAC says who made a file, not that it was made well.
func TestSealedBadly(t *testing.T) {
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
		"words without newline":   {true, words, testWords, "not a mnemonic or an extended private key in a line"},
		"words without end":       {true, words, strings.Repeat("test ", 1000), "not a mnemonic or an extended private key in a line"},
		"no words":                {true, words, "\n", "extended private key"},
		"no extended key":         {true, words, masterKey + "x\n", "extended private key: the checksum is wrong"},
		"no key on Ed25519":       {true, words, masterKey + "\n", "those on Ed25519 are derived from the mnemonic"},
		"passphrase of no words":  {true, words, masterKey + "\npass word\n", "a second line behind an extended private key"},
		"wrong words":             {true, words, strings.Replace(testWords, "junk", "test", 1) + "\n", "mnemonic"},
		"passphrase without end":  {true, words, testWords + "\npass word", "does not end behind a mnemonic and a passphrase"},
		"empty passphrase":        {true, words, testWords + "\n\n", "does not end behind a mnemonic and a passphrase"},
		"more than a passphrase":  {true, words, testWords + "\npass word\n\n", "does not end behind a mnemonic and a passphrase"},
	} {
		err := read(file.Seal(t, x.dir, passphrase, s.wallet, s.metadata, s.text))
		if err == nil || !strings.Contains(err.Error(), s.problem) || strings.Contains(err.Error(), "0101") || strings.Contains(err.Error(), "test test") {
			t.Errorf("%s: %v, want %q and no secret", name, err, s.problem)
		}
	}
}

// TestWalletOverAKey: a wallet's account is a key of the keystore already, of
// another id.
func TestWalletOverAKey(t *testing.T) {
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

// TestTooLarge: a file that is longer than any that is written is not read.
func TestTooLarge(t *testing.T) {
	x := newAttacked(t)
	must(t, os.Truncate(x.path(x.a.ID), 1<<20))
	x.mustRefuse(t, x.a.ID+".age", file.ErrMalformed)
}

// TestOpenWithOptionsThatCannotBe is told before anything is read.
func TestOpenWithOptionsThatCannotBe(t *testing.T) {
	options := fast
	options.MaxWorkFactor = 31
	if _, err := file.Open(t.Context(), filepath.Join(t.TempDir(), "missing"), passphrase, options); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("opened with %v, want the option refused", err)
	}
}

// TestSameKeyTwice: of two files with the same key the younger is refused.
func TestSameKeyTwice(t *testing.T) {
	x := newAttacked(t)
	identity, _ := x.identity(t)
	own := x.read(t, x.a.ID)
	other := strings.Replace(metadataOf(t, own), x.a.ID, stranger, 1)
	x.write(t, stranger, file.Seal(t, x.dir, passphrase, false, other, decrypt(t, own, identity)))
	x.mustRefuse(t, stranger+".age", keystore.ErrKeyExists)
	if _, err := file.Open(t.Context(), x.dir, passphrase, fast); !strings.Contains(err.Error(), "the same key as "+x.a.ID+".age: move one of them away") {
		t.Errorf("it does not say which: %v", err)
	}
}
