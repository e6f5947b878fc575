package evm_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/internal/evm"
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

func TestParseAddressEIP55(t *testing.T) {
	for _, text := range eip55 {
		address, err := evm.ParseAddress(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := address.String(); !strings.EqualFold(got, text) || common.Address(address) != common.HexToAddress(text) {
			t.Errorf("%s: read as %s", text, got)
		}
	}
}

// TestParseAddressChecksum turns the case of every letter in turn.
func TestParseAddressChecksum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		var address common.Address
		for i := range address {
			address[i] = byte(random.Uint32())
		}
		text := address.Hex()
		for _, form := range []string{text, "0X" + text[2:], strings.ToLower(text), "0x" + strings.ToUpper(text[2:])} {
			if got, err := evm.ParseAddress(form); err != nil || common.Address(got) != address {
				t.Fatalf("%s: %v, %v", form, got, err)
			}
		}
		for at := 2; at < len(text); at++ {
			turned := []byte(text)
			if turned[at] < 'A' {
				continue
			}
			turned[at] ^= 0x20
			_, err := evm.ParseAddress(string(turned))
			oneCase := string(turned[2:]) == strings.ToLower(text[2:]) || string(turned[2:]) == strings.ToUpper(text[2:])
			if (err == nil) != oneCase {
				t.Errorf("%s (%s): %v", turned, text, err)
			}
		}
	}
}

func TestParseAddressRefused(t *testing.T) {
	const checksum = "the checksum of this mixed-case address is wrong (EIP-55): it has been mistyped"
	for text, want := range map[string]string{
		"":   "an address starts with 0x",
		"0":  "an address starts with 0x",
		"1x": "an address starts with 0x",
		"5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed": "an address starts with 0x",
		"0x": "an address has 40 hex digits after 0x, this one 0",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe":    "an address has 40 hex digits after 0x, this one 39",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0":  "an address has 40 hex digits after 0x, this one 41",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n": "an address has 40 hex digits after 0x, this one 41",
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg":   "an address has hex digits only after 0x",
		"0x 5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe":   "an address has hex digits only after 0x",
		"0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed":   checksum,
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD":   checksum,
		"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee":   checksum,
	} {
		if _, err := evm.ParseAddress(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestSigners(t *testing.T) {
	address, err := evm.ParseAddress(eip55[4])
	if err != nil {
		t.Fatal(err)
	}
	for signWith, want := range map[string]keystore.Locator{
		eip55[4]:                               keystore.ByKeccak(address),
		strings.ToLower(eip55[4]):              keystore.ByKeccak(address),
		"my key":                               keystore.ByID("my key"),
		eip55[4][2:]:                           keystore.ByID(eip55[4][2:]), // no 0x: an id
		"3b241101-e2bb-4255-8caf-4136c566a962": keystore.ByID("3B241101-E2BB-4255-8CAF-4136C566A962"),
	} {
		if at, err := evm.Signers("ethereum", signWith, new([1]keystore.Locator)); err != nil || len(at) != 1 || at[0] != want {
			t.Errorf("%s: %v, %v, want %v", signWith, at, err, want)
		}
	}
	_, err = evm.Signers("ethereum", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee", new([1]keystore.Locator))
	signer, ok := errors.AsType[*chains.SignerError](err)
	if !ok || !errors.Is(err, chains.ErrSignWith) || signer.Chain != "ethereum" {
		t.Errorf("%v is no SignerError of ethereum with ErrSignWith", err)
	}
}

// TestAddresses has the key of EIP-155's example.
func TestAddresses(t *testing.T) {
	encoded := common.FromHex("044bc2a31265153f07e70e0bab08724e6b85e217f8cd628ceb62974247bb493382ce28cab79ad7119ee1ad3ebcdb98a16805211530ecc6cfefa1b88e6dff99232a")
	pub, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, encoded)
	if err != nil {
		t.Fatal(err)
	}
	want := chains.Address{Format: evm.AddressFormat, Address: "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"}
	if got := evm.Addresses(pub); len(got) != 1 || got[0] != want {
		t.Errorf("%v, want %v", got, want)
	}
	other, err := keystore.ParsePublicKey(keystore.CurveEd25519,
		common.FromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")) // RFC 8032, test 1
	if err != nil {
		t.Fatal(err)
	}
	if got := evm.Addresses(other); got != nil {
		t.Errorf("an Ed25519 key has addresses: %v", got)
	}
}
