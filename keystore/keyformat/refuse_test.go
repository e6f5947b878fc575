package keyformat_test

import (
	"bytes"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keyformat"
)

// refused checks that a file was refused for this reason, with these words.
func refused(t *testing.T, key keyformat.Key, err error, reason error, words string) {
	t.Helper()
	if err == nil || reason != nil && !errors.Is(err, reason) || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, want %v with %q", err, reason, words)
	}
	if key.Secret != nil {
		t.Error("a secret is returned with the error")
	}
}

func TestWIFRefused(t *testing.T) {
	secret := testenv.Hex(t, wikiSecret)
	order := testenv.Hex(t, "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
	for _, c := range []struct {
		name, text string
		reason     error
		want       string
	}{
		{"empty", "", keyformat.ErrMalformed, "not base58check"},
		{"a character mistyped", "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTK", keyformat.ErrMalformed, "checksum"},
		{"no digit of base58", "5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyT0", keyformat.ErrMalformed, "not base58check"},
		{"white space", " 5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ"[:51], keyformat.ErrMalformed, "not base58check"},
		{"too long", strings.Repeat("1", 1<<20), keyformat.ErrMalformed, "1048576 characters, at most 52"},
		{"Electrum's form", "p2wpkh:L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1", keyformat.ErrMalformed, "Electrum's form with the kind of address, p2wpkh, in front: import the 52 characters"},
		{"BIP-38", "6PYNKZ1EAgYgmQfmNVamxyXVWHzK5s6DGhwP4J5o44cvXdoY7sRzhtpUeo", keyformat.ErrUnsupported, "a passphrase encrypts (BIP-38)"},
		{"an address", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", keyformat.ErrMalformed, "version byte 0x00"},
		{"short", base58.CheckEncode(secret[:31], 0x80), keyformat.ErrMalformed, "31 bytes, want 32"},
		{"another mark", base58.CheckEncode(append(secret[:32:32], 2), 0x80), keyformat.ErrMalformed, "byte 33 is 0x02"},
		{"zero", base58.CheckEncode(make([]byte, 32), 0x80), nil, "not between 1 and the group order"},
		{"the group order", base58.CheckEncode(order, 0x80), nil, "not between 1 and the group order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wif, err := keyformat.ParseWIF([]byte(c.text))
			refused(t, wif.Key, err, c.reason, c.want)
		})
	}
}

func TestSolanaRefused(t *testing.T) {
	key := newKey(t, keystore.CurveEd25519, wikiSecret)
	text, err := key.Solana()
	testenv.Must(t, err)
	good := string(text)
	for _, c := range []struct {
		name, text string
		reason     error
		want       string
	}{
		{"empty", "", keyformat.ErrMalformed, "at byte 0: expected an array of 64 numbers"},
		{"base58", "4Z7cXSyeFR8wNGMVXUE1TwtKn5D5Vu7FzEv69dokLv7KrQk7h6pu4LF8ZRR9yQBhc7uSM6RTTZtU1fmaxiNrxXrs", keyformat.ErrMalformed, "at byte 0: expected an array"},
		{"no numbers", "[]", keyformat.ErrMalformed, "at byte 1: number 1"},
		{"63 numbers", good[:strings.LastIndex(good, ",")] + "]", keyformat.ErrMalformed, "expected a comma after number 63"},
		{"65 numbers", good[:len(good)-1] + ",0]", keyformat.ErrMalformed, "expected a closing bracket after number 64"},
		{"the seed alone", "[" + strings.Repeat("1,", 31) + "1]", keyformat.ErrMalformed, "after number 32"},
		{"256", "[256" + good[3:], keyformat.ErrMalformed, "number 1 is not between 0 and 255"},
		{"a leading zero", "[0" + good[1:], keyformat.ErrMalformed, "number 1"},
		{"a negative number", "[-" + good[1:], keyformat.ErrMalformed, "number 1"},
		{"a fraction", strings.Replace(good, ",", ".0,", 1), keyformat.ErrMalformed, "expected a comma"},
		{"an exponent", strings.Replace(good, ",", "e0,", 1), keyformat.ErrMalformed, "expected a comma"},
		{"text behind it", good + "x", keyformat.ErrMalformed, "unexpected text after"},
		{"another public key", good[:strings.LastIndex(good, ",")] + ",0]", keyformat.ErrOtherKey, "the last 32 bytes"},
		{"another seed", "[13" + good[3:], keyformat.ErrOtherKey, "the last 32 bytes"},
		{"huge", "[" + strings.Repeat("0", 1<<20), keyformat.ErrMalformed, "number 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, err := keyformat.ParseSolana([]byte(c.text))
			refused(t, key, err, c.reason, c.want)
		})
	}
}

