package wallet

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// The account of BIP-84's test vector, as published and in BIP-32's form, and its origin.
const (
	zprv84   = "zprvAdG4iTXWBoARxkkzNpNh8r6Qag3irQB8PzEMkAFeTRXxHpbF9z4QgEvBRmfvqWvGp42t42nvgGpNgYSJA9iefm1yYNZKEm7z6qUWCroSQnE"
	origin84 = "[73c5da0a/84h/0h/0h]"
)

// fromWords returns the root of BIP-84's test vector.
func fromWords(t testing.TB) *Root {
	t.Helper()
	root, err := FromMnemonic([]byte(strings.Repeat("abandon ", 11)+"about"), nil)
	testenv.Must(t, err)
	return root
}

func mustParse(t testing.TB, text string) *Root {
	t.Helper()
	root, err := ParseExtendedKey([]byte(text))
	testenv.Must(t, err)
	return root
}

func path(t testing.TB, text string) Path {
	t.Helper()
	parsed, err := ParsePath(text)
	testenv.Must(t, err)
	return parsed
}

// TestExtendedKeyVectors reads each private key of BIP-32's vectors, and derives from it the other
// vectors of its seed that are below it.
func TestExtendedKeyVectors(t *testing.T) {
	var file struct {
		Vectors []struct{ Seed, Path, Public, Private string }
	}
	read(t, "bip32.json", &file)
	for _, v := range file.Vectors {
		whole := fromSeed(t, v.Seed)
		at := path(t, v.Path)
		text := v.Private
		if len(at) > 0 {
			text = whole.origin(at) + text
			if _, err := ParseExtendedKey([]byte(v.Private)); !errors.Is(err, ErrExtendedKey) || !strings.Contains(err.Error(), "write its origin before it") {
				t.Errorf("%s without an origin: %v", v.Path, err)
			}
		}
		root := mustParse(t, text)
		if again, err := root.ExtendedKey(at); err != nil || string(again) != text || root.Fingerprint() != whole.Fingerprint() {
			t.Errorf("%s: written %s, %v", text, again, err)
		}
		for _, other := range file.Vectors {
			below := path(t, other.Path)
			if other.Seed != v.Seed {
				continue
			}
			got, err := root.ExtendedKey(below)
			if !strings.HasPrefix(other.Path+"/", v.Path+"/") {
				if !errors.Is(err, ErrPath) || !strings.Contains(err.Error(), "it is not below "+v.Path) {
					t.Errorf("%s from %s: %s, %v", other.Path, v.Path, got, err)
				}
				continue
			}
			if err != nil || !strings.HasSuffix(string(got), other.Private) {
				t.Errorf("%s from %s: %s, %v", other.Path, v.Path, got, err)
			}
		}
	}
}

// TestExtendedKeyInvalid: test vector 5 of BIP-32.
func TestExtendedKeyInvalid(t *testing.T) {
	var file struct {
		Vectors []struct{ Key, Reason, Want string }
	}
	read(t, "bip32_invalid.json", &file)
	if len(file.Vectors) != 16 {
		t.Fatalf("%d vectors, want 16", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		_, err := ParseExtendedKey([]byte(v.Key))
		if !errors.Is(err, ErrExtendedKey) || !strings.Contains(err.Error(), v.Want) || strings.Contains(err.Error(), v.Key[8:]) {
			t.Errorf("%s: %v, want %q", v.Reason, err, v.Want)
		}
	}
}

// TestSLIP132: the zprv… keys published in BIP-84 are the same keys.
func TestSLIP132(t *testing.T) {
	master := mustParse(t, "zprvAWgYBBk7JR8Gjrh4UJQ2uJdG1r3WNRRfURiABBE3RvMXYSrRJL62XuezvGdPvG6GFBZduosCc1YP5wixPox7zhZLfiUm8aunE96BBa4Kei5")
	words := fromWords(t)
	for _, at := range []string{"m", "m/84'/0'/0'", "m/84'/0'/0'/1/5"} {
		want, err := words.ExtendedKey(path(t, at))
		testenv.Must(t, err)
		if got, err := master.ExtendedKey(path(t, at)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %s, %v, want %s", at, got, err, want)
		}
	}
	for _, text := range []string{origin84 + zprv84, strings.ReplaceAll(origin84, "h", "'") + zprv84} {
		account := mustParse(t, text)
		want, _ := words.ExtendedKey(path(t, "m/84'/0'/0'"))
		if got, err := account.ExtendedKey(account.Path()); err != nil || !bytes.Equal(got, want) || !strings.HasPrefix(string(got), origin84+"xprv") {
			t.Errorf("the account is written %s, %v, want %s", got, err, want)
		}
	}
}

// reversion returns an extended key with other version bytes.
func reversion(t *testing.T, text string, version ...byte) string {
	t.Helper()
	payload, _, err := base58.CheckDecode(text)
	testenv.Must(t, err)
	return base58.CheckEncode(append(bytes.Clone(version[1:]), payload[3:]...), version[0])
}

func TestExtendedKeyRefused(t *testing.T) {
	xprv := reversion(t, zprv84, 0x04, 0x88, 0xad, 0xe4)
	master, err := fromWords(t).ExtendedKey(nil)
	testenv.Must(t, err)
	first, err := fromWords(t).ExtendedKey(path(t, "m/0'"))
	testenv.Must(t, err)
	for name, c := range map[string]struct{ text, want string }{
		"nothing":             {"", "it is empty"},
		"words":               {"legal winner thank year", "not base58check"},
		"too long":            {strings.Repeat("x", maxExtendedKey+1), "321 bytes, the limit is 320"},
		"a WIF":               {"KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617", "34 bytes in base58check, want 78"},
		"a descriptor":        {"wpkh(" + origin84 + xprv + "/0/*)", "this is an output descriptor"},
		"a path behind it":    {origin84 + xprv + "/0", "the key is followed by a path"},
		"no closing bracket":  {strings.Replace(origin84, "]", "", 1) + xprv, "] is missing"},
		"an empty origin":     {"[]" + xprv, "8 lower-case hex digits"},
		"a short fingerprint": {"[73c5da/84h/0h/0h]" + xprv, "8 lower-case hex digits"},
		"upper-case hex":      {"[73C5DA0A/84h/0h/0h]" + xprv, "8 lower-case hex digits"},
		"an empty step":       {"[73c5da0a/84h/0h/]" + xprv, "step 3"},
		"another index":       {"[73c5da0a/84h/0h/1h]" + xprv, "the key is child 0' of its parent, but its origin ends with 1'"},
		"not hardened":        {"[73c5da0a/84h/0h/0]" + xprv, "the key is child 0' of its parent, but its origin ends with 0"},
		"a shorter path":      {"[73c5da0a/0h]" + xprv, "the key has depth 3, but its origin has a path of 1 steps"},
		"no path":             {"[73c5da0a]" + xprv, "the key has depth 3, but its origin has a path of 0 steps"},
		"another purpose":     {"[73c5da0a/86h/0h/0h]" + zprv84, "zprv… has purpose 84' (SLIP-132), but its origin has 86'"},
		"another master":      {"[00000000]" + string(master), "the key is the master key 73c5da0a"},
		"a path of a master":  {origin84 + string(master), "the key is a master key (depth 0), but its origin has a path of 3 steps"},
		"another parent":      {"[00000000" + string(first[9:]), "the key's parent is the master key 73c5da0a"},
		"multi-signature":     {reversion(t, xprv, 0x02, 0xaa, 0x7a, 0x99), "Zprv… is a key of a multisig wallet"},
		"a public key":        {reversion(t, xprv, 0x04, 0xb2, 0x47, 0x46), "zpub… is an extended public key"},
		"a space":             {" " + string(master), "not base58check"},
	} {
		_, err := ParseExtendedKey([]byte(c.text))
		if !errors.Is(err, ErrExtendedKey) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), xprv[8:]) || strings.Contains(err.Error(), "legal")) {
			t.Errorf("%s: the error repeats the secret: %v", name, err)
		}
	}
}

