package keystoretest

import (
	"bytes"
	"context"
	stdlib "crypto/ed25519"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/countersign-dev/countersign/keystore"
)

// publicKey derives the public key with other libraries than the backends, unless the backend
// has the secret for itself.
func (k Key) publicKey(t *testing.T) keystore.PublicKey {
	t.Helper()
	if k.Secret == nil {
		return k.PublicKey
	}
	var encoded []byte
	if k.Curve == keystore.CurveEd25519 {
		encoded = stdlib.NewKeyFromSeed(bytes.Clone(k.Secret)).Public().(stdlib.PublicKey)
	} else {
		_, public := btcec.PrivKeyFromBytes(k.Secret)
		encoded = public.SerializeCompressed()
	}
	pub, err := keystore.ParsePublicKey(k.Curve, encoded)
	if err != nil {
		t.Fatal(err)
	}
	return pub
}

// locators returns every locator of a key, by name.
func (k Key) locators(t *testing.T) map[string]keystore.Locator {
	t.Helper()
	pub := k.publicKey(t)
	locators := map[string]keystore.Locator{"id": keystore.ByID(k.ID)}
	if _, isUUID := locators["id"].UUID(); isUUID {
		locators["id in upper case"] = keystore.ByID(strings.ToUpper(k.ID))
	}
	if k.Curve == keystore.CurveEd25519 {
		locators["ed25519"] = keystore.ByEd25519(pub.Ed25519())
		return locators
	}
	outputKey, err := keystore.KeyPath().OutputKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	locators["keccak"] = keystore.ByKeccak(pub.KeccakAddress())
	locators["hash160"] = keystore.ByHash160(pub.Hash160())
	locators["taproot"] = keystore.ByTaproot(outputKey)
	if locators["nested"], err = keystore.NestedLocator(pub); err != nil {
		t.Fatal(err)
	}
	return locators
}

func (s suite) findByEveryLocator(t *testing.T) {
	store, keys := s.open(t)
	for _, key := range keys {
		for name, locator := range key.locators(t) {
			found, err := store.Find(t.Context(), key.OrganizationID, locator)
			if err != nil {
				t.Errorf("key %s is not found by %s: %v", key.ID, name, err)
				continue
			}
			if !strings.EqualFold(found.ID(), key.ID) {
				t.Errorf("by %s of key %s: found key %s", name, key.ID, found.ID())
			}
			if found.PublicKey() != key.publicKey(t) {
				t.Errorf("key %s has public key %v, want %v", key.ID, found.PublicKey(), key.publicKey(t))
			}
		}
	}
}

func (s suite) findMissing(t *testing.T) {
	store, keys := s.open(t)
	var some32 [32]byte
	var some20 [20]byte
	some32[0], some20[0] = 1, 1
	for name, locator := range map[string]keystore.Locator{
		"zero locator":    {},
		"empty id":        keystore.ByID(""),
		"other id":        keystore.ByID("hot"),
		"unknown id":      keystore.ByID("00000000-0000-4000-8000-000000000000"),
		"unknown keccak":  keystore.ByKeccak(some20),
		"unknown hash160": keystore.ByHash160(some20),
		"unknown taproot": keystore.ByTaproot(some32),
		"unknown nested":  keystore.ByNested(some20),
		"unknown ed25519": keystore.ByEd25519(some32),
	} {
		if key, err := store.Find(t.Context(), Organization, locator); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Errorf("%s: found %v, %v, want ErrKeyNotFound", name, key, err)
		}
	}
	for _, organizationID := range []string{"", "unknown", strings.ToUpper(Organization), Organization + "\x00"} {
		for name, locator := range keys[0].locators(t) {
			if key, err := store.Find(t.Context(), organizationID, locator); !errors.Is(err, keystore.ErrKeyNotFound) {
				t.Errorf("organization %q, by %s: found %v, %v, want ErrKeyNotFound", organizationID, name, key, err)
			}
		}
	}
}

