package tron

import (
	"bytes"
	"errors"
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
		request, err := tx.Request(signWith)
		if err != nil || len(request.Locators()) != 1 || request.Locators()[0] != want {
			t.Errorf("%q: %v", signWith, err)
		}
	}
}

// TestMalformedAddresses has slips, and base58check of the other first bytes that start with a T.
func TestMalformedAddresses(t *testing.T) {
	before := base58.CheckEncode(bytes.Repeat([]byte{0xff}, 20), addressPrefix-1)
	after := base58.CheckEncode(bytes.Repeat([]byte{0x80}, 20), addressPrefix+1)
	const version = " is not a Tron address: expected 21 bytes that begin with 41"
	for signWith, want := range map[string]string{
		before:                                       "tron: signWith: " + before + version,
		after:                                        "tron: signWith: " + after + version,
		"TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwm":         "tron: signWith: the checksum of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwm is wrong: it has been mistyped or cut off",
		"TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBw":          "tron: signWith: the checksum of TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBw is wrong: it has been mistyped or cut off",
		"TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwnn":        "tron: signWith: TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwnn is no address of Tron, it has been mistyped: it is longer than an address",
		"tPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn":         "",
		"TPOqpax8MrHNhHhfCaCycnWeC4tUgvtBwn":         "tron: signWith: TPOqpax8MrHNhHhfCaCycnWeC4tUgvtBwn is no address of Tron, it has been mistyped: it has a character that base58 does not have (0, O, I, l)",
		"0x97cc56300c36f60c7fb7c50babc6c5cdf59d5c56": "tron: signWith: this looks like an Ethereum address; an address of Tron starts with T, or in hex with 41 and has 42 digits without 0x",
	} {
		tx := parse(t, rawOf(1, transfer(t)))
		_, err := tx.Request(signWith)
		if want == "" {
			if err != nil {
				t.Errorf("%s is a key's id: %v", signWith, err)
			}
			continue
		}
		if !errors.Is(err, chains.ErrSignWith) || err.Error() != want {
			t.Errorf("%s: %v", signWith, err)
		}
	}
}

// TestSlips checks that no slip in one character of an address is taken for another
// address, or for a key's id.
func TestSlips(t *testing.T) {
	const address = "TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn"
	tx := parse(t, rawOf(1, transfer(t)))
	for at := 1; at < len(address); at++ {
		for _, char := range "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz" {
			slip := address[:at] + string(char) + address[at+1:]
			if _, err := tx.Request(slip); slip != address && !errors.Is(err, chains.ErrSignWith) {
				t.Errorf("%s: %v", slip, err)
			}
		}
	}
}

// TestOwnersKeyFirst checks that of a wallet's keys the owner's signs, whatever their
// order.
func TestOwnersKeyFirst(t *testing.T) {
	tx := parse(t, rawOf(1, transfer(t)))
	owner, one := keyOf(t, ownerSecret), keyOf(t, oneSecret)
	for _, keys := range [][]keystore.Key{{owner, one}, {one, owner}} {
		signing, err := chaintest.Ready(tx, "wallet", keys...)
		if err != nil || signing.Hazards() != nil {
			t.Errorf("%v, hazards %v", err, signing.Hazards())
		}
	}
	if signing, err := chaintest.Ready(tx, "wallet", one); err != nil || len(signing.Hazards()) != 1 {
		t.Errorf("%v", err)
	}
}
