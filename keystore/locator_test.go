package keystore_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

const someUUID = "0123abcd-4567-489a-8bcd-ef0123456789"

func TestByID(t *testing.T) {
	at := keystore.ByID(someUUID)
	if keystore.ByID(strings.ToUpper(someUUID)) != at {
		t.Error("a UUID in upper case is another locator")
	}
	for _, other := range []string{
		"", "0", someUUID + " ", strings.ReplaceAll(someUUID, "-", ""), "{" + someUUID + "}", "urn:uuid:" + someUUID,
		strings.Replace(someUUID, "0", "1", 1), strings.Replace(someUUID, "-", "_", 1),
	} {
		if keystore.ByID(other) == at {
			t.Errorf("%q is the same locator as %s", other, someUUID)
		}
	}
	if keystore.ByID("Hot") == keystore.ByID("hot") {
		t.Error("ids other than UUIDs do not depend on case")
	}
}

// TestLocators: the well-known addresses of 1·G.
func TestLocators(t *testing.T) {
	pub := parse(t, keystore.CurveSecp256k1, points[0].compressed)
	keccak, hash160 := pub.KeccakAddress(), pub.Hash160()
	if got, want := hex.EncodeToString(keccak[:]), "7e5f4552091a69125d5dfcb7b8c2659029395bdf"; got != want {
		t.Errorf("Keccak address %s, want %s", got, want)
	}
	if got, want := hex.EncodeToString(hash160[:]), "751e76e8199196d454941c45d1b3a323f1433bd6"; got != want { // BIP-173
		t.Errorf("hash160 %s, want %s", got, want)
	}
	all := keystore.Locators(pub)
	if len(all) != 2 || all[0] != keystore.ByKeccak(keccak) || all[1] != keystore.ByHash160(hash160) {
		t.Errorf("locators of a secp256k1 key: %v", all)
	}
	solana := parse(t, keystore.CurveEd25519, strings.Repeat("01", 32))
	if all := keystore.Locators(solana); len(all) != 1 || all[0] != keystore.ByEd25519(solana.Ed25519()) {
		t.Errorf("locators of an Ed25519 key: %v", all)
	}
	if all := keystore.Locators(keystore.PublicKey{}); len(all) != 0 {
		t.Errorf("locators of no key: %v", all)
	}
}

// TestLocatorKinds: equal bytes of different kinds are different locators.
func TestLocatorKinds(t *testing.T) {
	seen := map[keystore.Locator]string{{}: "zero"}
	for name, at := range map[string]keystore.Locator{
		"keccak": keystore.ByKeccak([20]byte{}), "hash160": keystore.ByHash160([20]byte{}),
		"taproot": keystore.ByTaproot([32]byte{}), "nested": keystore.ByNested([20]byte{}), "ed25519": keystore.ByEd25519([32]byte{}),
		"id": keystore.ByID("00000000-0000-0000-0000-000000000000"),
	} {
		if other, taken := seen[at]; taken {
			t.Errorf("%s and %s are the same locator", name, other)
		}
		seen[at] = name
		if strings.Contains(at.String(), "%!") {
			t.Errorf("%s prints as %s", name, at)
		}
	}
}

func TestTaprootLocator(t *testing.T) {
	// BIP-86, the first receiving address of its test wallet.
	internal := parse(t, keystore.CurveSecp256k1, "02cc8a4bc64d897bddc5fbc2f670f7a8ba0b386779106cf1223c6fc5d7cd6fc115")
	want := testenv.Hex(t, "a60869f0dbcf1dc659c9cecbaf8050135ea9e8cdc487053f1dc6880949dc684c")
	if at, err := keystore.TaprootLocator(internal); err != nil || at != keystore.ByTaproot([32]byte(want)) {
		t.Errorf("taproot locator %v, %v, want the output key %x", at, err, want)
	}
	solana := parse(t, keystore.CurveEd25519, strings.Repeat("01", 32))
	if at, err := keystore.TaprootLocator(solana); err == nil || at != (keystore.Locator{}) {
		t.Errorf("an Ed25519 key has taproot locator %v", at)
	}
}

// TestNestedLocator: the first receiving address of BIP-49's test wallet.
func TestNestedLocator(t *testing.T) {
	pub := parse(t, keystore.CurveSecp256k1, "03a1af804ac108a8a51782198c2d034b28bf90c8803f5a53f76276fa69a4eae77f")
	want := testenv.Hex(t, "336caa13e08b96080a32b5d818d59b4ab3b36742")
	if at, err := keystore.NestedLocator(pub); err != nil || at != keystore.ByNested([20]byte(want)) || !at.IsNested() {
		t.Errorf("nested locator %v, %v, want the script hash %x", at, err, want)
	}
	solana := parse(t, keystore.CurveEd25519, strings.Repeat("01", 32))
	if at, err := keystore.NestedLocator(solana); err == nil || at != (keystore.Locator{}) {
		t.Errorf("an Ed25519 key has nested locator %v", at)
	}
}
