package software

import (
	"context"
	"sync"

	"github.com/countersign-dev/countersign/keystore"
)

// taprootIndex finds an organization's keys by taproot. That locator is dear, and
// few ask for it: it is made up for, key by key, when somebody does.
type taprootIndex struct {
	mu   sync.Mutex
	done int // how many of the organization's keys are in it
	at   map[keystore.Locator]*Key
}

// keyByTaproot is Key for a locator by taproot. Who comes while keys are being
// made up for waits for it; who looks by another locator does not. If the context
// ends on the way, the next call goes on from there.
func (x *Index) keyByTaproot(ctx context.Context, organizationID string, at keystore.Locator) (*Key, error) {
	org, keys := x.keys(organizationID)
	if org == nil {
		return nil, x.notFound()
	}
	org.taproot.mu.Lock()
	defer org.taproot.mu.Unlock()
	if err := org.taproot.add(ctx, keys); err != nil {
		return nil, err
	}
	if key := org.taproot.at[at]; key != nil {
		return key, nil
	}
	return nil, keystore.ErrKeyNotFound
}

// keys returns the keys that there are now; nil after Close.
func (x *Index) keys(organizationID string) (*organization, []*Key) {
	x.mu.Lock()
	defer x.mu.Unlock()
	org := x.organizations[organizationID]
	if org == nil {
		return nil, nil
	}
	return org, org.keys
}

// add makes up for the keys that came since it was last called.
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
