package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unique"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// contents is what is known of the files of keys and wallets.
type contents struct {
	folder
	index    software.Index
	owners   map[string]string // organization id of each file that was read, by key or wallet id
	parked   parked
	wallets  map[string]*knownWallet // by id
	accounts map[string]string       // wallet id by key id
	bad      map[string]badFile      // by file name
	names    map[string]named        // by organization, of all until anything but a new key changes them
	missed   bool                    // this turn wrote a file that is not in the index

	// settled is the modification time of keys/ in nanoseconds if all its files have been
	// read and any later change must give it another time; otherwise 0.
	settled atomic.Int64

	// followed is the version of the file changes that was last read.
	followed atomic.Pointer[version]
}

// badFile is a key file that could not be loaded. A file that was read and refused is
// read again only when it changes; a file that could not be read is tried every time.
type badFile struct {
	err *Error
	version
	mode fs.FileMode
}

// isFinal reports whether the file was read and refused.
func (b badFile) isFinal() bool {
	return slices.ContainsFunc([]error{ErrNotAuthentic, ErrMalformed, ErrPermissions, keystore.ErrKeyExists},
		func(final error) bool { return errors.Is(b.err, final) })
}

// loaded is a file that was read: its content, or the error.
type loaded struct {
	name string
	content
	version version
	err     error
}

// version distinguishes one version of a file from the next.
type version struct {
	size     int64
	modified time.Time
}

func versionOf(info fs.FileInfo) version { return version{info.Size(), info.ModTime()} }

// knownWallet is a wallet whose file was read, without its secret.
type knownWallet struct {
	Wallet
	organizationID string
	version        version
}

// named are the ids of an organization's keys by their names, which new keys must not have:
// policies name keys by them. Names of earlier versions may not be unique.
type named map[string]string

// insertAll puts the files into the index, keys first, oldest first, and sets bad files aside.
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

// insertWallet inserts the accounts of a wallet that are not known yet, all or none. The
// caller holds s.mu.
func (c *contents) insertWallet(file loaded) error {
	w, before := file.wallet, c.wallets[file.id]
	defer func() { file.wallet.destroy() }() // the keys that the index did not take
	if before != nil && before.organizationID != file.organizationID {
		return fmt.Errorf("%w: it belonged to another organization before", ErrNotAuthentic)
	}
	isNew := map[int]bool{}
	for i, account := range w.Accounts {
		existing, shares := c.sharing(file.organizationID, account.KeyInfo)
		switch {
		case !shares:
			isNew[i] = true
		case existing.ID != account.ID || existing.PublicKey != account.PublicKey:
			return fmt.Errorf("%w: its account %v is the same key as %s%s, or has its id: move one of them away",
				keystore.ErrKeyExists, account.Path, existing.ID, keySuffix)
		}
	}
	for i, account := range w.Accounts {
		if err := c.insertAccount(file, i, isNew[i]); err != nil {
			return err
		}
		c.accounts[account.ID] = file.id
	}
	c.setOwner(file.id, file.organizationID)
	c.wallets[file.id] = &knownWallet{Wallet: w.clone(), organizationID: file.organizationID, version: file.version}
	return nil
}

// insertAccount inserts the i-th account of a wallet or, if it is not new, updates what has
// changed. The caller holds s.mu.
func (c *contents) insertAccount(file loaded, i int, isNew bool) error {
	clear(c.names)
	account := file.wallet.Accounts[i]
	if !isNew {
		key, err := c.index.Key(context.Background(), file.organizationID, keystore.ByID(account.ID))
		if err == nil && !account.Disabled && key.Info().ActsFor == account.ActsFor {
			key.Rename(account.Name)
			return nil
		}
		c.index.Remove(file.organizationID, account.ID)
		c.parked.remove(account.ID)
	}
	if account.Disabled {
		c.parked.add(file.organizationID, account.KeyInfo)
		return nil
	}
	_, err := c.index.Insert(file.organizationID, file.wallet.keys[i])
	if err == nil {
		file.wallet.keys[i] = nil
	}
	return err
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

// sharing returns the key of the organization, if any, that has the id or an address of info.
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

func (c *contents) setAside(file loaded) {
	bad := badFile{err: c.fileError(file.err, keysName, file.name)}
	if info, err := c.keysRoot.Lstat(file.name); err == nil {
		bad.version, bad.mode = versionOf(info), info.Mode()
	}
	c.bad[file.name] = bad
	c.options.Logger.Warn("key file skipped", "file", bad.err.Path, "error", file.err)
}

// badFiles returns the files that are not used, sorted by path. The caller holds s.mu.
func (c *contents) badFiles() (files []*Error) {
	for _, bad := range c.bad {
		files = append(files, bad.err)
	}
	c.registry.mu.Lock()
	defer c.registry.mu.Unlock()
	for _, file := range c.registry.was {
		if file.err != nil {
			files = append(files, file.err)
		}
	}
	slices.SortFunc(files, func(a, b *Error) int { return strings.Compare(a.Path, b.Path) })
	return files
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
	for _, locator := range software.Locators(info.PublicKey, info.ID) {
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
	for _, locator := range software.Locators(key.PublicKey, key.ID) {
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

// locators returns the locators of a key except those of scripts, which are costly.
func locators(info keystore.KeyInfo) []keystore.Locator {
	return append(keystore.Locators(info.PublicKey), keystore.ByID(info.ID))
}
