package remote

import (
	"crypto/sha256"
	"fmt"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// Pin is a key of the store: where it is, and which one it is.
type Pin struct {
	URI            string
	PublicKey      keystore.PublicKey
	OrganizationID string
	Name           string // free text, may be empty
	ID             string // IDOf(PublicKey) if empty
	Disabled       bool   // not found, but kept
}

// IDOf returns the id of a key that has none: a UUID of version 8 (RFC 9562), the first bytes
// of the SHA-256 of the domain "countersign remote key", a zero byte, and the public key as
// keystore.PublicKey.Bytes returns it.
func IDOf(public keystore.PublicKey) string {
	digest := sha256.Sum256(append([]byte("countersign remote key\x00"), public.Bytes()...))
	id := uuid.UUID(digest[:16])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// table has the keys of a store. It does not change, but what is known of its keys does.
type table struct {
	keys []*key // in the order of the pins
	at   map[string]map[keystore.Locator]*key
}

// newTable checks the pins. Keys of the table before are kept if their pin is the same.
func newTable(store *Store, pins []Pin, before *table) (*table, error) {
	next := &table{at: map[string]map[keystore.Locator]*key{}}
	for i, pin := range pins {
		made, err := newKey(store, pin)
		if err == nil {
			if before != nil {
				if old := before.at[made.pin.OrganizationID][keystore.ByID(made.id)]; old != nil && old.pin == made.pin {
					made = old
				}
			}
			err = next.insert(made)
		}
		if err != nil {
			return nil, fmt.Errorf("key %d (%s): %w", i+1, pin.Name, err)
		}
	}
	return next, nil
}

func (t *table) insert(k *key) error {
	of := t.at[k.pin.OrganizationID]
	if of == nil {
		of = map[keystore.Locator]*key{}
		t.at[k.pin.OrganizationID] = of
	}
	for _, locator := range software.Locators(k.pin.PublicKey, k.id) {
		if other := of[locator]; other != nil {
			return fmt.Errorf("%w: %s in the same organization", keystore.ErrKeyExists, other)
		}
		of[locator] = k
	}
	t.keys = append(t.keys, k)
	return nil
}