func TestWeb3Refused(t *testing.T) {
	good := string(read(t, "web3", "geth.json"))
	const password = "foobar"
	for _, c := range []struct {
		name, old, new string // text of the valid file to be replaced
		reason         error
		want           string
	}{
		{"scrypt with N 2^40", `"n":8`, `"n":1099511627776`, keyformat.ErrCost, "at byte 251: key derivation above the limit: scrypt with n=1099511627776 r=8"},
		{"scrypt with N 2^63", `"n":8`, `"n":9223372036854775808`, keyformat.ErrCost, "above the limit"},
		{"scrypt with N 2^20", `"n":8`, `"n":1048576`, keyformat.ErrCost, "more than 512 MiB"},
		{"scrypt with r 2^40", `"r":8`, `"r":1099511627776`, keyformat.ErrCost, "above the limit"},
		{"scrypt with p 2^40", `"p":16`, `"p":1099511627776`, keyformat.ErrCost, "above the limit"},
		{"scrypt with 2 GiB of r", `"n":8,"p":16,"r":8`, `"n":2,"p":4,"r":2097152`, keyformat.ErrCost, "r=2097152 p=4, the limit is 64"},
		{"scrypt with 1 GiB of p", `"n":8,"p":16,"r":8`, `"n":2,"p":8388608,"r":1`, keyformat.ErrCost, "r=1 p=8388608, the limit is 64"},
		{"scrypt whose product overflows", `"n":8,"p":16,"r":8`, `"n":4294967296,"p":4294967296,"r":4294967296`, keyformat.ErrCost, "above the limit"},
		{"scrypt with N 3", `"n":8`, `"n":3`, keyformat.ErrMalformed, "power of two"},
		{"scrypt with N 0", `"n":8`, `"n":0`, keyformat.ErrMalformed, "power of two"},
		{"scrypt with N 1", `"n":8`, `"n":1`, keyformat.ErrMalformed, "power of two"},
		{"scrypt with r 0", `"r":8`, `"r":0`, keyformat.ErrMalformed, "at least 1"},
		{"scrypt with p 0", `"p":16`, `"p":0`, keyformat.ErrMalformed, "at least 1"},
		{"negative N", `"n":8`, `"n":-8`, keyformat.ErrMalformed, "crypto.kdfparams.n at byte"},
		{"N as text", `"n":8`, `"n":"8"`, keyformat.ErrMalformed, "expected a natural number"},
		{"N with an exponent", `"n":8`, `"n":8e0`, keyformat.ErrMalformed, "expected a natural number"},
		{"N twice", `"n":8`, `"n":8,"n":1099511627776`, keyformat.ErrMalformed, `duplicate member "n"`},
		{"no N", `"n":8,`, ``, keyformat.ErrMalformed, "crypto.kdfparams.n at byte 251: missing"},
		{"N in upper case", `"n":8`, `"N":8`, keyformat.ErrMalformed, `unknown member "N"`},
		{"wrong MAC", `"mac":"bac9`, `"mac":"bac8`, keyformat.ErrPassword, "wrong password, or the file is damaged"},
		{"short MAC", `"mac":"bac9`, `"mac":"`, keyformat.ErrMalformed, "crypto.mac at byte 363: 30 bytes, want 32"},
		{"another ciphertext", `"ciphertext":"cb`, `"ciphertext":"cc`, keyformat.ErrPassword, "wrong password"},
		{"long ciphertext", `"ciphertext":"cb`, `"ciphertext":"cbcb`, keyformat.ErrMalformed, "33 bytes, want 1 to 32"},
		{"no ciphertext", `cb664472deacb41a2e995fa7f96fe29ce744471deb8d146a0e43c7898c9ddd4d`, ``, keyformat.ErrMalformed, "0 bytes"},
		{"another iv", `"iv":"df`, `"iv":"de`, keyformat.ErrOtherKey, "the file has the address f466859e"},
		{"short iv", `"iv":"df`, `"iv":"`, keyformat.ErrMalformed, "crypto.cipherparams.iv at byte 188: 15 bytes, want 16"},
		{"another address", `"address":"f4`, `"address":"f5`, keyformat.ErrOtherKey, "the file has the address f566859e"},
		{"no address at all", `"address":"f466859ead1932d743d622cb74fc058882e8648a"`, `"address":"f4"`, keyformat.ErrMalformed, "address at byte 11: expected 40 hex digits, or an address of Tron"},
		{"another address of Tron", `"address":"f466859ead1932d743d622cb74fc058882e8648a"`, `"address":"TJUrmx2EZDCLvtDmomux3WP5cwDf16dm24"`, keyformat.ErrOtherKey, "the file has the address TJUrmx2EZDCLvtDmomux3WP5cwDf16dm24, the secret T"},
		{"a mistyped address of Tron", `"address":"f466859ead1932d743d622cb74fc058882e8648a"`, `"address":"TJUrmx2EZDCLvtDmomux3WP5cwDf16dm25"`, keyformat.ErrMalformed, "an address of Tron"},
		{"a number for an address", `"address":"f466859ead1932d743d622cb74fc058882e8648a"`, `"address":7`, keyformat.ErrMalformed, "address at byte 11: expected a string without escapes"},
		{"version 1", `"version":3`, `"version":1`, keyformat.ErrUnsupported, "version 1 at byte 485"},
		{"geth before 2015", `"version":3`, `"version":"1"`, keyformat.ErrUnsupported, "version 1, which geth wrote until 2015, at byte 485"},
		{"version as text", `"version":3`, `"version":"3"`, keyformat.ErrMalformed, "version at byte 485: expected a natural number"},
		{"no version", `,"version":3`, ``, keyformat.ErrMalformed, "version at byte 0: missing"},
		{"another cipher", `aes-128-ctr`, `aes-128-cbc`, keyformat.ErrUnsupported, `cipher "aes-128-cbc" at byte`},
		{"another kdf", `"kdf":"scrypt"`, `"kdf":"argon2"`, keyformat.ErrUnsupported, `kdf "argon2" at byte`},
		{"short derived key", `"dklen":32`, `"dklen":16`, keyformat.ErrMalformed, "dklen at byte 260: 16 bytes, want 32"},
		{"long derived key", `"dklen":32`, `"dklen":4294967296`, keyformat.ErrMalformed, "dklen"},
		{"no salt", `0d6769bf016d45c479213990d6a08d938469c4adad8a02ce507b4a4e7b7739f1`, ``, keyformat.ErrMalformed, "crypto.kdfparams.salt"},
		{"long salt", `"salt":"`, `"salt":"` + strings.Repeat("00", 1024), keyformat.ErrMalformed, "1056 bytes, want 1 to 1024"},
		{"salt with 0x", `"salt":"`, `"salt":"0x`, keyformat.ErrMalformed, "without 0x"},
		{"an escape", `"kdf":"scrypt"`, `"kdf":"\u0073crypt"`, keyformat.ErrMalformed, "without escapes"},
		{"crypto twice", `"crypto":`, `"Crypto":{},"crypto":`, keyformat.ErrMalformed, "the file also has a member Crypto"},
		{"crypto that is none", `"crypto":{`, `"crypto":7,"x":{`, keyformat.ErrMalformed, "crypto at byte 63: expected a JSON object"},
		{"unknown member of crypto", `"cipher":`, `"x":1,"cipher":`, keyformat.ErrMalformed, `unknown member "x"`},
		{"two unknown members of crypto", `"cipher":`, `"y":1,"x":1,"cipher":`, keyformat.ErrMalformed, `unknown member "y"`},
		{"text behind it", `"version":3}`, `"version":3}}`, keyformat.ErrMalformed, "unexpected text after"},
		{"truncated", `3}`, `3`, keyformat.ErrMalformed, "does not end"},
		{"pbkdf2 with 10^12 rounds", `"scrypt","kdfparams":{"dklen":32,"n":8,"p":16,"r":8`, `"pbkdf2","kdfparams":{"dklen":32,"prf":"hmac-sha256","c":1000000000000`, keyformat.ErrCost, "1000000000000 rounds, the limit is 10000000"},
		{"pbkdf2 with 0 rounds", `"scrypt","kdfparams":{"dklen":32,"n":8,"p":16,"r":8`, `"pbkdf2","kdfparams":{"dklen":32,"prf":"hmac-sha256","c":0`, keyformat.ErrMalformed, "0 rounds"},
		{"pbkdf2 with md5", `"scrypt","kdfparams":{"dklen":32,"n":8,"p":16,"r":8`, `"pbkdf2","kdfparams":{"dklen":32,"prf":"hmac-md5","c":1`, keyformat.ErrUnsupported, `prf "hmac-md5"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Count(good, c.old) != 1 && c.name != "truncated" {
				t.Fatalf("%q is %d times in the file", c.old, strings.Count(good, c.old))
			}
			at := strings.LastIndex(good, c.old)
			key, err := keyformat.ParseWeb3([]byte(good[:at]+c.new+good[at+len(c.old):]), []byte(password))
			refused(t, key, err, c.reason, c.want)
		})
	}
	key, err := keyformat.ParseWeb3([]byte(good), []byte("foobaz"))
	refused(t, key, err, keyformat.ErrPassword, "web3: wrong password, or the file is damaged")
	for _, text := range []string{"", "[]", "null", "7", `"x"`, "{", "{]", `{"a"`, `{"a":}`, strings.Repeat("[", 60000), strings.Repeat(`{"a":`, 12000), strings.Repeat(" ", 1<<20)} {
		key, err := keyformat.ParseWeb3([]byte(text), nil)
		refused(t, key, err, keyformat.ErrMalformed, "web3: malformed")
	}
}

func inPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func TestPKCS8Refused(t *testing.T) {
	const (
		seed    = "302e020100300506032b657004220420" + wikiSecret
		ec      = "303e020100301006072a8648ce3d020106052b8104000a042730250201010420" + wikiSecret
		trailer = "0000"
	)
	for _, c := range []struct {
		name, der string
		reason    error
		want      string
	}{
		{"empty", "", keyformat.ErrMalformed, "PrivateKeyInfo at byte 0"},
		{"byte behind it", seed + "00", keyformat.ErrMalformed, "PrivateKeyInfo at byte 48: 1 bytes left over"},
		{"long form of a length", "30812e" + seed[4:], keyformat.ErrMalformed, "PrivateKeyInfo at byte 0"},
		{"indefinite length", "3080" + seed[4:] + trailer, keyformat.ErrMalformed, "PrivateKeyInfo at byte 0"},
		{"version 2", strings.Replace(seed, "020100", "020102", 1), keyformat.ErrMalformed, "version at byte 2: 2, want 0 or 1"},
		{"version 1 without a public key", strings.Replace(seed, "020100", "020101", 1), keyformat.ErrMalformed, "publicKey at byte 48"},
		{"X25519", strings.Replace(seed, "2b6570", "2b656e", 1), keyformat.ErrUnsupported, "the algorithm 1.3.101.110"},
		{"parameters of Ed25519", "3030020100300706032b6570050004220420" + wikiSecret, keyformat.ErrMalformed, "privateKeyAlgorithm at byte 12: 2 bytes left over"},
		{"31 bytes of seed", "302d020100300506032b65700421041f" + wikiSecret[2:], keyformat.ErrMalformed, "CurvePrivateKey at byte 16: 31 bytes, want 32"},
		{"byte behind the seed", "302f020100300506032b657004230420" + wikiSecret + "00", keyformat.ErrMalformed, "CurvePrivateKey at byte 48: 1 bytes left over"},
		{"public key in version 0", "3051020100300506032b657004220420" + wikiSecret + "812100" + wikiSecret, keyformat.ErrMalformed, "PrivateKeyInfo at byte 48: 35 bytes left over"},
		{"another public key", "3051020101300506032b657004220420" + wikiSecret + "812100" + "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1", keyformat.ErrOtherKey, "publicKey"},
		{"public key of odd bits", "3051020101300506032b657004220420" + wikiSecret + "812101" + "19bf44096984cdfe8541bac167dc3b96c85086aa30b6b6cb0c5c38ad703166e1", keyformat.ErrMalformed, "publicKey at byte 51: expected a string of whole bytes"},
		{"P-256", strings.Replace(ec, "301006072a8648ce3d020106052b8104000a", "301306072a8648ce3d020106082a8648ce3d030107", 1), keyformat.ErrMalformed, ""},
		{"another curve", strings.Replace(ec, "06052b8104000a", "06052b81040023", 1), keyformat.ErrUnsupported, "the curve 1.3.132.0.35"},
		{"version of ECPrivateKey", strings.Replace(ec, "30250201010420", "30250201020420", 1), keyformat.ErrMalformed, "ECPrivateKey.version at byte 27: 2, want 1"},
		{"31 bytes of scalar", "303d020100301006072a8648ce3d020106052b8104000a04263024020101041f" + wikiSecret[2:], keyformat.ErrMalformed, "ECPrivateKey.privateKey at byte 32: 31 bytes, want 32"},
		{"zero scalar", strings.Replace(ec, wikiSecret, strings.Repeat("00", 32), 1), nil, "not between 1 and the group order"},
		{"parameters cut off", "3045020100301006072a8648ce3d020106052b8104000a042e302c0201010420" + wikiSecret + "a00706052b8104", keyformat.ErrMalformed, "ECPrivateKey.parameters at byte 64: expected a DER element with tag 0xa0"},
		{"parameters of another curve", "3047020100301006072a8648ce3d020106052b8104000a0430302e0201010420" + wikiSecret + "a00706052b81040023", keyformat.ErrMalformed, "ECPrivateKey.parameters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, err := keyformat.ParsePKCS8(inPEM("PRIVATE KEY", testenv.Hex(t, c.der)), nil)
			refused(t, key, err, c.reason, c.want)
		})
	}
	key, err := keyformat.ParsePKCS8(inPEM("PRIVATE KEY", testenv.Hex(t, ec)), nil)
	is(t, key, err, newKey(t, keystore.CurveSecp256k1, wikiSecret))
}

func TestPEMRefused(t *testing.T) {
	good := string(read(t, "pkcs8", "rfc8410.pem"))
	for _, c := range []struct {
		name, text string
		reason     error
		want       string
	}{
		{"empty", "", keyformat.ErrMalformed, "expected a PEM block, -----BEGIN PRIVATE KEY-----, at byte 0"},
		{"text before it", "Bag Attributes\n" + good, keyformat.ErrMalformed, "expected a PEM block, -----BEGIN PRIVATE KEY-----, at byte 0"},
		{"text behind it", good + "x", keyformat.ErrMalformed, "at byte 119: more than one PEM block"},
		{"two blocks", good + good, keyformat.ErrMalformed, "more than one PEM block"},
		{"no end", good[:60], keyformat.ErrMalformed, "does not end"},
		{"no base64", strings.Replace(good, "MC4C", "M*4C", 1), keyformat.ErrMalformed, "not base64"},
		{"a block in a block", "-----BEGIN PRIVATE KEY-----\n" + good, keyformat.ErrMalformed, ""},
		{"SEC 1", string(inPEM("EC PRIVATE KEY", []byte{1})), keyformat.ErrUnsupported, "openssl pkcs8 -topk8"},
		{"OpenSSH", string(inPEM("OPENSSH PRIVATE KEY", []byte{1})), keyformat.ErrUnsupported, "ssh-keygen -p -m pkcs8"},
		{"a public key", string(inPEM("PUBLIC KEY", []byte{1})), keyformat.ErrUnsupported, `a "PUBLIC KEY"`},
		{"headers", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED"}, Bytes: []byte{1}})), keyformat.ErrUnsupported, "headers"},
		{"too long", strings.Repeat(" ", keyformat.MaxSize+1), keyformat.ErrMalformed, "65537 bytes, the limit is 65536"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, err := keyformat.ParsePKCS8([]byte(c.text), nil)
			refused(t, key, err, c.reason, c.want)
		})
	}
}

// encrypted returns an encrypted PKCS#8 file with the key derivation, the cipher and the data
// given in hex.
func encrypted(t *testing.T, kdf, cipher, data string) []byte {
	t.Helper()
	var b cryptobyte.Builder
	b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddBytes(testenv.Hex(t, "06092a864886f70d01050d"))
			b.AddASN1(tag.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddBytes(testenv.Hex(t, kdf))
				b.AddBytes(testenv.Hex(t, cipher))
			})
		})
		b.AddASN1OctetString(testenv.Hex(t, data))
	})
	der, err := b.Bytes()
	testenv.Must(t, err)
	return inPEM("ENCRYPTED PRIVATE KEY", der)
}

// sequence wraps hex in a DER sequence.
func sequence(text string) string {
	if len(text)/2 > 127 {
		return fmt.Sprintf("3081%02x%s", len(text)/2, text)
	}
	return fmt.Sprintf("30%02x%s", len(text)/2, text)
}

func TestEncryptedPKCS8Refused(t *testing.T) {
	var (
		salt   = "0408" + "0102030405060708"
		pbkdf2 = func(parameters string) string {
			return sequence("06092a864886f70d01050c" + sequence(parameters))
		}
		scrypt = func(parameters string) string {
			return sequence("06092b06010401da47040b" + sequence(parameters))
		}
		aes  = sequence("060960864801650304012a" + "0410" + strings.Repeat("00", 16))
		data = strings.Repeat("00", 64)
	)
	for _, c := range []struct {
		name, kdf, cipher, data string
		reason                  error
		want                    string
	}{
		{"scrypt with N 2^40", scrypt(salt + "0206010000000000" + "020108" + "020101"), aes, data, keyformat.ErrCost, "costParameter at byte 43: key derivation above the limit: scrypt with n=1099511627776 r=8"},
		{"scrypt with N 2^64", scrypt(salt + "0209010000000000000000" + "020108" + "020101"), aes, data, keyformat.ErrMalformed, "costParameter at byte 43: expected a natural number"},
		{"scrypt with p 2^32", scrypt(salt + "02020400" + "020108" + "02050100000000"), aes, data, keyformat.ErrCost, "above the limit"},
		{"PBKDF2 with 10^12 rounds", pbkdf2(salt + "020600e8d4a51000"), aes, data, keyformat.ErrCost, "iterationCount at byte"},
		{"PBKDF2 with 0 rounds", pbkdf2(salt + "020100"), aes, data, keyformat.ErrMalformed, "0 rounds"},
		{"PBKDF2 with -1 rounds", pbkdf2(salt + "0201ff"), aes, data, keyformat.ErrMalformed, "iterationCount"},
		{"no salt", pbkdf2("0400" + "020101"), aes, data, keyformat.ErrMalformed, "0 bytes, want 1 to 1024"},
		{"key of 64 bytes", pbkdf2(salt + "020101" + "020140"), aes, data, keyformat.ErrMalformed, "keyLength"},
		{"key of another length than the cipher's", pbkdf2(salt + "020101" + "020110"), aes, data, keyformat.ErrMalformed, "16 bytes, but the cipher takes 32"},
		{"MD5", pbkdf2(salt + "020101" + "300c06082a864886f70d02060500"), aes, data, keyformat.ErrUnsupported, "prf 1.2.840.113549.2.6"},
		{"argon2", sequence("06092a864886f70d01050e" + sequence(salt+"020101")), aes, data, keyformat.ErrUnsupported, "key derivation"},
		{"triple DES", pbkdf2(salt + "020101"), sequence("06082a864886f70d0307" + "0408" + "0000000000000000"), data, keyformat.ErrUnsupported, "-v2 aes-256-cbc"},
		{"short iv", pbkdf2(salt + "020101"), sequence("060960864801650304012a" + "0408" + "0000000000000000"), data, keyformat.ErrMalformed, "8 bytes, want 16"},
		{"no data", pbkdf2(salt + "020101"), aes, "", keyformat.ErrMalformed, "encryptedData"},
		{"half a block", pbkdf2(salt + "020101"), aes, "0000", keyformat.ErrMalformed, "2 bytes, want a multiple of 16"},
		{"data of another password", pbkdf2(salt + "020101"), aes, data, keyformat.ErrPassword, "wrong password"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, err := keyformat.ParsePKCS8(encrypted(t, c.kdf, c.cipher, c.data), []byte("password"))
			refused(t, key, err, c.reason, c.want)
		})
	}
	file := encrypted(t, pbkdf2(salt+"020101"), aes, data)
	key, err := keyformat.ParsePKCS8(file, nil)
	refused(t, key, err, keyformat.ErrPasswordMissing, "its password is needed")
	pbes1 := inPEM("ENCRYPTED PRIVATE KEY", testenv.Hex(t, sequence(sequence("06092a864886f70d010503"+sequence(salt+"020101"))+"0408"+"0000000000000000")))
	key, err = keyformat.ParsePKCS8(pbes1, []byte("password"))
	refused(t, key, err, keyformat.ErrUnsupported, "only PBES2 is supported")
}

// TestWrongCurve: the error of each format names its curve.
func TestWrongCurve(t *testing.T) {
	onSecp256k1, onEd25519 := newKey(t, keystore.CurveSecp256k1, wikiSecret), newKey(t, keystore.CurveEd25519, wikiSecret)
	if _, err := (keyformat.WIF{Key: onEd25519}).Format(); !errors.Is(err, keyformat.ErrUnsupported) {
		t.Errorf("wif: %v", err)
	}
	if _, err := onEd25519.Web3(nil, keyformat.Cost{LogN: 1}); !errors.Is(err, keyformat.ErrUnsupported) {
		t.Errorf("web3: %v", err)
	}
	if _, err := onSecp256k1.Solana(); !errors.Is(err, keyformat.ErrUnsupported) {
		t.Errorf("solana: %v", err)
	}
	if _, err := (keyformat.Key{}).PKCS8(nil); !errors.Is(err, keyformat.ErrUnsupported) {
		t.Errorf("pkcs8: %v", err)
	}
}

// TestErrorsShowNoSecret mutates files and searches the errors for the secret.
func TestErrorsShowNoSecret(t *testing.T) {
	for name, c := range mutable(t) {
		each(c.file, func(mutated []byte) {
			_, err := c.parse(mutated)
			if err == nil {
				return
			}
			for _, form := range []string{hex.EncodeToString(c.key.Secret), string(c.key.Secret), strings.Trim(string(bytes.TrimSpace(c.file)), "[]")[:20]} {
				if !strings.HasPrefix(form, "-----") && !strings.HasPrefix(form, `{"`) && strings.Contains(err.Error(), form) {
					t.Fatalf("%s: the error shows the secret: %v", name, err)
				}
			}
		})
	}
}
