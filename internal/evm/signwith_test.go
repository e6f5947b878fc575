package evm_test

import (
	"errors"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// eip55 are the test cases of EIP-55.
var eip55 = []string{
	"0x52908400098527886E0F7030069857D2E4169EE7", // all upper
	"0x8617E340B3D01FA5F11F306F4090FD50E238070D",
	"0xde709f2102306220921060314715629080e2fb77", // all lower
	"0x27b1fdb04752bbc536007a920d24acb045561c26",
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", // mixed
	"0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
	"0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
	"0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
}

func TestSpellingEIP55(t *testing.T) {
	for _, text := range eip55 {
		if _, err := evm.ReadSignWith("ethereum", text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestSpelling changes the case of every letter in turn.
func TestSpelling(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		var address common.Address
		for i := range address {
			address[i] = byte(random.Uint32())
		}
		text := address.Hex()
		for _, form := range []string{text, "0X" + text[2:], strings.ToLower(text), "0x" + strings.ToUpper(text[2:])} {
			if _, err := evm.ReadSignWith("ethereum", form); err != nil {
				t.Fatalf("%s: %v", form, err)
			}
		}
		for turned := range turnedLetters(text) {
			oneCase := turned[2:] == strings.ToLower(text[2:]) || turned[2:] == strings.ToUpper(text[2:])
			if _, err := evm.ReadSignWith("ethereum", turned); (err == nil) != oneCase {
				t.Errorf("%s (%s): %v", turned, text, err)
			}
		}
	}
}

// turnedLetters yields an address with one letter in the other case.
func turnedLetters(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := 2; at < len(text); at++ {
			if text[at] >= 'A' && !yield(text[:at]+string(text[at]^0x20)+text[at+1:]) {
				return
			}
		}
	}
}

const mistyped = "ethereum: signWith: the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped"

// misspelled are texts that start like an address, and why they are none.
var misspelled = map[string]string{
	"0x": "ethereum: signWith: an address has 40 hex digits after 0x, this one 0",
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe":    "ethereum: signWith: an address has 40 hex digits after 0x, this one 39",
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0":  "ethereum: signWith: an address has 40 hex digits after 0x, this one 41",
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n": "ethereum: signWith: an address has 40 hex digits after 0x, this one 41",
	"0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg":   "ethereum: signWith: an address has hex digits only after 0x",
	"0x 5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe":   "ethereum: signWith: an address has hex digits only after 0x",
	"0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed":   mistyped,
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD":   mistyped,
	"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee":   mistyped,
}

func TestMisspelled(t *testing.T) {
	for text, want := range misspelled {
		_, err := evm.ReadSignWith("ethereum", text)
		refused, ok := errors.AsType[*chains.SignerError](err)
		if !ok || !errors.Is(err, chains.ErrSignWith) || refused.Chain != "ethereum" || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestLocators(t *testing.T) {
	address := keystore.ByKeccak(common.HexToAddress(eip55[4]))
	for signWith, want := range map[string]keystore.Locator{
		eip55[4]:                               address,
		strings.ToLower(eip55[4]):              address,
		"0X" + eip55[4][2:]:                    address,
		"my key":                               keystore.ByID("my key"),
		eip55[4][2:]:                           keystore.ByID(eip55[4][2:]), // no 0x: an id
		"":                                     keystore.ByID(""),
		"0":                                    keystore.ByID("0"),
		"1x":                                   keystore.ByID("1x"),
		"3b241101-e2bb-4255-8caf-4136c566a962": keystore.ByID("3B241101-E2BB-4255-8CAF-4136C566A962"),
	} {
		with, err := evm.ReadSignWith("ethereum", signWith)
		if err != nil || len(with.Locators()) != 1 || with.Locators()[0] != want {
			t.Errorf("%s: %v, %v, want %v", signWith, with, err, want)
		}
	}
}

// TestSigner has the key of EIP-155's example: it signs at its address in all
// forms, by any id, and at no other address.
func TestSigner(t *testing.T) {
	const address = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"
	key := chaintest.Key(t, keystore.CurveSecp256k1, chaintest.Unhex(t, strings.Repeat("46", 32)))
	for _, signWith := range []string{address, "0X" + address[2:], strings.ToLower(address), "0x" + strings.ToUpper(address[2:]), key.ID(), "", "another"} {
		signer, signing, err := signerOf(t, signWith, key)
		if err != nil || signer != key.(keystore.ECDSASigner) || signing != key || evm.AddressOf(key.PublicKey()).String() != address {
			t.Errorf("%s: %v, %v", signWith, signer, err)
		}
	}
	for turned := range turnedLetters(address) {
		if _, err := evm.ReadSignWith("ethereum", turned); err == nil || err.Error() != mistyped {
			t.Errorf("%s: %v", turned, err)
		}
	}
	for _, elsewhere := range []string{eip55[4], strings.ToLower(eip55[4]), strings.ToLower(address[:41]) + "0"} {
		_, _, err := signerOf(t, elsewhere, key)
		want := "tempo: signWith: key " + key.ID() + " is at " + address + ", not at " + elsewhere
		if !errors.Is(err, chains.ErrNotSigner) || err.Error() != want {
			t.Errorf("%s: %v, want %s", elsewhere, err, want)
		}
	}
	ed25519 := chaintest.Key(t, keystore.CurveEd25519, make([]byte, 32))
	for _, signWith := range []string{ed25519.ID(), address} {
		if signer, _, err := signerOf(t, signWith, ed25519); signer != nil || !errors.Is(err, keystore.ErrUnsupported) {
			t.Errorf("an Ed25519 key, signWith %s: %v", signWith, err)
		}
	}
}

// signerOf returns the signer that a text names among keys.
func signerOf(t *testing.T, signWith string, keys ...keystore.Key) (keystore.ECDSASigner, keystore.Key, error) {
	t.Helper()
	with, err := evm.ReadSignWith("tempo", signWith)
	testenv.Must(t, err)
	return with.Signer(keys)
}
