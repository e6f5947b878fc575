package software

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/countersign-dev/countersign/keystore"
)

// Index finds keys by organization and locator. It is a keystore.Keystore that
// others fill. The zero Index is empty and ready.
type Index struct {
	table atomic.Pointer[table] // where keys are found; nil if empty or closed

	mu            sync.Mutex // held by who changes or lists
	organizations map[string]*organization
	closed        bool
}

var _ keystore.Keystore = (*Index)(nil)

// organization is the wall: locators of one organization lead nowhere in
// another.
type organization struct {
	keys []*Key // in the order they came

	// listed is keys, oldest first, made when somebody lists; keys itself
	// as long as they come in that order.
	listed    []*Key
	unordered bool

	taproot taprootIndex
}

// Insert puts a key into an organization, which owns it from then on. It
// returns keystore.ErrKeyExists together with what there is, if the
// organization has a key with this id or this secret; keystore.ErrClosed after
// Close. In both cases the caller still owns the key.
func (x *Index) Insert(organizationID string, key *Key) (existing keystore.KeyInfo, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return keystore.KeyInfo{}, keystore.ErrClosed
	}
	table := x.table.Load()
	for _, at := range key.locators() {
		if other := table.find(organizationID, &at); other != nil {
			return other.Info(), fmt.Errorf("%w: key %s", keystore.ErrKeyExists, other.id)
		}
	}
	key.organization = strings.Clone(organizationID)
	x.organization(key.organization).append(key)
	x.table.Store(table.with(key))
	return keystore.KeyInfo{}, nil
}

// organization returns the organization, making it at need. x.mu is held.
func (x *Index) organization(organizationID string) *organization {
	org := x.organizations[organizationID]
	if org == nil {
		if x.organizations == nil {
			x.organizations = map[string]*organization{}
		}
		org = new(organization)
		x.organizations[organizationID] = org
	}
	return org
}

func (o *organization) append(key *Key) {
	if last := len(o.keys) - 1; last >= 0 {
		key.organization = o.keys[last].organization // one text for all of them
		o.unordered = o.unordered || Compare(key, o.keys[last]) < 0
	}
	o.listed = nil
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
		return x.keyByTaproot(ctx, organizationID, at)
	}
	if key := x.table.Load().find(organizationID, &at); key != nil {
		return key, nil
	}
	return nil, x.notFound()
}

// notFound says why there is no key.
func (x *Index) notFound() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return keystore.ErrClosed
	}
	return keystore.ErrKeyNotFound
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
	x.table.Store(nil)
	for _, org := range x.organizations {
		for _, key := range org.keys {
			key.Destroy()
		}
	}
	x.organizations = nil
	return nil
}
