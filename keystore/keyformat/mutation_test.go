package keyformat_test

import (
	"bytes"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// mutated is a valid file and its reader.
type mutated struct {
	file  []byte
	key   keyformat.Key
	parse func(file []byte) (keyformat.Key, error)

	// canonical returns the file in the form that is written, if that is unique; nil for
	// files whose encryption is randomized.
	canonical func(keyformat.Key) ([]byte, error)

	// bare: nothing in the file allows a change of the secret to be detected.
	bare bool
}

func mutable(t *testing.T) map[string]mutated {
	t.Helper()
	pkcs8 := func(file []byte) (keyformat.Key, error) { return keyformat.ParsePKCS8(file, []byte("foobar")) }
	all := map[string]mutated{
		"wif": {
			file: []byte(wifs[1].text),
			parse: func(file []byte) (keyformat.Key, error) {
				wif, err := keyformat.ParseWIF(file)
				return wif.Key, err
			},
			canonical: func(key keyformat.Key) ([]byte, error) { return keyformat.WIF{Key: key}.Format() },
		},
		"web3":                 {file: read(t, "web3", "geth.json"), parse: func(file []byte) (keyformat.Key, error) { return keyformat.ParseWeb3(file, []byte("foobar")) }},
		"pkcs8":                {file: read(t, "pkcs8", "rfc8410.pem"), parse: pkcs8, canonical: func(key keyformat.Key) ([]byte, error) { return key.PKCS8(nil) }, bare: true},
		"pkcs8 with attribute": {file: read(t, "pkcs8", "rfc8410_public.pem"), parse: pkcs8},
	}
	ed25519 := newKey(t, keystore.CurveEd25519, wikiSecret)
	file, err := ed25519.Solana()
	testenv.Must(t, err)
	all["solana"] = mutated{file: file, parse: keyformat.ParseSolana, canonical: keyformat.Key.Solana}
	secp256k1 := newKey(t, keystore.CurveSecp256k1, wikiSecret)
	if file, err = secp256k1.PKCS8(nil); err != nil {
		t.Fatal(err)
	}
	all["pkcs8 on secp256k1"] = mutated{file: file, parse: pkcs8, canonical: func(key keyformat.Key) ([]byte, error) { return key.PKCS8(nil) }}
	for name, c := range all {
		if c.key, err = c.parse(c.file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[name] = c
	}
	return all
}

// each calls back with every mutation of one byte of a file. In a long file, only one bit of each
// byte is flipped.
func each(file []byte, do func(mutated []byte)) {
	for i := range file {
		for bit := range 8 {
			if flipped := bytes.Clone(file); len(file) < 300 || bit == i%8 {
				flipped[i] ^= 1 << bit
				do(flipped)
			}
		}
		do(append(bytes.Clone(file[:i]), file[i+1:]...))
		do(append(bytes.Clone(file[:i+1]), file[i:]...))
		do(append(append(bytes.Clone(file[:i]), 0), file[i:]...))
		do(bytes.Clone(file[:i]))
	}
	do(append(bytes.Clone(file), 0))
}

// TestMutations: a mutation that is accepted must give the same key, if the format allows
// changes to be detected. If the format has a unique form, only white space may differ.
func TestMutations(t *testing.T) {
	for name, c := range mutable(t) {
		t.Run(name, func(t *testing.T) {
			accepted := 0
			each(c.file, func(mutated []byte) {
				key, err := c.parse(mutated)
				if err != nil {
					return
				}
				accepted++
				if same := key.Curve == c.key.Curve && bytes.Equal(key.Secret, c.key.Secret); !same && !c.bare {
					t.Fatalf("read another key from\n%q", mutated)
				}
				if c.canonical == nil {
					return
				}
				again, err := c.canonical(key)
				if err != nil || !bytes.Equal(squeeze(again), squeeze(mutated)) {
					t.Fatalf("accepted, but written as\n%q:\n%q, %v", again, mutated, err)
				}
			})
			t.Logf("%d mutations accepted", accepted)
		})
	}
}

// squeeze removes white space.
func squeeze(text []byte) []byte { return bytes.Join(bytes.Fields(text), nil) }
