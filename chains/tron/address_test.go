package tron

import (
	"bytes"
	"errors"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/keystore"
)

func TestSigners(t *testing.T) {
	tx := parse(t, rawOf(1, transfer(t)))
	const base58 = "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"
	byAddress := keystore.ByKeccak(addressOf(keyOf(t, ownerSecret).PublicKey()))
	const uuid = "3f1c4a52-8f5e-4c7f-9c57-0c2a6a1c2f10"
	for signWith, want := range map[string]keystore.Locator{
		base58:                        byAddress,
		ownerHex:                      byAddress,
		strings.ToUpper(ownerHex):     byAddress,
		uuid:                          keystore.ByID(uuid),
		"treasury":                    keystore.ByID("treasury"),
		"":                            keystore.ByID(""),
		"Treasury":                    keystore.ByID("Treasury"),
		ownerHex[:41]:                 keystore.ByID(ownerHex[:41]),
		"The key of all the payments": keystore.ByID("The key of all the payments"),
	} {
		got, err := tx.Signers(signWith)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%q: %v, %v", signWith, got, err)
		}
	}
}

func TestMalformedAddresses(t *testing.T) {
	for signWith, want := range map[string]string{
		"TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwm":         "tron: signWith: the checksum of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwm is wrong: it has been mistyped or cut off",
		"TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBw":          "tron: signWith: the checksum of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBw is wrong: it has been mistyped or cut off",
		"TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwnn":        "tron: signWith: TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwnn is no address of Tron, it has been mistyped: it is longer than an address",
		"tPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn":         "",
		"TPOqpax8MrHNhHhfCaCycnWeC4tUgvtBwn":         "tron: signWith: TPOqpax8MrHNhHhfCaCycnWeC4tUgvtBwn is no address of Tron, it has been mistyped: it has a character that base58 does not have (0, O, I, l)",
		"0x97cc56300c36f60c7fb7c50babc6c5cdf59d5c56": "tron: signWith: this looks like an Ethereum address; an address of Tron starts with T, or in hex with 41 and has 42 digits without 0x",
	} {
		tx := parse(t, rawOf(1, transfer(t)))
		err := tx.CheckSpelling(signWith)
		if want == "" {
			if err != nil {
				t.Errorf("%s is a key's id: %v", signWith, err)
			}
			continue
		}
		if !errors.Is(err, chains.ErrSignWith) || err.Error() != want {
			t.Errorf("%s: %v", signWith, err)
		}
		// Asked again, the answer is the same, whoever is asked.
		if again := tx.CheckSpelling(signWith); again == nil || again.Error() != want {
			t.Errorf("%s, again: %v", signWith, again)
		}
		if _, err := tx.Signers(signWith); err != nil && err.Error() != want || err == nil && !strings.Contains(want, "checksum") {
			t.Errorf("%s, looked for: %v", signWith, err)
		}
		if err := tx.Check(keyOf(t, ownerSecret), signWith); err == nil || err.Error() != want {
			t.Errorf("%s, with a key: %v", signWith, err)
		}
	}
}

// TestAnotherVersion: base58check with a right checksum, of the first bytes beside
// Tron's, which start with a T too.
func TestAnotherVersion(t *testing.T) {
	for version, filler := range map[byte]byte{addressPrefix - 1: 0xff, addressPrefix + 1: 0x80} {
		text := base58.CheckEncode(bytes.Repeat([]byte{filler}, 20), version)
		tx := parse(t, rawOf(1, transfer(t)))
		want := "tron: signWith: " + text + " is not an address of Tron: 21 bytes with 41 in front are expected"
		if _, err := tx.Signers(text); !errors.Is(err, chains.ErrSignWith) || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestAddressesOfOtherCurves(t *testing.T) {
	if got := (Chain{}).Addresses(chaintest.Key(t, keystore.CurveEd25519, make([]byte, 32)).PublicKey()); got != nil {
		t.Errorf("%v", got)
	}
}

func TestSignerView(t *testing.T) {
	tx := parse(t, rawOf(1, transfer(t)))
	for secret, want := range map[string]string{ownerSecret: "the owner", oneSecret: "not the owner: a co-signer, if the account's permission names it"} {
		key := keyOf(t, secret)
		got := tx.SignerView(key.PublicKey())
		if len(got) != 1 || got[0].Note != want || got[0].Value != addressOf(key.PublicKey()).String() {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if got := tx.SignerView(keystore.PublicKey{}); got != nil {
		t.Errorf("no signer: %+v", got)
	}
}

// TestBase58 holds our decoder against btcd's, on addresses and on texts that
// are off by one character.
func TestBase58(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var want address
		for i := range want {
			want[i] = byte(random.Uint32())
		}
		text := want.String()
		if got, err := readAll(text); err != nil || got != want {
			t.Fatalf("%s: %x, %v, want %x", text, got, err, want)
		}
		at := random.IntN(len(text))
		slip := text[:at] + string(base58Alphabet[random.IntN(58)]) + text[at+1:]
		payload, version, err := base58.CheckDecode(slip)
		theirs := err == nil && version == addressPrefix && len(payload) == 20
		got, err := readAll(slip)
		if (err == nil) != theirs || err == nil && got != address(payload) {
			t.Fatalf("%s: %x, %v, btcd says %x", slip, got, err, payload)
		}
	}
	for _, text := range []string{"", "1", "T", strings.Repeat("z", 34), strings.Repeat("z", 60), strings.Repeat("1", 34)} {
		if got, err := readAll(text); err == nil {
			t.Errorf("%q: %x", text, got)
		}
	}
}

// readAll reads an address with all its checks.
func readAll(text string) (address, error) {
	meant := signWith{text: text}
	if err := meant.readBase58(); err != nil {
		return address{}, err
	}
	return meant.address(), meant.checkSpelling()
}

// TestBase58TooLong: numbers that come out as an address in as many bits as the
// decoder has.
func TestBase58TooLong(t *testing.T) {
	const text = "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"
	number := new(big.Int).SetBytes(base58.Decode(text))
	for _, bits := range []uint{200, 223, 224, 256, 400} {
		long := new(big.Int).Add(number, new(big.Int).Lsh(big.NewInt(1), bits))
		if decoded, err := decodeBase58(base58.Encode(long.Bytes())); err != errBase58Length {
			t.Errorf("with bit %d: %x, %v", bits, decoded, err)
		}
	}
	if _, err := decodeBase58(text); err != nil {
		t.Error(err)
	}
}
