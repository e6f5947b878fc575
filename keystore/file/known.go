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

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// insertAll puts the files into the index, keys first, oldest first, and sets bad files
// aside.
func (c *contents) insertAll(files []loaded) {
	slices.SortFunc(files, func(a, b loaded) int {
		switch {
		case a.key != nil && b.key != nil:
			return software.Compare(a.key, b.key)
		case a.key != nil:
			return -1
		case b.key != nil:
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	for _, file := range files {
		if file.err == nil {
			file.err = c.insert(file)
		}
		if file.err != nil && !errors.Is(file.err, fs.ErrNotExist) { // removed since it was listed
			c.setAside(file)
		}
	}
}

func (c *contents) insert(file loaded) error {
	if file.wallet != nil {
		return c.insertWallet(file)
	}
	existing, err := c.insertKey(file)
	if errors.Is(err, keystore.ErrKeyExists) {
		err = fmt.Errorf("%w: it holds the same key as %s%s: move one of them away", err, existing.ID, keySuffix)
	}
	if err != nil {
		file.destroy()
		return err
	}
	c.setOwner(file.id, file.organizationID)
	return nil
}

// insertKey adds a key to the index or, if it is disabled, to the parked keys.
func (c *contents) insertKey(file loaded) (existing keystore.KeyInfo, err error) {
	clear(c.names)
	info := file.key.Info()
	existing, shares := c.parked.sharing(file.organizationID, info)
	if !shares && file.disabled {
		existing, shares = c.sharing(file.organizationID, info)
	}
	if shares {
		return existing, keystore.ErrKeyExists
	}
	if !file.disabled {
		return c.index.Insert(file.organizationID, file.key)
	}
	c.parked.add(file.organizationID, info)
	file.destroy() // a disabled key keeps no secret in memory
	return existing, nil
}

// setOwner records the organization of a key or wallet. The caller holds s.mu.
func (c *contents) setOwner(id, organizationID string) {
	c.owners[id] = unique.Make(organizationID).Value() // one copy for all its keys
}

// isOf reports whether a key or wallet belongs to the organization. The caller holds s.mu.
func (c *contents) isOf(organizationID, id string) bool {
	owner, known := c.owners[id]
	return known && owner == organizationID
}

// sharing returns the key of the organization, if any, that has the id or an address of
// info.
func (c *contents) sharing(organizationID string, info keystore.KeyInfo) (existing keystore.KeyInfo, shares bool) {
	for _, locator := range locators(info) {
		if key, err := c.index.Key(context.Background(), organizationID, locator); err == nil {
			return key.Info(), true
		}
	}
	return c.parked.sharing(organizationID, info)
}

// forget removes a key, or a wallet with all its keys, from memory. The caller holds s.mu.
func (c *contents) forget(id string) {
	clear(c.names)
	if owner, known := c.owners[id]; known {
		c.index.Remove(owner, id)
	}
	c.parked.remove(id)
	if w := c.wallets[id]; w != nil {
		for _, account := range w.Accounts {
			c.index.Remove(w.organizationID, account.ID)
			c.parked.remove(account.ID)
			delete(c.accounts, account.ID)
		}
	}
	delete(c.wallets, id)
	delete(c.owners, id)
	c.settled.Store(0)
}

// parked holds the disabled keys, without their secrets, so that they can be listed and
// are not added a second time. The zero value is empty.
type parked struct {
	keys map[string]parkedKey     // by id
	ids  map[parkedLocator]string // of keys
}

type parkedKey struct {
	organizationID string
	keystore.KeyInfo
}

type parkedLocator struct {
	organizationID string
	keystore.Locator
}

func (p *parked) add(organizationID string, info keystore.KeyInfo) {
	if p.keys == nil {
		p.keys, p.ids = map[string]parkedKey{}, map[parkedLocator]string{}
	}
	p.keys[info.ID] = parkedKey{organizationID, info}
	for _, locator := range allLocators(info) {
		p.ids[parkedLocator{organizationID, locator}] = info.ID
	}
}

// remove removes a key, if it is there.
func (p *parked) remove(id string) {
	key, ok := p.keys[id]
	if !ok {
		return
	}
	delete(p.keys, id)
	for _, locator := range allLocators(key.KeyInfo) {
		delete(p.ids, parkedLocator{key.organizationID, locator})
	}
}

// sharing returns the parked key, if any, that has the id or an address of info.
func (p *parked) sharing(organizationID string, info keystore.KeyInfo) (existing keystore.KeyInfo, shares bool) {
	for _, locator := range locators(info) {
		if existing, shares = p.find(organizationID, locator); shares {
			return existing, true
		}
	}
	return keystore.KeyInfo{}, false
}

// find returns the parked key at a locator.
func (p *parked) find(organizationID string, locator keystore.Locator) (keystore.KeyInfo, bool) {
	id, ok := p.ids[parkedLocator{organizationID, locator}]
	return p.keys[id].KeyInfo, ok
}

// list returns the parked keys of an organization, oldest first.
func (p *parked) list(organizationID string) (infos []keystore.KeyInfo) {
	for _, key := range p.keys {
		if key.organizationID == organizationID {
			infos = append(infos, key.KeyInfo)
		}
	}
	slices.SortFunc(infos, func(a, b keystore.KeyInfo) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return infos
}

func (c *contents) setAside(file loaded) {
	bad := badFile{err: c.fileError(file.err, keysName, file.name)}
	if info, err := c.keysRoot.Lstat(file.name); err == nil {
		bad.version, bad.mode = versionOf(info), info.Mode()
	}
	c.bad[file.name] = bad
	c.options.Logger.Warn("key file skipped", "file", bad.err.Path, "error", file.err)
}

// existing returns the organization's key that prevents adding a key, with
// keystore.ErrKeyExists. Ids name files, so that each exists once across organizations;
// nothing but that is revealed about another organization's key.
func (c *contents) existing(organizationID string, info keystore.KeyInfo) (keystore.KeyInfo, error) {
	if existing, shares := c.sharing(organizationID, info); shares {
		return existing, fmt.Errorf("%w: key %s", keystore.ErrKeyExists, existing.ID)
	}
	name := info.ID + keySuffix
	switch _, err := c.keysRoot.Lstat(name); {
	case err == nil:
		return keystore.KeyInfo{}, fmt.Errorf("%w: the id %s is taken: leave it empty to generate one", keystore.ErrKeyExists, info.ID)
	case !errors.Is(err, fs.ErrNotExist):
		return keystore.KeyInfo{}, c.fileError(err, keysName, name)
	}
	return keystore.KeyInfo{}, nil
}
