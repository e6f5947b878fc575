package tempo_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// TestSigners: an address in any case but with the right checksum, or a key's id.
func TestSigners(t *testing.T) {
	tx := parse(t, unhex(t, typed(items...)))
	const checksummed = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	byAddress := keystore.ByKeccak([20]byte(unhex(t, checksummed)))
	for signWith, want := range map[string]keystore.Locator{
		checksummed:                  byAddress,
		strings.ToLower(checksummed): byAddress,
		"treasury":                   keystore.ByID("treasury"),
	} {
		got, err := tx.Signers(signWith)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%s: %v (%v), want %v", signWith, got, err, want)
		}
	}
	for _, signWith := range []string{strings.Replace(checksummed, "cC", "CC", 1), checksummed[:40], "0x"} {
		_, err := tx.Signers(signWith)
		if refused, ok := errors.AsType[*chains.SignerError](err); !ok || refused.Chain != tempo.Name || !errors.Is(err, chains.ErrSignWith) {
			t.Errorf("%s: %v", signWith, err)
		}
	}
}

// TestKeyOfAnotherCurve: neither Check nor Sign takes it, and it has no address.
func TestKeyOfAnotherCurve(t *testing.T) {
	keys := memory.New()
	defer keys.Close()
	info, err := keys.Add("org", memory.Key{Curve: keystore.CurveEd25519, Secret: bytes.Repeat([]byte{1}, 32)})
	if err != nil {
		t.Fatal(err)
	}
	key, err := keys.Find(t.Context(), "org", keystore.ByID(info.ID))
	if err != nil {
		t.Fatal(err)
	}
	tx := parse(t, unhex(t, typed(items...)))
	if err := tx.Check(key, ""); !errors.Is(err, keystore.ErrUnsupported) {
		t.Errorf("Check: %v", err)
	}
	if _, err := tx.Sign(t.Context(), key, ""); !errors.Is(err, keystore.ErrUnsupported) {
		t.Errorf("Sign: %v", err)
	}
	if err := tx.Check(newFixedKey(t), ""); err != nil {
		t.Errorf("Check of a secp256k1 key: %v", err)
	}
	if got := (tempo.Chain{}).Addresses(key.PublicKey()); len(got) > 0 {
		t.Errorf("addresses %v", got)
	}
}

// brokenKey is a key whose device is gone.
type brokenKey struct{ keystore.Key }

var errDevice = errors.New("the device is gone")

func (brokenKey) SignECDSA(context.Context, [32]byte) ([65]byte, error) { return [65]byte{}, errDevice }

// TestKeyThatFails: its error comes back, and nothing signed does.
func TestKeyThatFails(t *testing.T) {
	tx := parse(t, unhex(t, typed(items...)))
	if signed, err := tx.Sign(t.Context(), brokenKey{newFixedKey(t)}, ""); !errors.Is(err, errDevice) || signed != nil {
		t.Errorf("%x, %v", signed, err)
	}
}
