package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// batch is the way of some keys to the disk:
//
//	prepare   derive the public keys, check what is told of them
//	lock      our turn among the writers; take in what the others have added
//	sift      set those apart that are there already
//	write     each to a temporary file, and sync it; many at once
//	publish   rename them all, sync the directory
//	insert    only now can they be found: no address of a key that may yet be
//	          lost is given out
type batch struct {
	*Store
	organizationID string
	keys           []newKey
}

// newKey is a key on its way.
type newKey struct {
	made *software.Key // nil if refused
	info keystore.KeyInfo
	err  error
	twin *newKey // the same key, earlier in the batch
	temp string  // the file that it was written to
}

func (k *newKey) isPending() bool { return k.err == nil && k.twin == nil }

// fail ends the way of a key; info is what there is instead, if anything.
func (k *newKey) fail(info keystore.KeyInfo, err error) {
	if k.made != nil {
		k.made.Destroy()
	}
	k.made, k.info, k.err = nil, info, fmt.Errorf("add key: %w", err)
}

func (s *Store) addBatch(ctx context.Context, organizationID string, keys []keystore.NewKey) []newKey {
	b := &batch{Store: s, organizationID: organizationID, keys: make([]newKey, len(keys))}
	for i, key := range keys {
		b.keys[i].describe(key)
	}
	inParallel(len(keys), writers, func(i int) { b.prepare(&b.keys[i], keys[i]) })
	if err := b.commit(ctx); err != nil {
		err = s.errorf("write", err)
		for i := range b.keys {
			if b.keys[i].err == nil {
				b.keys[i].fail(keystore.KeyInfo{}, err)
			}
		}
	}
	for i := range b.keys {
		b.keys[i].answerForTwin()
	}
	return b.keys
}

// answerForTwin gives a key that was twice in the batch the fate of the first.
func (k *newKey) answerForTwin() {
	switch {
	case k.twin == nil || k.err != nil:
	case k.twin.err != nil:
		k.fail(keystore.KeyInfo{}, k.twin.err)
	default:
		k.fail(k.twin.info, fmt.Errorf("%w: key %s, earlier in the batch", keystore.ErrKeyExists, k.twin.info.ID))
	}
}

// describe fills in what a key was not given. New ids grow with time (UUID
// version 7), so that keys of the same second are listed in the order of the
// batch.
func (k *newKey) describe(key keystore.NewKey) {
	k.info = keystore.KeyInfo{ID: key.ID, Name: key.Name, PublicKey: key.PublicKey, CreatedAt: key.CreatedAt, ActsFor: key.ActsFor}
	if k.info.CreatedAt.IsZero() {
		k.info.CreatedAt = time.Now()
	}
	if k.info.ID == "" {
		k.info.ID = uuid.Must(uuid.NewV7()).String()
		return
	}
	var err error
	if k.info.ID, err = canonicalID(k.info.ID); err != nil {
		k.fail(keystore.KeyInfo{}, err)
	}
}

func (b *batch) prepare(k *newKey, key keystore.NewKey) {
	if k.err != nil {
		return
	}
	var err error
	if k.made, err = software.New(k.info, key.Curve, key.Secret); err != nil {
		k.fail(keystore.KeyInfo{}, err)
		return
	}
	k.info = k.made.Info()
	if err := newMetadata(b.organizationID, k.info).check(); err != nil {
		k.fail(keystore.KeyInfo{}, err)
	}
}

// commit returns an error that concerns all keys that have none of their own.
func (b *batch) commit(ctx context.Context) error {
	return b.asWriter(ctx, func() error {
		b.sift()
		inParallel(len(b.keys), writers, func(i int) { b.write(&b.keys[i]) })
		if err := b.publish(); err != nil {
			return err
		}
		b.insert()
		return nil
	})
}

// asWriter calls do when it is our turn among the writers, and what the others
// have added is taken in. s.mu is held.
func (s *Store) asWriter(ctx context.Context, do func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	if err := s.checkOwner(); err != nil {
		return err
	}
	// What others have added before now is read before our turn begins, which
	// leaves little to read in it.
	if err := s.takeInAll(ctx, s.wrote.directory); err != nil {
		return err
	}
	unlock, before, err := lock(ctx, s.root, s.options.LockWait)
	if err != nil {
		return err
	}
	defer unlock()
	var since time.Time
	if before.Equal(s.wrote.lock) {
		since = s.wrote.directory
	}
	s.wrote, s.missed = turn{}, false
	if err := s.takeInAll(ctx, since); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	s.wrote = s.endTurn()
	return nil
}

