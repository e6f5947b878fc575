package fuzz

import (
	"bytes"
	"cmp"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// keyformatSeeds returns a key on each curve.
func keyformatSeeds(f *testing.F) (secp256k1, ed25519 keyformat.Key) {
	f.Helper()
	secret := bytes.Repeat([]byte{7}, keystore.SecretSize)
	secp256k1, err := keyformat.NewKey(keystore.CurveSecp256k1, secret)
	testenv.Must(f, err)
	ed25519, err = keyformat.NewKey(keystore.CurveEd25519, secret)
	testenv.Must(f, err)
	return secp256k1, ed25519
}

// FuzzKeyformatWIF checks that what is accepted is written back unchanged, and is the
// same key to btcutil.
func FuzzKeyformatWIF(f *testing.F) {
	key, _ := keyformatSeeds(f)
	for _, wif := range []keyformat.WIF{{Key: key}, {Key: key, TestNetwork: true}, {Key: key, Uncompressed: true}} {
		text, err := wif.Format()
		testenv.Must(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		wif, err := keyformat.ParseWIF([]byte(text))
		if err != nil {
			return
		}
		if again, err := wif.Format(); err != nil || string(again) != text {
			t.Errorf("%q is written %q, %v", text, again, err)
		}
		oracle, err := btcutil.DecodeWIF(text)
		if err != nil || !bytes.Equal(oracle.PrivKey.Serialize(), wif.Key.Secret) || oracle.CompressPubKey == wif.Uncompressed {
			t.Errorf("%q: btcutil reads %v, %v", text, oracle, err)
		}
	})
}

// FuzzKeyformatSolana checks that what is accepted is the same key to solana-go.
func FuzzKeyformatSolana(f *testing.F) {
	_, key := keyformatSeeds(f)
	text, err := key.Solana()
	testenv.Must(f, err)
	f.Add(text)
	f.Add(bytes.ReplaceAll(text, []byte(","), []byte(" ,\n")))
	f.Add([]byte("[1,2,3]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := keyformat.ParseSolana(text)
		if err != nil {
			return
		}
		pair, err := solana.PrivateKeyFromSolanaKeygenFileBytes(text)
		if err != nil || !bytes.Equal(pair[:32], key.Secret) {
			t.Errorf("%q: solana-go reads another key, %v", text, err)
		}
		again, err := key.Solana()
		squeezed := bytes.Join(bytes.Fields(text), nil)
		if err != nil || !bytes.Equal(again, squeezed) {
			t.Errorf("%q is written %q, %v", text, again, err)
		}
	})
}

// FuzzKeyformatPKCS8 reads the DER of unencrypted keys and checks that what is
// accepted contains the key that is written back.
func FuzzKeyformatPKCS8(f *testing.F) {
	secp256k1, ed25519 := keyformatSeeds(f)
	for _, key := range []keyformat.Key{secp256k1, ed25519} {
		file, err := key.PKCS8(nil)
		testenv.Must(f, err)
		block, _ := pem.Decode(file)
		f.Add(block.Bytes)
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		key, err := keyformat.ParsePKCS8(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil)
		if err != nil {
			return
		}
		file, err := key.PKCS8(nil)
		testenv.Must(t, err)
		again, err := keyformat.ParsePKCS8(file, nil)
		if err != nil || !bytes.Equal(again.Secret, key.Secret) || !bytes.Contains(der, key.Secret) {
			t.Errorf("%x: read again as another key, %v", der, err)
		}
	})
}

