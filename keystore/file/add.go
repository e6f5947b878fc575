package file

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

// batchSize is the number of keys written under one lock and one sync of the directory.
const batchSize = 512

// writers is the number of files written at once: file systems commit concurrent syncs together.
const writers = 32

// Add adds a key to an organization. When it returns without error, the key is safe on
// disk. The ID must be a UUID or empty. The name and the organization id have at most 256
// bytes each, and pass keystore.CheckName. If the organization has this key, or one with
// this id, Add returns keystore.ErrKeyExists together with the existing key. After any
// other error the key may have been added; adding it again tells. While an existing key
// file cannot be read, nothing is added, because it may hold the same key.
func (s *Store) Add(ctx context.Context, organizationID string, key keystore.NewKey) (keystore.KeyInfo, error) {
	infos, errs := s.AddBatch(ctx, organizationID, []keystore.NewKey{key})
	return infos[0], errs[0]
}

// Generate implements keystore.Generator, under the conditions of Add.
func (s *Store) Generate(ctx context.Context, organizationID, name string, curve keystore.Curve) (keystore.KeyInfo, error) {
	key := software.Generate(name, curve)
	defer keystore.Wipe(key.Secret)
	return s.Add(ctx, organizationID, key)
}

// AddBatch implements keystore.Importer. Each key costs a fraction of what Add costs. A
// key that is in the batch twice is added once.
func (s *Store) AddBatch(ctx context.Context, organizationID string, keys []keystore.NewKey) (infos []keystore.KeyInfo, errs []error) {
	infos, errs = make([]keystore.KeyInfo, 0, len(keys)), make([]error, 0, len(keys))
	for chunk := range slices.Chunk(keys, batchSize) {
		for _, key := range s.addBatch(ctx, organizationID, chunk) {
			infos, errs = append(infos, key.info), append(errs, key.err)
		}
	}
	return infos, errs
}

// batch adds keys in these steps:
//
//	prepare   derive the public keys, check ids and names
//	lock      take the lock, take in what other writers have added
//	sift      set apart the keys that exist already
//	write     write each to a temporary file and sync it, many at once
//	publish   rename all files, sync the directory
//	insert    make the keys findable; not earlier, so that no address is given out of a
//	          key that may still be lost
type batch struct {
	*Store
	organizationID string
	keys           []newKey
}

// newKey is a key being added.
type newKey struct {
	key  *software.Key // nil if refused
	info keystore.KeyInfo
	err  error
	twin *newKey // the same key, earlier in the batch
	temp string  // name of the temporary file
}

func (k *newKey) isPending() bool { return k.err == nil && k.twin == nil }

// fail refuses the key. info is the existing key that prevents it, if any.
func (k *newKey) fail(info keystore.KeyInfo, err error) {
	if k.key != nil {
		k.key.Destroy()
	}
	k.key, k.info, k.err = nil, info, fmt.Errorf("add key: %w", err)
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
	for i := range b.keys { // the second of two equal keys in a batch has the outcome of the first
		switch k := &b.keys[i]; {
		case k.twin == nil || k.err != nil:
		case k.twin.err != nil:
			k.fail(keystore.KeyInfo{}, k.twin.err)
		default:
			k.fail(k.twin.info, fmt.Errorf("%w: key %s, earlier in the batch", keystore.ErrKeyExists, k.twin.info.ID))
		}
	}
	return b.keys
}

// describe fills in the id and the creation time if the caller gave none. New ids grow with time
// (UUID version 7), so that keys of the same second are listed in the order of the batch.
func (k *newKey) describe(key keystore.NewKey) {
	k.info = keystore.KeyInfo{ID: key.ID, Name: key.Name, PublicKey: key.PublicKey, CreatedAt: key.CreatedAt, ActsFor: key.ActsFor}
	if k.info.CreatedAt.IsZero() {
		k.info.CreatedAt = time.Now()
	}
	if k.info.ID == "" {
		k.info.ID = newID()
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
	if k.key, err = software.New(k.info, key.Curve, key.Secret); err != nil {
		k.fail(keystore.KeyInfo{}, err)
		return
	}
	k.info = k.key.Info()
	if err := newMetadata(b.organizationID, k.info).check(); err != nil {
		k.fail(keystore.KeyInfo{}, err)
	}
}

// commit returns an error that applies to all keys without an error of their own.
func (b *batch) commit(ctx context.Context) error {
	return b.asWriter(ctx, func() error {
		if err := b.sift(); err != nil {
			return err
		}
		inParallel(len(b.keys), writers, func(i int) { b.write(&b.keys[i]) })
		if err := b.publish(); err != nil {
			return err
		}
		b.insert()
		return nil
	})
}

// sift sets apart the keys that are in the keystore or earlier in the batch, and those that
// are refused.
func (b *batch) sift() error {
	inBatch := map[keystore.Locator]*newKey{}
	taken := named{}
	var after []keystore.KeyInfo
	for i := range b.keys {
		k := &b.keys[i]
		if k.err != nil {
			continue
		}
		if info, err := b.existing(b.organizationID, k.info); err != nil {
			k.fail(info, err)
			continue
		}
		for _, locator := range locators(k.info) {
			if first := inBatch[locator]; first != nil {
				k.twin = first
			}
		}
		if k.twin != nil {
			continue
		}
		if k.info.Name != "" {
			if b.names[b.organizationID] == nil {
				_, _, b.names[b.organizationID] = b.all(b.organizationID)
			}
			if err := errors.Join(b.names[b.organizationID].check(k.info), taken.take(k.info)); err != nil {
				k.fail(keystore.KeyInfo{}, err)
				continue
			}
			after = append(after, k.info)
		}
		for _, locator := range locators(k.info) {
			inBatch[locator] = k
		}
	}
	if len(after) == 0 || b.options.Judge == nil {
		return nil
	}
	before, _, _ := b.all(b.organizationID)
	return b.options.Judge(b.organizationID, before, slices.Concat(before, after))
}

// write writes a key to a temporary file.
func (b *batch) write(k *newKey) {
	if !k.isPending() {
		return
	}
	content, err := b.sealer.seal(newMetadata(b.organizationID, k.info), k.key)
	if err == nil {
		k.temp, err = writeTemp(b.keysRoot, content)
		showProgress(b.root)
	}
	if err != nil {
		k.fail(keystore.KeyInfo{}, b.errorf("write", err))
	}
}

// publish gives the files their names and syncs the directory. If the sync fails, it is
// unknown which names are on disk, and none is acknowledged.
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
	return b.keysRoot.Sync()
}

func (b *batch) insert() {
	for i := range b.keys {
		k := &b.keys[i]
		if !k.isPending() {
			continue
		}
		if _, err := b.index.Insert(b.organizationID, k.key); err != nil {
			k.fail(keystore.KeyInfo{}, err)
			b.missed = true // its file has been written
			continue
		}
		b.setOwner(k.info.ID, b.organizationID)
		if names := b.names[b.organizationID]; names != nil {
			names[k.info.Name] = k.info.ID
		}
	}
}
