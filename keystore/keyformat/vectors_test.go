package keyformat_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

func read(t testing.TB, elem ...string) []byte {
	t.Helper()
	content := testenv.Read(t, filepath.Join(append([]string{"testdata"}, elem...)...))
	return content
}

func newKey(t testing.TB, curve keystore.Curve, secret string) keyformat.Key {
	t.Helper()
	key, err := keyformat.NewKey(curve, testenv.Hex(t, secret))
	testenv.Must(t, err)
	return key
}

// is checks that this key was read.
func is(t testing.TB, key keyformat.Key, err error, want keyformat.Key) {
	t.Helper()
	if err != nil || key.Curve != want.Curve || !bytes.Equal(key.Secret, want.Secret) || key.PublicKey != want.PublicKey {
		t.Errorf("read %v %x, %v, want %v %x", key.Curve, []byte(key.Secret), err, want.Curve, []byte(want.Secret))
	}
}

// The key on the Bitcoin wiki's page about the wallet import format.
const wikiSecret = "0c28fca386c7a227600b2fe50b7cae11ec86d3bf1fbe471be89827e19d72aa1d"

var wifs = []struct {
	text, secret              string
	testNetwork, uncompressed bool
}{
	{"5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", wikiSecret, false, true},
	{"KwdMAjGmerYanjeui5SHS7JkmpZvVipYvB2LJGU1ZxJwYvP98617", wikiSecret, false, false},
	// btcutil's own
	{"cV1Y7ARUr9Yx7BR55nTdnR7ZXNJphZtCCMBTEZBJe1hXt2kB684q", "dda35a1488fb97b6eb3fe6e9ef2a25814e396fb5dc295fe994b96789b21a0398", true, false},
}

func TestWIF(t *testing.T) {
	for _, v := range wifs {
		wif, err := keyformat.ParseWIF([]byte(v.text))
		is(t, wif.Key, err, newKey(t, keystore.CurveSecp256k1, v.secret))
		if wif.TestNetwork != v.testNetwork || wif.Uncompressed != v.uncompressed {
			t.Errorf("%s: test network %v, uncompressed %v", v.text, wif.TestNetwork, wif.Uncompressed)
		}
		if text, err := wif.Format(); err != nil || string(text) != v.text {
			t.Errorf("written %s, %v, want %s", text, err, v.text)
		}
		oracle, err := btcutil.DecodeWIF(v.text)
		if err != nil || hex.EncodeToString(oracle.PrivKey.Serialize()) != v.secret || oracle.CompressPubKey == v.uncompressed {
			t.Errorf("btcutil reads %s as %v, %v", v.text, oracle, err)
		}
	}
}

func TestHex(t *testing.T) {
	want := newKey(t, keystore.CurveSecp256k1, wikiSecret)
	for _, text := range []string{wikiSecret, strings.ToUpper(wikiSecret), "0x" + wikiSecret} {
		key, err := keyformat.ParseHex(keystore.CurveSecp256k1, []byte(text))
		is(t, key, err, want)
	}
	if text := want.Hex(); string(text) != wikiSecret {
		t.Errorf("written %s", text)
	}
}

// TestSolana compares keypair files with solana-go.
func TestSolana(t *testing.T) {
	for range 20 {
		pair, err := solana.NewRandomPrivateKey()
		testenv.Must(t, err)
		file := []byte("[" + strings.Trim(strings.ReplaceAll(fmt.Sprint([]byte(pair)), " ", ","), "[]") + "]")
		want := newKey(t, keystore.CurveEd25519, hex.EncodeToString(pair[:32]))
		key, err := keyformat.ParseSolana(file)
		is(t, key, err, want)
		text, err := key.Solana()
		if err != nil || !bytes.Equal(text, file) {
			t.Errorf("written %s, %v, want %s", text, err, file)
		}
		again, err := solana.PrivateKeyFromSolanaKeygenFileBytes(text)
		if err != nil || !bytes.Equal(again, pair) {
			t.Errorf("solana-go reads it as %v, %v", again, err)
		}
		spaced := bytes.ReplaceAll(append(file, '\n'), []byte(","), []byte(" ,\n "))
		key, err = keyformat.ParseSolana(spaced)
		is(t, key, err, want)
	}
}