// TestRootRefusesEd25519: an extended private key (BIP-32) has no keys on Ed25519.
func TestRootRefusesEd25519(t *testing.T) {
	master, err := fromWords(t).ExtendedKey(nil)
	testenv.Must(t, err)
	root := mustParse(t, string(master))
	if secret, err := root.Derive(keystore.CurveEd25519, path(t, "m/44'/501'/0'/0'")); !errors.Is(err, ErrPath) || !strings.Contains(err.Error(), "derived from the mnemonic") {
		t.Errorf("%x, %v", secret, err)
	}
	if _, err := root.Watch(path(t, "m/84'/0'/0'")); err != nil {
		t.Error(err)
	}
	if _, err := mustParse(t, origin84+zprv84).Watch(path(t, "m/86'/0'/0'")); !errors.Is(err, ErrPath) {
		t.Errorf("the public side of another account: %v", err)
	}
}

// TestDeriveLeavesRootAlone: overwriting derived keys must not overwrite the root.
func TestDeriveLeavesRootAlone(t *testing.T) {
	for _, root := range []*Root{fromWords(t), mustParse(t, origin84+zprv84)} {
		at := root.Path()
		before, err := root.ExtendedKey(at)
		testenv.Must(t, err)
		for range 2 {
			if _, err := root.Derive(keystore.CurveSecp256k1, at); err != nil {
				t.Fatal(err)
			}
			if again, err := root.ExtendedKey(at); err != nil || !bytes.Equal(again, before) {
				t.Fatalf("now %s, %v", again, err)
			}
		}
	}
}

func TestUsualAccountsOfExtendedKeys(t *testing.T) {
	words := fromWords(t)
	tprv, err := words.ExtendedKey(nil)
	testenv.Must(t, err)
	for text, want := range map[string]string{
		string(tprv): "m/44'/60'/0'/0/0 m/44'/195'/0'/0/0 m/44'/0'/0'/0/0 m/49'/0'/0'/0/0 m/84'/0'/0'/0/0 m/86'/0'/0'/0/0",
		reversion(t, string(tprv), 0x04, 0x35, 0x83, 0x94): "m/44'/1'/0'/0/0 m/49'/1'/0'/0/0 m/84'/1'/0'/0/0 m/86'/1'/0'/0/0",
		"m/84'/0'/0'":     "m/84'/0'/0'/0/0",
		"m/84'/1'/0'":     "m/84'/1'/0'/0/0",
		"m/86'/0'/7'":     "m/86'/0'/7'/0/0",
		"m/44'":           "m/44'/60'/0'/0/0 m/44'/195'/0'/0/0 m/44'/0'/0'/0/0",
		"m/0'":            "m/0'/0/0",
		"m/84'/0'/0'/1":   "m/84'/0'/0'/1/0",
		"m/84'/0'/0'/1/9": "m/84'/0'/0'/1/9",
		"m/1/2/3/4/5/6":   "m/1/2/3/4/5/6",
	} {
		if strings.HasPrefix(text, "m") {
			extended, err := words.ExtendedKey(path(t, text))
			testenv.Must(t, err)
			text = string(extended)
		}
		var got []string
		for _, account := range mustParse(t, text).UsualAccounts() {
			got = append(got, account.Path.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
