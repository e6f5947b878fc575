package tron

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
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
