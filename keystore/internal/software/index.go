package software

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-dev/countersign/keystore"
)

// Index finds keys by organization and locator. It is a keystore.Keystore to be filled by Insert.
// The zero Index is empty and ready to use.
type Index struct {
	mu            sync.RWMutex
	organizations map[string]*organization
	closed        bool
}

var _ keystore.Keystore = (*Index)(nil)

// organization has the keys of one organization, which no other one can find.
type organization struct {
	at   map[keystore.Locator]*Key // every key by each of its locators
	keys []*Key                    // in order of insertion

	// listed has the keys oldest first if they were inserted in another order (unordered).
	// The first listing computes it.
	listed    []*Key
	unordered bool

	taproot, nested lateIndex
}

// Insert adds a key to an organization and takes ownership of it. If the organization has a key
// with this id or this secret, it returns keystore.ErrKeyExists together with the existing key;
// after Close, keystore.ErrClosed. In both cases the caller still owns the key.
func (x *Index) Insert(organizationID string, key *Key) (existing keystore.KeyInfo, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return keystore.KeyInfo{}, keystore.ErrClosed
	}
	org := x.organization(organizationID)
	locators := key.locators()
	for _, locator := range locators {
		if other := org.at[locator]; other != nil {
			return other.Info(), fmt.Errorf("%w: key %s", keystore.ErrKeyExists, other.id)
		}
	}
	for _, locator := range locators {
		org.at[locator] = key
	}
	if last := len(org.keys) - 1; last >= 0 && Compare(key, org.keys[last]) < 0 {
		org.unordered = true
	}
	org.listed = nil
	org.keys = append(org.keys, key)
	return keystore.KeyInfo{}, nil
}

// organization returns the organization, which it creates if needed. The caller holds x.mu.
func (x *Index) organization(organizationID string) *organization {
	org := x.organizations[organizationID]
	if org == nil {
		if x.organizations == nil {
			x.organizations = map[string]*organization{}
		}
		org = &organization{at: map[keystore.Locator]*Key{}}
		x.organizations[strings.Clone(organizationID)] = org
	}
	return org
}

// Remove removes a key and destroys its secret. Existing handles to it return
// keystore.ErrWithdrawn. Removing a key that does not exist does nothing.
func (x *Index) Remove(organizationID, id string) {
	if org, key := x.take(organizationID, id); key != nil {
		org.taproot.reset()
		org.nested.reset()
		key.withdrawn.Store(true)
		key.Destroy() // waits for signatures in progress
	}
}

func (x *Index) take(organizationID, id string) (*organization, *Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	org := x.organizations[organizationID]
	if org == nil || org.at[keystore.ByID(id)] == nil {
		return nil, nil
	}
	key := org.at[keystore.ByID(id)]
	for _, locator := range key.locators() {
		delete(org.at, locator)
	}
	// Listings may still use the old slice.
	org.keys = slices.DeleteFunc(slices.Clone(org.keys), func(other *Key) bool { return other == key })
	org.listed = nil
	return org, key
}

func (x *Index) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	key, err := x.Key(ctx, organizationID, locator)
	if err != nil {
		return nil, err
	}
	return key.Handle(), nil
}

// Key is Find for callers with access to the secret.
func (x *Index) Key(ctx context.Context, organizationID string, locator keystore.Locator) (*Key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if locator.IsTaproot() || locator.IsNested() {
		return x.keyLate(ctx, organizationID, locator)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return nil, keystore.ErrClosed
	}
	if org := x.organizations[organizationID]; org != nil {
		if key := org.at[locator]; key != nil {
			return key, nil
		}
	}
	return nil, keystore.ErrKeyNotFound
}

// Keys implements keystore.Keystore. It lists the keys present when the iteration starts, by time
// of creation and then by id.
func (x *Index) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		keys, err := x.list(organizationID)
		if err != nil {
			yield(keystore.KeyInfo{}, err)
			return
		}
		for _, key := range keys {
			if err := ctx.Err(); err != nil {
				yield(keystore.KeyInfo{}, err)
				return
			}
			if !yield(key.Info(), nil) {
				return
			}
		}
	}
}

func (x *Index) list(organizationID string) ([]*Key, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, keystore.ErrClosed
	}
	org := x.organizations[organizationID]
	if org == nil {
		return nil, nil
	}
	if !org.unordered {
		return org.keys, nil
	}
	if org.listed == nil {
		org.listed = slices.SortedFunc(slices.Values(org.keys), Compare)
	}
	return org.listed, nil
}

// Compare orders keys for listings: by time of creation, then by id.
func Compare(a, b *Key) int {
	return cmp.Or(cmp.Compare(a.createdAt, b.createdAt), cmp.Compare(a.id, b.id))
}

func (x *Index) Close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	for _, org := range x.organizations {
		for _, key := range org.keys {
			key.Destroy()
		}
	}
	x.organizations = nil
	return nil
}

// lateIndex finds an organization's keys by taproot, or by P2SH-P2WPKH. A taproot locator takes
// a point multiplication, and few look-ups are by either, so these locators are computed at the
// first look-up of their kind.
type lateIndex struct {
	mu   sync.Mutex
	done int // number of the organization's keys in the index
	at   map[keystore.Locator]*Key
}

// keyLate is Key for a locator that is computed late. Such look-ups wait while keys are added to
// the index; look-ups by other locators do not. If the context ends first, the next call
// continues there.
func (x *Index) keyLate(ctx context.Context, organizationID string, locator keystore.Locator) (*Key, error) {
	org, _, err := x.keys(organizationID)
	if err != nil {
		return nil, err
	}
	index, locate := &org.taproot, keystore.TaprootLocator
	if locator.IsNested() {
		index, locate = &org.nested, keystore.NestedLocator
	}
	index.mu.Lock()
	defer index.mu.Unlock()
	_, keys, err := x.keys(organizationID) // again: a removal changes the keys before it resets the index
	if err != nil {
		return nil, err
	}
	if err := index.add(ctx, keys, locate); err != nil {
		return nil, err
	}
	if key := index.at[locator]; key != nil {
		return key, nil
	}
	return nil, keystore.ErrKeyNotFound
}

func (x *Index) keys(organizationID string) (*organization, []*Key, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return nil, nil, keystore.ErrClosed
	}
	org := x.organizations[organizationID]
	if org == nil {
		return nil, nil, keystore.ErrKeyNotFound
	}
	return org, org.keys, nil
}

// add adds the keys inserted since the last call.
func (t *lateIndex) add(ctx context.Context, keys []*Key, locate func(keystore.PublicKey) (keystore.Locator, error)) error {
	for ; t.done < len(keys); t.done++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		locator, err := locate(keys[t.done].public)
		if err != nil {
			continue // a key of another curve
		}
		if t.at == nil {
			t.at = map[keystore.Locator]*Key{}
		}
		t.at[locator] = keys[t.done]
	}
	return nil
}

// reset clears the index after a key was removed.
func (t *lateIndex) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.at = 0, nil
}
