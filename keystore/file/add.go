package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// batchSize is how many keys are written under one lock and one sync of the
// directory.
const batchSize = 512

// writers is how many files are written at once: a file system commits what
// several ask for together.
const writers = 32

// Add puts a key into an organization. When it returns without error, the key
// is safe on disk. The ID must be a UUID or empty; ID, Name and organization keep to
// MaxNameSize and MaxOrganizationSize, are valid UTF-8 and have no control characters. If the organization has this key, or one with this id, it
// returns keystore.ErrKeyExists together with what there is. After another error
// the key may be there, whole; adding it again tells. While a key file cannot be
// read for another reason than what is in it, nothing is added: it may hold the
// same key.
func (s *Store) Add(ctx context.Context, organizationID string, key keystore.NewKey) (keystore.KeyInfo, error) {
	infos, errs := s.AddBatch(ctx, organizationID, []keystore.NewKey{key})
	return infos[0], errs[0]
}

// Generate makes a new key in an organization, like Add.
func (s *Store) Generate(ctx context.Context, organizationID, name string, curve keystore.Curve) (keystore.KeyInfo, error) {
	secret := make([]byte, keystore.SecretSize)
	defer keystore.Wipe(secret)
	if err := software.Generate(curve, secret); err != nil {
		return keystore.KeyInfo{}, err
	}
	return s.Add(ctx, organizationID, keystore.NewKey{Name: name, Curve: curve, Secret: secret})
}

// AddBatch is Add for many keys at once, at a fraction of the cost of each. Both
// slices have one element for each key, in order: infos[i] is acknowledged if
// errs[i] is nil. A key that is twice in the batch is added once.
func (s *Store) AddBatch(ctx context.Context, organizationID string, keys []keystore.NewKey) (infos []keystore.KeyInfo, errs []error) {
	infos, errs = make([]keystore.KeyInfo, 0, len(keys)), make([]error, 0, len(keys))
	for some := range slices.Chunk(keys, batchSize) {
		for _, key := range s.addBatch(ctx, organizationID, some) {
			infos, errs = append(infos, key.info), append(errs, key.err)
		}
	}
	return infos, errs
}

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