// organizations looks for the keys of each organization in the other one.
func (s suite) organizations(t *testing.T) {
	store, keys := s.open(t)
	for _, key := range keys {
		other := Organization
		if key.OrganizationID == Organization {
			other = otherOrganization
		}
		for name, locator := range key.locators(t) {
			found, err := store.Find(t.Context(), other, locator)
			if err == nil && found.ID() != key.ID && found.PublicKey() == key.publicKey(t) {
				continue // the other organization's own key with the same secret
			}
			if !errors.Is(err, keystore.ErrKeyNotFound) {
				t.Errorf("key %s of organization %s, looked up by %s in %s: %v, %v, want ErrKeyNotFound",
					key.ID, key.OrganizationID, name, other, found, err)
			}
		}
	}
}

func (s suite) listing(t *testing.T) {
	store, keys := s.open(t)
	for _, organizationID := range []string{Organization, otherOrganization, "unknown"} {
		var listed []keystore.KeyInfo
		for info, err := range store.Keys(t.Context(), organizationID) {
			if err != nil {
				t.Fatalf("listing of %s: %v", organizationID, err)
			}
			listed = append(listed, info)
		}
		want := slices.DeleteFunc(slices.Clone(keys), func(key Key) bool { return key.OrganizationID != organizationID })
		if len(listed) != len(want) {
			t.Fatalf("listing of %s has %d keys, want %d: %v", organizationID, len(listed), len(want), listed)
		}
		checkListing(t, listed, want)
	}
}

// checkListing compares a listing with the keys, oldest first. A backend that stores no times may
// list them in any order.
func checkListing(t *testing.T, listed []keystore.KeyInfo, want []Key) {
	t.Helper()
	for i, info := range listed {
		position := i
		if info.CreatedAt.IsZero() {
			position = slices.IndexFunc(want, func(key Key) bool { return strings.EqualFold(key.ID, info.ID) })
		}
		if position < 0 || !strings.EqualFold(info.ID, want[position].ID) {
			t.Errorf("key %d of the listing is %s; keys must be listed oldest first", i, info.ID)
			continue
		}
		key := want[position]
		if info.Name != key.Name {
			t.Errorf("key %s has name %q, want %q", info.ID, info.Name, key.Name)
		}
		if info.PublicKey != key.publicKey(t) {
			t.Errorf("key %s is listed with public key %v, want %v", info.ID, info.PublicKey, key.publicKey(t))
		}
		if !info.CreatedAt.IsZero() && !info.CreatedAt.Equal(key.CreatedAt) {
			t.Errorf("key %s was created at %v, want %v", info.ID, info.CreatedAt, key.CreatedAt)
		}
	}
}

// names renames a key, if the keystore can, to names that cannot be shown as they are.
func (s suite) names(t *testing.T) {
	store, keys := s.open(t)
	renamer, ok := store.(keystore.Renamer)
	if !ok {
		return
	}
	for _, name := range []string{"a\x1b[2J", "a\u202eb", "a\u200bb", "a\u3164b", "a\u034fb", "a\ufe0fb", "a\u2800b", "a\nb", "a\xff"} {
		if err := renamer.Rename(t.Context(), keys[0].OrganizationID, keys[0].ID, name); err == nil {
			t.Errorf("the key may be named %q", name)
		}
	}
}

// listingStops stops a listing early, and looks up keys while listing them.
func (s suite) listingStops(t *testing.T) {
	store, keys := s.open(t)
	for _, err := range store.Keys(t.Context(), Organization) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	for info, err := range store.Keys(t.Context(), Organization) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Find(t.Context(), Organization, keystore.ByID(info.ID)); err != nil {
			t.Errorf("Find while listing: %v", err)
		}
	}
	find(t, store, keys[0])
}

func (s suite) cancelledContext(t *testing.T) {
	store, keys := s.open(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := store.Find(cancelled, Organization, keystore.ByID(keys[0].ID)); !errors.Is(err, context.Canceled) {
		t.Errorf("Find: %v, want context.Canceled", err)
	}
	yields := 0
	for _, err := range store.Keys(cancelled, Organization) {
		yields++
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Keys: %v, want context.Canceled", err)
		}
	}
	if yields != 1 {
		t.Errorf("Keys yielded %d times, want only one error", yields)
	}
	for _, key := range keys {
		for name, sign := range signatures(find(t, store, key)) {
			if _, err := sign(cancelled, [32]byte{}); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v, want context.Canceled", name, err)
			}
		}
	}
}
