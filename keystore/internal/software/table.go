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
//
// Each kind of locator has slots of its own, so that those that are read by turns
// lie together: who signs for one chain reads those of one kind.
type table struct {
	seed  maphash.Seed // so that nobody can choose keys that fall on one another
	keys  []*Key       // in the order they came
	kinds [keystore.LocateByEd25519 + 1]slots
}

// slots are the places where a kind's keys can be.
type slots struct {
	all  []atomic.Uint64
	used int
}

// A slot has the upper half of the hash in its upper half, and the number of the
// key, counted from 1, in the lower one. An empty slot is 0.
const slotNumber = 1<<32 - 1

// minSlots is the size of the first table; a power of two, as all sizes are.
const minSlots = 16

// find returns the key, nil if there is none.
func (t *table) find(organizationID string, at *keystore.Locator) *Key {
	if t == nil || t.kinds[at.Kind()].used == 0 {
		return nil
	}
	slots, hash := t.kinds[at.Kind()].all, t.hash(organizationID, at)
	for i := hash; ; i++ {
		slot := slots[i%uint64(len(slots))].Load()
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
	if t == nil {
		t = &table{seed: maphash.MakeSeed()}
	}
	next := &table{t.seed, append(t.keys, key), t.kinds}
	for _, at := range key.locators() {
		if slots := &next.kinds[at.Kind()]; slots.used >= len(slots.all)/4*3 {
			next.widen(at.Kind(), t.keys)
		}
		next.enter(len(next.keys), key, at)
	}
	return next
}

// widen gives a kind twice as many slots, in which the keys are that it had.
func (t *table) widen(kind keystore.LocatorKind, keys []*Key) {
	t.kinds[kind] = slots{all: make([]atomic.Uint64, max(2*len(t.kinds[kind].all), minSlots))}
	for number, known := range keys {
		for _, at := range known.locators() {
			if at.Kind() == kind {
				t.enter(number+1, known, at)
			}
		}
	}
}

// enter puts the number of a key into the slot of a locator.
func (t *table) enter(number int, key *Key, at keystore.Locator) {
	slots, hash := &t.kinds[at.Kind()], t.hash(key.organization, &at)
	i := hash
	for slots.all[i%uint64(len(slots.all))].Load() != 0 {
		i++
	}
	slots.all[i%uint64(len(slots.all))].Store(hash&^slotNumber | uint64(number))
	slots.used++
}

func (t *table) hash(organizationID string, at *keystore.Locator) uint64 {
	return bits.RotateLeft64(maphash.String(t.seed, organizationID), 1) ^ at.Hash(t.seed)
}

// locators returns where the key is found in the table.
func (k *Key) locators() []keystore.Locator {
	return append(keystore.Locators(k.public), keystore.ByID(k.id))
}

// isAt reports whether the key is the organization's, and at a locator.
func (k *Key) isAt(organizationID string, at *keystore.Locator) bool {
	if k.organization != organizationID {
		return false
	}
	if at.Kind() == keystore.LocateByID {
		return *at == keystore.ByID(k.id)
	}
	return at.Locates(&k.public)
}
