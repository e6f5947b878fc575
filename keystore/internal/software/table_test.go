package software

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign/keystore"
)

// keyOf makes key number of a curve. It is no secret.
func keyOf(t *testing.T, curve keystore.Curve, number int) *Key {
	t.Helper()
	secret := make([]byte, keystore.SecretSize)
	binary.BigEndian.PutUint64(secret[24:], uint64(number)+1)
	key, err := New(keystore.KeyInfo{ID: fmt.Sprintf("%v %d", curve, number)}, curve, secret)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestTableGrows through several sizes. In each organization, each key is at all
// of its locators and at none of a neighbour's.
func TestTableGrows(t *testing.T) {
	const each = 300
	var grown *table
	var keys []*Key
	for number := range each {
		for _, organization := range []string{"a", "b"} {
			for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveEd25519} {
				key := keyOf(t, curve, 2*number+len(keys)%2)
				defer key.Destroy()
				key.organization = organization
				keys = append(keys, key)
				grown = grown.with(key)
			}
		}
	}
	for _, key := range keys {
		for _, at := range key.locators() {
			if found := grown.find(key.organization, &at); found != key {
				t.Fatalf("%s of %s at %v: found %v", key.id, key.organization, at, found)
			}
			if found := grown.find("c", &at); found != nil {
				t.Fatalf("organization c has key %s of %s", found.id, found.organization)
			}
		}
	}
	for _, nowhere := range []keystore.Locator{{}, keystore.ByID("another")} {
		if grown.find("a", &nowhere) != nil {
			t.Errorf("a key is at %v, where none was put", nowhere)
		}
	}
}

// TestTableComparesKeys has all look-ups come by slots whose hashes fit and that
// lead to another key, or to that of another organization: as if every hash were
// the same.
func TestTableComparesKeys(t *testing.T) {
	first, second := keyOf(t, keystore.CurveSecp256k1, 1), keyOf(t, keystore.CurveSecp256k1, 2)
	defer first.Destroy()
	defer second.Destroy()
	first.organization, second.organization = "a", "a"
	both := (*table)(nil).with(first).with(second)
	for _, at := range second.locators() {
		for organization, want := range map[string]*Key{"a": second, "b": nil} {
			hash := both.hash(organization, &at)
			crowded := &table{seed: both.seed, keys: both.keys}
			crowded.kinds[at.Kind()] = slots{make([]atomic.Uint64, minSlots), 4}
			for i, number := range []uint64{1, 99, 1, 2} { // 99: a key that came later than this table
				crowded.kinds[at.Kind()].all[(hash+uint64(i))%minSlots].Store(hash&^slotNumber | number)
			}
			if found := crowded.find(organization, &at); found != want {
				t.Errorf("%v in %s: found %v", at, organization, found)
			}
		}
	}
}

// TestTableReadWhileWritten looks for keys while others come: each is found from
// when Insert has returned, and never another in its place. The race detector
// watches.
func TestTableReadWhileWritten(t *testing.T) {
	const keys = 200
	var index Index
	defer index.Close()
	inserted := make(chan *Key, keys)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for key := range inserted {
				for _, at := range key.locators() {
					if found, err := index.Key(t.Context(), "org", at); err != nil || found != key {
						t.Errorf("%s: %v, %v", key.id, found, err)
					}
				}
			}
		})
	}
	for number := range keys {
		key := keyOf(t, keystore.CurveEd25519, number)
		if _, err := index.Insert("org", key); err != nil {
			t.Error(err)
		}
		inserted <- key
	}
	close(inserted)
	readers.Wait()
}
