package software

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/countersign-dev/countersign/keystore"
)

// Index finds keys by organization and locator. It is a keystore.Keystore that
// others fill. The zero Index is empty and ready.
type Index struct {
	mu            sync.RWMutex
	organizations map[string]*organization
	closed        bool
}

var _ keystore.Keystore = (*Index)(nil)

// organization is the wall: locators of one organization lead nowhere in
// another.
type organization struct {
	keys []*Key                      // in the order they came
	at   map[keystore.Locator]uint32 // → position in keys

	// listed is keys, oldest first, made when somebody lists; keys itself
	// as long as they come in that order.
	listed    []*Key
	unordered bool

	// How many of keys are indexed by taproot: that locator is dear and
	// few ask for it, so that it is made up for when somebody does.
	taprootMu sync.Mutex
	taproot   int
}

// Insert puts a key into an organization, which owns it from then on. It
// returns keystore.ErrKeyExists together with what there is, if the
// organization has a key with this id or this secret; keystore.ErrClosed after
// Close. In both cases the caller still owns the key.
func (x *Index) Insert(organizationID string, key *Key) (existing keystore.KeyInfo, err error) {
	locators := append(keystore.Locators(key.public), keystore.ByID(key.id))
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return keystore.KeyInfo{}, keystore.ErrClosed
	}
	org := x.organization(organizationID)
	for _, at := range locators {
		if position, taken := org.at[at]; taken {
			other := org.keys[position]
			return other.Info(), fmt.Errorf("%w: key %s", keystore.ErrKeyExists, other.id)
		}
	}
	org.append(key, locators)
	return keystore.KeyInfo{}, nil
}

// organization returns the organization, making it at need. x.mu is held.
func (x *Index) organization(organizationID string) *organization {
	org := x.organizations[organizationID]
	if org == nil {
		if x.organizations == nil {
			x.organizations = map[string]*organization{}
		}
		org = &organization{at: map[keystore.Locator]uint32{}}
		x.organizations[organizationID] = org
	}
	return org
}

func (o *organization) append(key *Key, locators []keystore.Locator) {
	if last := len(o.keys) - 1; last >= 0 && Compare(key, o.keys[last]) < 0 {
		o.unordered = true
	}
	o.listed = nil
	for _, at := range locators {
		o.at[at] = uint32(len(o.keys))
	}
	o.keys = append(o.keys, key)
}

// Find implements keystore.Keystore.
func (x *Index) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	key, err := x.Key(ctx, organizationID, at)
	if err != nil {
		return nil, err
	}
	return key.Handle(), nil
}

// Key is Find for those who may reach the secret.
func (x *Index) Key(ctx context.Context, organizationID string, at keystore.Locator) (*Key, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if at.Kind() == keystore.LocateByTaproot {
		if err := x.indexTaproot(ctx, organizationID); err != nil {
			return nil, err
		}
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.closed {
		return nil, keystore.ErrClosed
	}
	if org := x.organizations[organizationID]; org != nil {
		if position, found := org.at[at]; found {
			return org.keys[position], nil
		}
	}
	return nil, keystore.ErrKeyNotFound
}

// indexTaproot makes up for the keys inserted since it was last called. Who
// comes while it runs waits for it; who does not look by taproot goes on. If
// the context ends on the way, the next call goes on from there.
func (x *Index) indexTaproot(ctx context.Context, organizationID string) error {
	x.mu.RLock()
	org := x.organizations[organizationID]
	x.mu.RUnlock()
	if org == nil {
		return nil
	}
	org.taprootMu.Lock()
	defer org.taprootMu.Unlock()
	keys := x.keys(org)
	for ; org.taproot < len(keys); org.taproot++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, err := keystore.TaprootLocator(keys[org.taproot].public)
		if err != nil {
			continue // a key of another curve
		}
		x.mu.Lock()
		org.at[at] = uint32(org.taproot)
		x.mu.Unlock()
	}
	return nil
}

// keys returns the keys there are now. The slice only ever grows behind its
// end, so that sharing it is safe.
func (x *Index) keys(org *organization) []*Key {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return org.keys
}

// Keys implements keystore.Keystore. It lists the keys that there are when the
// iteration starts, by time of creation and then by id.
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

// Compare orders keys as a listing does: by time of creation, then by id.
func Compare(a, b *Key) int {
	return cmp.Or(cmp.Compare(a.createdAt, b.createdAt), cmp.Compare(a.id, b.id))
}

// Close implements keystore.Keystore.
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
