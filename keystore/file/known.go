package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unique"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// insertAll puts what was read into the index, oldest first, and sets aside
// what is bad.
func (s *Store) insertAll(files []loaded) {
	slices.SortFunc(files, func(a, b loaded) int {
		if a.key == nil || b.key == nil { // bad ones and wallets come behind, by name
			return cmp.Or(boolCompare(a.key == nil, b.key == nil), strings.Compare(a.name, b.name))
		}
		return software.Compare(a.key, b.key)
	})
	for _, file := range files {
		if file.err == nil {
			file.err = s.insert(file)
		}
		if file.err != nil && !errors.Is(file.err, fs.ErrNotExist) { // more than gone since it was listed
			s.setAside(file)
		}
	}
}

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (s *Store) insert(file loaded) error {
	if file.wallet != nil {
		return s.insertWallet(file)
	}
	existing, err := s.insertKey(file)
	if errors.Is(err, keystore.ErrKeyExists) {
		err = fmt.Errorf("%w: it holds the same key as %s%s: move one of them away", err, existing.ID, keySuffix)
	}
	if err != nil {
		file.destroy()
		return err
	}
	s.own(file.id, file.organizationID)
	return nil
}

// insertKey makes a key known: to look-ups, or, if it is disabled, as one that is there.
func (s *Store) insertKey(file loaded) (existing keystore.KeyInfo, err error) {
	info := file.key.Info()
	existing, shares := s.parked.sharing(file.organizationID, info)
	if !shares && file.disabled {
		existing, shares = s.sharing(file.organizationID, info)
	}
	if shares {
		return existing, keystore.ErrKeyExists
	}
	if !file.disabled {
		return s.index.Insert(file.organizationID, file.key)
	}
	s.parked.add(file.organizationID, info)
	file.destroy() // nothing signs with it
	return existing, nil
}

// own notes which organization a file is of. s.mu is held.
func (s *Store) own(id, organizationID string) { s.known[mustID(id)] = unique.Make(organizationID) }

// mustID returns an id that was checked as a UUID.
func mustID(id string) uuid.UUID { return uuid.MustParse(id) }

// isOf reports whether a key or wallet is the organization's. s.mu is held.
func (s *Store) isOf(organizationID, id string) bool {
	owner, known := s.known[mustID(id)]
	return known && owner.Value() == organizationID
}

// sharing returns the key of the organization that is at one of a key's places.
func (s *Store) sharing(organizationID string, info keystore.KeyInfo) (found keystore.KeyInfo, shares bool) {
	for _, at := range locators(info) {
		if key, err := s.index.Key(context.Background(), organizationID, at); err == nil {
			return key.Info(), true
		}
	}
	return s.parked.sharing(organizationID, info)
}

func locators(info keystore.KeyInfo) []keystore.Locator {
	return append(keystore.Locators(info.PublicKey), keystore.ByID(info.ID))
}

// forget takes a key, or a wallet with all its keys, out of what is known. s.mu is
// held.
func (s *Store) forget(id string) {
	if owner, known := s.known[mustID(id)]; known {
		s.index.Remove(owner.Value(), id)
	}
	s.parked.remove(id)
	if w := s.wallets[id]; w != nil {
		for _, account := range w.Accounts {
			s.index.Remove(w.organizationID, account.ID)
			s.parked.remove(account.ID)
			delete(s.accounts, account.ID)
		}
	}
	delete(s.wallets, id)
	delete(s.known, mustID(id))
	s.settled.Store(0)
}

// parked are the keys that are disabled: without their secrets, so that they can be
// listed, and so that they are not added once more. The zero value is empty.
type parked struct {
	keys map[string]parkedKey
	at   map[parkedAt]string // ids
}

type parkedKey struct {
	organizationID string
	keystore.KeyInfo
}

type parkedAt struct {
	organizationID string
	at             keystore.Locator
}

func (p *parked) add(organizationID string, info keystore.KeyInfo) {
	if p.keys == nil {
		p.keys, p.at = map[string]parkedKey{}, map[parkedAt]string{}
	}
	p.keys[info.ID] = parkedKey{organizationID, info}
	for _, at := range everyLocator(info) {
		p.at[parkedAt{organizationID, at}] = info.ID
	}
}

// remove takes a key out, if it is there.
func (p *parked) remove(id string) {
	key, ok := p.keys[id]
	if !ok {
		return
	}
	delete(p.keys, id)
	for _, at := range everyLocator(key.KeyInfo) {
		delete(p.at, parkedAt{key.organizationID, at})
	}
}

// sharing returns the key that is at one of a key's places.
func (p *parked) sharing(organizationID string, info keystore.KeyInfo) (found keystore.KeyInfo, shares bool) {
	for _, at := range locators(info) {
		if id, ok := p.at[parkedAt{organizationID, at}]; ok {
			return p.keys[id].KeyInfo, true
		}
	}
	return keystore.KeyInfo{}, false
}

// find returns the key at a place.
func (p *parked) find(organizationID string, at keystore.Locator) (keystore.KeyInfo, bool) {
	id, ok := p.at[parkedAt{organizationID, at}]
	return p.keys[id].KeyInfo, ok
}

// list returns the keys of an organization, oldest first.
func (p *parked) list(organizationID string) (all []keystore.KeyInfo) {
	for _, key := range p.keys {
		if key.organizationID == organizationID {
			all = append(all, key.KeyInfo)
		}
	}
	slices.SortFunc(all, func(a, b keystore.KeyInfo) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all
}

// everyLocator returns where a key would be found.
func everyLocator(info keystore.KeyInfo) []keystore.Locator {
	all := locators(info)
	if taproot, err := keystore.TaprootLocator(info.PublicKey); err == nil {
		all = append(all, taproot)
	}
	return all
}