// web3Vectors returns geth's test vectors by name.
func web3Vectors(t testing.TB) map[string]web3Vector {
	t.Helper()
	var vectors map[string]web3Vector
	if err := json.Unmarshal(read(t, "web3", "vectors.json"), &vectors); err != nil || len(vectors) != 4 {
		t.Fatalf("%d vectors, %v", len(vectors), err)
	}
	return vectors
}

type web3Vector struct {
	JSON           json.RawMessage
	Password, Priv string
}

func TestWeb3(t *testing.T) {
	testenv.Slow(t)
	for name, v := range web3Vectors(t) {
		t.Run(name, func(t *testing.T) {
			key, err := keyformat.ParseWeb3(v.JSON, []byte(v.Password))
			is(t, key, err, newKey(t, keystore.CurveSecp256k1, strings.Repeat("0", 64-len(v.Priv))+v.Priv))
		})
	}
	t.Run("geth", func(t *testing.T) {
		// The file would be refused unless its address matched the secret.
		key, err := keyformat.ParseWeb3(read(t, "web3", "geth.json"), []byte("foobar"))
		testenv.Must(t, err)
		if at := keystore.Locators(key.PublicKey)[0]; at != keystore.ByKeccak([20]byte(testenv.Hex(t, "f466859ead1932d743d622cb74fc058882e8648a"))) {
			t.Errorf("the key is found at %v", at)
		}
	})
}

func TestWeb3Written(t *testing.T) {
	want := newKey(t, keystore.CurveSecp256k1, wikiSecret)
	file, err := want.Web3([]byte("correct horse"), keyformat.Cost{LogN: 4})
	testenv.Must(t, err)
	key, err := keyformat.ParseWeb3(file, []byte("correct horse"))
	is(t, key, err, want)
	if bytes.Contains(file, []byte(wikiSecret)) {
		t.Errorf("the secret is in the file: %s", file)
	}
}

// TestWeb3Tron reads a file whose address is in base58check, as java-tron's keystore and
// wallet-cli write it (org.tron.keystore.Wallet, encode58Check).
func TestWeb3Tron(t *testing.T) {
	want := newKey(t, keystore.CurveSecp256k1, wikiSecret)
	file, err := want.Web3([]byte("correct horse"), keyformat.Cost{LogN: 4})
	testenv.Must(t, err)
	own := want.PublicKey.KeccakAddress()
	written := regexp.MustCompile(`"address": ?"[^"]*"`).ReplaceAll(file, []byte(`"address":"`+base58.CheckEncode(own[:], 0x41)+`"`))
	if bytes.Equal(written, file) {
		t.Fatalf("no address in %s", file)
	}
	key, err := keyformat.ParseWeb3(written, []byte("correct horse"))
	is(t, key, err, want)
}

// TestWeb3Normalized opens files whose password was normalized before it was used, as ethers
// does (NFKC), and one that was not, as geth does, with the password as a keyboard sends it.
func TestWeb3Normalized(t *testing.T) {
	want := newKey(t, keystore.CurveSecp256k1, wikiSecret)
	for typed, written := range map[string]string{
		"pa\u00bdss\uff21": "pa1\u20442ssA", // ½, full-width A: NFKC
		"o\ufb03ce":        "office",        // a ligature: NFKC
		"pa\u0308":         "p\u00e4",       // a and a diaeresis, as macOS types: NFC
		"p\u00e4\uff21":    "p\u00e4\uff21", // geth: the bytes as they are
	} {
		file, err := want.Web3([]byte(written), keyformat.Cost{LogN: 4})
		testenv.Must(t, err)
		key, err := keyformat.ParseWeb3(file, []byte(typed))
		is(t, key, err, want)
		if _, err := keyformat.ParseWeb3(file, []byte(typed+"x")); !errors.Is(err, keyformat.ErrPassword) {
			t.Errorf("%q: %v", typed+"x", err)
		}
	}
}