// turn is what a writer leaves behind: the time of the lock file, which every writer sets
// to its clock, and that of the directory of keys. If the next turn finds both, no other
// writer had one meanwhile, and there is nothing to read: adding n keys, one after the
// other, lists the directory once and not n times.
type turn struct{ lock, directory time.Time }

// endTurn returns the zero turn if there are files to be read again, or if the file system
// rounds times, so that this turn could not be told from the next. The lock is held.
func (s *Store) endTurn() turn {
	ended := turn{lock: time.Now().Round(0)}
	if s.missed || len(s.bad) > 0 || s.root.Chtimes(lockName, ended.lock, ended.lock) != nil {
		return turn{}
	}
	info, err := s.root.Lstat(lockName)
	if err != nil || !info.ModTime().Equal(ended.lock) {
		return turn{}
	}
	if info, err = s.keysRoot.Lstat("."); err != nil {
		return turn{}
	}
	ended.directory = info.ModTime()
	return ended
}

// takeInAll is takeIn for who is about to write: a file that could not be read
// may hold the very key. It is not needed if the directory has still the time since, unless
// that is zero. s.mu is held.
func (s *Store) takeInAll(ctx context.Context, since time.Time) error {
	if err := s.follow(ctx); err != nil {
		return err
	}
	if !since.IsZero() {
		info, err := s.keysRoot.Lstat(".")
		if err != nil || info.ModTime().Equal(since) {
			return err
		}
	}
	if err := s.takeIn(ctx); err != nil {
		return err
	}
	return s.unread()
}

// sift sets apart the keys that are in the keystore, or in the batch, already.
func (b *batch) sift() {
	inBatch := map[keystore.Locator]*newKey{}
	for i := range b.keys {
		k := &b.keys[i]
		if k.err != nil {
			continue
		}
		if info, err := b.existing(b.organizationID, k.info); err != nil {
			k.fail(info, err)
			continue
		}
		for _, at := range locators(k.info) {
			if first := inBatch[at]; first != nil {
				k.twin = first
			}
		}
		if k.twin == nil {
			for _, at := range locators(k.info) {
				inBatch[at] = k
			}
		}
	}
}

func locators(info keystore.KeyInfo) []keystore.Locator {
	return append(keystore.Locators(info.PublicKey), keystore.ByID(info.ID))
}

// existing returns what the keystore has of a key. Ids name files, so that each
// is there once, whatever the organization; of another organization's key
// nothing is told but that.
func (s *Store) existing(organizationID string, info keystore.KeyInfo) (keystore.KeyInfo, error) {
	if found, shares := s.sharing(organizationID, info); shares {
		return found, fmt.Errorf("%w: key %s", keystore.ErrKeyExists, found.ID)
	}
	name := info.ID + keySuffix
	switch _, err := s.keysRoot.Lstat(name); {
	case err == nil:
		return keystore.KeyInfo{}, fmt.Errorf("%w: the id %s is taken: leave it empty to have one made", keystore.ErrKeyExists, info.ID)
	case !errors.Is(err, fs.ErrNotExist):
		return keystore.KeyInfo{}, s.fileError(err, keysName, name)
	}
	return keystore.KeyInfo{}, nil
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

// write puts a key into a temporary file.
func (b *batch) write(k *newKey) {
	if !k.isPending() {
		return
	}
	content, err := b.sealer.seal(newMetadata(b.organizationID, k.info), k.made)
	if err == nil {
		k.temp, err = writeTemp(b.keysRoot, content)
		showProgress(b.root)
	}
	if err != nil {
		k.fail(keystore.KeyInfo{}, b.errorf("write", err))
	}
}

// publish gives the files their names, and makes those safe on disk. If that
// fails, it is unknown which are: none is acknowledged.
func (b *batch) publish() error {
	for i := range b.keys {
		k := &b.keys[i]
		if !k.isPending() {
			continue
		}
		if err := b.keysRoot.Rename(k.temp, k.info.ID+keySuffix); err != nil {
			_ = b.keysRoot.Remove(k.temp)
			k.fail(keystore.KeyInfo{}, b.errorf("write", err))
		}
	}
	return syncDirectory(b.keysRoot)
}

func (b *batch) insert() {
	for i := range b.keys {
		k := &b.keys[i]
		if !k.isPending() {
			continue
		}
		if _, err := b.index.Insert(b.organizationID, k.made); err != nil {
			k.fail(keystore.KeyInfo{}, err)
			b.missed = true // its file is there
			continue
		}
		b.own(k.info.ID, b.organizationID)
	}
}
