package software

import (
	"hash/maphash"
	"math/bits"
	"sync/atomic"

	"github.com/countersign-dev/countersign/keystore"
)

// table finds keys by organization and locator: open addressing with linear
// probing, over what the keys themselves know. It only grows. There is one writer
// at a time; readers take no lock, so that cores that sign do not wait for one
// another's cache lines, and come to a key in three steps of memory: the slot, the
// key's number, the key.
type table struct {
	seed  maphash.Seed // so that nobody can choose keys that fall on one another
	keys  []*Key       // in the order they came
	slots []atomic.Uint64
	used  int // slots
}

// A slot has the upper half of the hash in its upper half, and the number of the
// key, counted from 1, in the lower one. An empty slot is 0.
const slotNumber = 1<<32 - 1

// minSlots is the size of the first table; a power of two, as all sizes are.
const minSlots = 16

// find returns the key, nil if there is none.
func (t *table) find(organizationID string, at keystore.Locator) *Key {
	if t == nil {
		return nil
	}
	hash := t.hash(organizationID, at)
	for i := hash; ; i++ {
		slot := t.slots[i%uint64(len(t.slots))].Load()
		if slot == 0 {
			return nil
		}
		if number := slot & slotNumber; slot>>32 == hash>>32 && number <= uint64(len(t.keys)) {
			if key := t.keys[number-1]; key.isAt(organizationID, at) {
				return key
			}
		}
	}
}

// with returns the table with one more key. The old one stays as it was to those
// who are reading it: keys that come to its slots have numbers that it does not
// have.
func (t *table) with(key *Key) *table {
	locators := key.locators()
	if t == nil {
		t = &table{seed: maphash.MakeSeed(), slots: make([]atomic.Uint64, minSlots)}
	}
	next := &table{t.seed, append(t.keys, key), t.slots, t.used + len(locators)}
	if next.used > len(next.slots)/4*3 {
		next.slots = make([]atomic.Uint64, 2*len(t.slots))
		for number, known := range t.keys {
			next.enter(number+1, known, known.locators())
		}
	}
	next.enter(len(next.keys), key, locators)
	return next
}

// enter puts the number of a key into the slots of its locators.
func (t *table) enter(number int, key *Key, locators []keystore.Locator) {
	for _, at := range locators {
		hash := t.hash(key.organization, at)
		i := hash
		for t.slots[i%uint64(len(t.slots))].Load() != 0 {
			i++
		}
		t.slots[i%uint64(len(t.slots))].Store(hash&^slotNumber | uint64(number))
	}
}

func (t *table) hash(organizationID string, at keystore.Locator) uint64 {
	return bits.RotateLeft64(maphash.String(t.seed, organizationID), 1) ^ at.Hash(t.seed)
}

// locators returns where the key is found in the table.
func (k *Key) locators() []keystore.Locator {
	return append(keystore.Locators(k.public), keystore.ByID(k.id))
}

// isAt reports whether the key is the organization's, and at a locator.
func (k *Key) isAt(organizationID string, at keystore.Locator) bool {
	if k.organization != organizationID {
		return false
	}
	if at.Kind() == keystore.LocateByID {
		return at == keystore.ByID(k.id)
	}
	return at.Locates(k.public)
}