func TestPKCS8(t *testing.T) {
	want := newKey(t, keystore.CurveEd25519, "d4ee72dbf913584ad5b6d8f1f769f8ad3afe7c28cbf1d4fbe097a88f44755842")
	for _, name := range []string{"rfc8410.pem", "rfc8410_public.pem"} {
		key, err := keyformat.ParsePKCS8(read(t, "pkcs8", name), nil)
		is(t, key, err, want)
	}
	if file, err := want.PKCS8(nil); err != nil || !bytes.Equal(file, read(t, "pkcs8", "rfc8410.pem")) {
		t.Errorf("written %s, %v", file, err)
	}
}

// TestDefaultCosts checks how slowly the password of a written file can be guessed.
func TestDefaultCosts(t *testing.T) {
	key := newKey(t, keystore.CurveSecp256k1, wikiSecret)
	web3, err := key.Web3([]byte("correct horse"), keyformat.Cost{})
	if err != nil || !bytes.Contains(web3, []byte(`"n":262144,"p":1,"r":8,`)) {
		t.Errorf("%s, %v; want scrypt with n = 2^18, r = 8", web3, err)
	}
	pkcs8, err := key.PKCS8([]byte("correct horse"))
	testenv.Must(t, err)
	block, _ := pem.Decode(pkcs8)
	if rounds := testenv.Hex(t, "02030927c0"); !bytes.Contains(block.Bytes, rounds) {
		t.Errorf("%x: no INTEGER 600000, the rounds of PBKDF2", block.Bytes)
	}
}

// openssl runs openssl and returns what it prints.
func openssl(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), testenv.Tool(t, "openssl"), args...)
	command.Stdin = bytes.NewReader(stdin)
	var talk bytes.Buffer
	command.Stderr = &talk
	out, err := command.Output()
	if err != nil {
		t.Fatalf("openssl %v: %v\n%s", args, err, talk.Bytes())
	}
	return out
}

// TestOpenSSLReads: openssl reads the written files, and writes the same.
func TestOpenSSLReads(t *testing.T) {
	testenv.Slow(t)
	for _, key := range []keyformat.Key{
		newKey(t, keystore.CurveSecp256k1, wikiSecret),
		newKey(t, keystore.CurveEd25519, wikiSecret),
	} {
		plain, err := key.PKCS8(nil)
		testenv.Must(t, err)
		if again := openssl(t, plain, "pkcs8", "-topk8", "-nocrypt"); !bytes.Equal(again, plain) {
			t.Errorf("%v: openssl writes\n%sand not\n%s", key.Curve, again, plain)
		}
		encrypted, err := key.PKCS8([]byte("pass word"))
		testenv.Must(t, err)
		if again := openssl(t, encrypted, "pkcs8", "-topk8", "-nocrypt", "-passin", "pass:pass word"); !bytes.Equal(again, plain) {
			t.Errorf("%v: openssl decrypts it to\n%s", key.Curve, again)
		}
		read, err := keyformat.ParsePKCS8(encrypted, []byte("pass word"))
		is(t, read, err, key)
	}
}

// TestOpenSSLWrites reads keys generated by openssl, with all its forms of AES encryption.
func TestOpenSSLWrites(t *testing.T) {
	testenv.Slow(t)
	for _, algorithm := range [][]string{
		{"-algorithm", "ED25519"},
		{"-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:secp256k1"},
	} {
		plain := openssl(t, nil, append([]string{"genpkey"}, algorithm...)...)
		want, err := keyformat.ParsePKCS8(plain, nil)
		if err != nil {
			t.Fatalf("%v: %v", algorithm, err)
		}
		for _, how := range [][]string{
			{},
			{"-v2", "aes-128-cbc"},
			{"-v2", "aes-192-cbc", "-v2prf", "hmacWithSHA1"},
			{"-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA384", "-iter", "10000"},
			{"-v2", "aes-256-cbc", "-v2prf", "hmacWithSHA512"},
			{"-scrypt"},
			{"-scrypt", "-scrypt_N", "1024", "-scrypt_r", "4", "-scrypt_p", "2"},
		} {
			args := append([]string{"pkcs8", "-topk8", "-passout", "pass:pass word"}, how...)
			key, err := keyformat.ParsePKCS8(openssl(t, plain, args...), []byte("pass word"))
			if err != nil {
				t.Errorf("openssl %v: %v", args, err)
				continue
			}
			is(t, key, err, want)
		}
	}
}