// FuzzKeyformatWeb3 reads Web3 Secret Storage files. It skips those whose password is
// expensive to try, which keeps the fuzzer fast; package keyformat tests that the
// cost is bounded.
func FuzzKeyformatWeb3(f *testing.F) {
	secp256k1, _ := keyformatSeeds(f)
	file, err := secp256k1.Web3([]byte("p"), keyformat.Cost{LogN: 1})
	testenv.Must(f, err)
	f.Add(file)
	address := file[:bytes.IndexByte(file, ',')+1] // {"address":"…",
	f.Add([]byte(`{"version":3,"crypto":{"kdf":"pbkdf2","kdfparams":{"c":1,"dklen":32,"prf":"hmac-sha256","salt":"00"}}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		if longNumber(file) {
			return
		}
		key, err := keyformat.ParseWeb3(file, []byte("p"))
		if err != nil {
			return
		}
		// The MAC fixes the ciphertext and, together with the address, the key.
		// Without an address, any iv is accepted.
		if bytes.HasPrefix(file, address) && !bytes.Equal(key.Secret, secp256k1.Secret) {
			t.Errorf("another key is read from %q", file)
		}
		if len(key.Secret) != keystore.SecretSize || key.PublicKey.IsZero() {
			t.Errorf("%q is read as no key", file)
		}
	})
}

// longNumber reports whether there are four or more digits in a row outside of
// quotes.
func longNumber(text []byte) bool {
	quoted, run := false, 0
	for _, b := range text {
		if b == '"' {
			quoted = !quoted
		}
		if run++; quoted || b < '0' || b > '9' {
			run = 0
		}
		if run == 4 {
			return true
		}
	}
	return false
}

// FuzzWalletMnemonic checks that what is accepted is the mnemonic of one entropy.
func FuzzWalletMnemonic(f *testing.F) {
	f.Add("legal winner thank year wave sausage worth useful legal winner thank yellow")
	f.Add("zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo vote")
	f.Fuzz(func(t *testing.T, text string) {
		entropy, err := wallet.Entropy([]byte(text))
		if err != nil {
			return
		}
		words, err := wallet.Mnemonic(entropy)
		if err != nil || string(words) != strings.Join(strings.Fields(text), " ") {
			t.Errorf("%q is written %q, %v", text, words, err)
		}
	})
}

// FuzzWalletExtendedKey checks that what is accepted is written back unchanged,
// except for the mark of hardened steps and the version bytes of SLIP-132, and is the
// same key to btcutil.
func FuzzWalletExtendedKey(f *testing.F) {
	f.Add("xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi")
	f.Add("[3442193e/0']xprv9uHRZZhk6KAJC1avXpDAp4MDc3sQKNxDiPvvkX8Br5ngLNv1TxvUxt4cV1rGL5hj6KCesnDYUhd7oWgT11eZG7XnxHrnYeSvkzY7d2bhkJ7")
	f.Add("[73c5da0a/84h/0h/0h]zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE")
	f.Fuzz(func(t *testing.T, text string) {
		root, err := wallet.ParseExtendedKey([]byte(text))
		if err != nil {
			return
		}
		defer root.Wipe()
		written, err := root.ExtendedKey(root.Path())
		testenv.Must(t, err)
		again, err := wallet.ParseExtendedKey(written)
		if err != nil {
			t.Fatalf("%q is written %q: %v", text, written, err)
		}
		defer again.Wipe()
		_, key, _ := strings.Cut(text, "]")
		theirs, err := hdkeychain.NewKeyFromString(cmp.Or(key, text))
		if err != nil {
			t.Fatalf("%q is read, btcutil says %v", text, err)
		}
		secret, err := theirs.ECPrivKey()
		testenv.Must(t, err)
		for _, read := range []*wallet.Root{root, again} {
			ours, err := read.Derive(keystore.CurveSecp256k1, read.Path())
			if err != nil || !bytes.Equal(ours, secret.Serialize()) {
				t.Errorf("%q gives another key, %v", text, err)
			}
		}
	})
}

// FuzzWalletPath checks that what is accepted is written back unchanged, except for
// the mark of hardened steps, and always derives the same key.
func FuzzWalletPath(f *testing.F) {
	for _, account := range wallet.UsualAccounts() {
		f.Add(account.Path.String())
	}
	f.Add("m")
	f.Add("m/0h/2147483647")
	root, err := wallet.FromSeed(bytes.Repeat([]byte{1}, wallet.SeedSize))
	testenv.Must(f, err)
	f.Fuzz(func(t *testing.T, text string) {
		path, err := wallet.ParsePath(text)
		if err != nil {
			return
		}
		if path.String() != strings.ReplaceAll(text, "h", "'") {
			t.Errorf("%q is written %v", text, path)
		}
		for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
			secret, err := root.Derive(curve, path)
			if err == nil && len(secret) != keystore.SecretSize {
				t.Errorf("%v on %v: %d bytes", path, curve, len(secret))
			}
		}
	})
}
