package software

import (
	"context"
	"sync"

	"github.com/countersign-dev/countersign/keystore"
)

// taprootIndex finds an organization's keys by taproot. Computing these locators takes a point
// multiplication each, so they are computed at the first look-up by taproot.
type taprootIndex struct {
	mu   sync.Mutex
	done int // number of the organization's keys in the index
	at   map[keystore.Locator]*Key
}

// keyByTaproot is Key for a locator by taproot. Look-ups by taproot wait while keys are added to the
// index; look-ups by other locators do not. If the context ends first, the next call continues
// there.
func (x *Index) keyByTaproot(ctx context.Context, organizationID string, at keystore.Locator) (*Key, error) {
	org, _, err := x.keys(organizationID)
	if err != nil {
		return nil, err
	}
	org.taproot.mu.Lock()
	defer org.taproot.mu.Unlock()
	_, keys, err := x.keys(organizationID) // again: a removal changes the keys before it resets the index
	if err != nil {
		return nil, err
	}
	if err := org.taproot.add(ctx, keys); err != nil {
		return nil, err
	}
	if key := org.taproot.at[at]; key != nil {
		return key, nil
	}
	return nil, keystore.ErrKeyNotFound
}

// keys returns an organization with its current keys.
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
func (t *taprootIndex) add(ctx context.Context, keys []*Key) error {
	for ; t.done < len(keys); t.done++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, err := keystore.TaprootLocator(keys[t.done].public)
		if err != nil {
			continue // a key of another curve
		}
		if t.at == nil {
			t.at = map[keystore.Locator]*Key{}
		}
		t.at[at] = keys[t.done]
	}
	return nil
}

// reset clears the index after a key was removed.
func (t *taprootIndex) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done, t.at = 0, nil
}
