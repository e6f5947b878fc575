package countersign_test

import (
	"context"
	"errors"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/keystore"
)

// removable is a keystore whose token can be removed.
type removable struct {
	keystore.Keystore
	err error
}

func (a *removable) Find(ctx context.Context, organizationID string, at keystore.Locator) (keystore.Key, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.Keystore.Find(ctx, organizationID, at)
}

func (a *removable) Ready(context.Context) error { return a.err }

// TestKeystoreUnavailable checks that a keystore without its token is UNAVAILABLE, not
// INTERNAL, and that the engine is not ready. The same body is carried out once the
// token is back.
func TestKeystoreUnavailable(t *testing.T) {
	keys := &removable{}
	f := enginetest.New(t, func(c *countersign.Config) {
		keys.Keystore = c.Keystore
		c.Keystore = keys
	})
	if err := f.Engine.Ready(t.Context()); err != nil {
		t.Errorf("at first: %v", err)
	}
	keys.err = errors.Join(keystore.ErrUnavailable, errOutage)
	enginetest.Refusal(t, f.Engine.Ready(t.Context()), activity.ReasonUnavailable, "")
	_, err := f.Submit(t, enginetest.Request{})
	if refused := enginetest.Refusal(t, err, activity.ReasonUnavailable, ""); !errors.Is(refused, errOutage) {
		t.Errorf("the cause is not kept: %v", refused)
	}
	keys.err = nil
	if _, err := f.Submit(t, enginetest.Request{}); err != nil {
		t.Errorf("with the keystore back: %v", err)
	}
}
