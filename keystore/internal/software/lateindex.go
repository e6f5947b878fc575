package software

import (
	"context"
	"sync"

	"github.com/countersign-dev/countersign/keystore"
)

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
