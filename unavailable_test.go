package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
	storememory "github.com/countersign-dev/countersign/store/memory"
)

var errOutage = errors.New("connection refused")

// outage is a directory that cannot be read, in part or as a whole. It still returns
// values with its errors, which must not be used.
type outage struct {
	access.Directory
	organizations, members error
}

func (d *outage) Organization(ctx context.Context, id string) (*access.Organization, error) {
	found, err := d.Directory.Organization(ctx, id)
	return found, errors.Join(err, d.organizations)
}

func (d *outage) Member(ctx context.Context, organizationID string, id stamp.ID) (*access.Member, error) {
	found, err := d.Directory.Member(ctx, organizationID, id)
	return found, errors.Join(err, d.members)
}

// TestDirectoryOutage checks that no one is authenticated and nothing is signed if the
// directory fails.
func TestDirectoryOutage(t *testing.T) {
	directory := &outage{}
	f := enginetest.New(t, func(c *countersign.Config) {
		directory.Directory = c.Directory
		c.Directory = directory
	})
	for name, broken := range map[string][2]error{"organizations": {errOutage, nil}, "members": {nil, errOutage}} {
		directory.organizations, directory.members = broken[0], broken[1]
		_, err := f.Submit(t, enginetest.Request{})
		if refused := enginetest.Refusal(t, err, activity.ReasonUnavailable, "try again"); !errors.Is(refused, errOutage) {
			t.Errorf("%s: the cause is not kept: %v", name, refused)
		}
	}
	directory.organizations, directory.members = errOutage, nil
	_, err := f.Engine.SignTransaction(t.Context(), enginetest.Organization, activity.SignTransactionIntent{
		Type: activity.TransactionTypeEthereum, SignWith: enginetest.Address, UnsignedTransaction: enginetest.Hazardous,
	})
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "the directory of organizations cannot be read")
}

// TestSweepDuringOutage checks that a sweep leaves an activity that waits alone while
// the directory fails, reports that, and still rejects an activity that is overdue.
func TestSweepDuringOutage(t *testing.T) {
	directory := &outage{}
	b := ballot.New(t, func(c *countersign.Config) {
		c.Store = storememory.New(0)
		directory.Directory = c.Directory
		c.Directory = directory
	})
	waiting := b.Waiting()
	b.Approve(b.Ann, waiting)
	directory.organizations = errOutage
	if err := b.Engine.Operator().ResumeWaiting(t.Context()); !errors.Is(err, errOutage) {
		t.Errorf("resumed with %v", err)
	}
	if stored := b.Stored(waiting); stored.Status != activity.StatusConsensusNeeded || stored.Decision.Reason != "" {
		t.Errorf("%s: %s", stored.Status, stored.Decision.Reason)
	}
	b.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
	b.Resume()
	if stored := b.Stored(waiting); stored.Status != activity.StatusRejected {
		t.Errorf("overdue: %s", stored.Status)
	}
}

// TestWithoutService checks that an engine says which operation or key it lacks.
func TestWithoutService(t *testing.T) {
	without := enginetest.New(t)
	_, err := without.Engine.Submit(t.Context(), without.APIKey.Sign(engines.InitOTP(without, engines.ToUser)))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "this engine has no operation for it")

	keyless, outbox := new(enginetest.Outbox), new(enginetest.Outbox)
	enginetest.New(t, func(c *countersign.Config) { c.ProofSigner = nil }, enginetest.WithOTP(t, keyless))
	_, err = keyless.Service.VerifyOTP(t.Context(), "org", activity.VerifyOTPIntent{})
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "no proof key")

	enginetest.New(t, enginetest.WithOTP(t, outbox))
	_, err = outbox.Service.InitOTPAuth(t.Context(), "org", "Org", activity.InitOTPAuthIntent{OTPType: "OTP_TYPE_EMAIL", Contact: "nobody"})
	enginetest.Refusal(t, err, activity.ReasonInvalidEmail, "contact")
	_, err = outbox.Service.VerifyOTP(t.Context(), "org", activity.VerifyOTPIntent{ExpirationSeconds: "never"})
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "expirationSeconds")
}

// TestOTPNeedsStore checks that New refuses a service without the store that the service
// uses, since it would lose its codes.
func TestOTPNeedsStore(t *testing.T) {
	f := enginetest.New(t, enginetest.WithOTP(t, new(enginetest.Outbox)), func(c *countersign.Config) {
		lost := *c
		lost.Store = nil
		if _, err := countersign.New(lost); err == nil || !strings.Contains(err.Error(), "needs Config.Store") {
			t.Errorf("made with %v", err)
		}
	})
	testenv.Must(t, f.Engine.Ready(t.Context()))
}

// forgetful is a store that returns something other than a record, or something that
// cannot be decoded.
type forgetful struct {
	store.Store
	data []byte
	err  error
}

func (s *forgetful) Get(context.Context, string, string) (store.Activity, error) {
	return store.Activity{Data: s.data}, s.err
}

func TestGetActivityStoreError(t *testing.T) {
	broken := &forgetful{}
	f := enginetest.New(t, func(c *countersign.Config) {
		broken.Store = storememory.New(0)
		c.Store = broken
	})
	body := engines.GetActivity(enginetest.Organization, "01999999-0000-7000-8000-000000000000")
	broken.err = fmt.Errorf("%w: disk", store.ErrUnavailable)
	_, err := f.Engine.GetActivity(t.Context(), f.APIKey.Sign(body))
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "")
	broken.err, broken.data = nil, []byte("{}")
	if record, err := f.Engine.GetActivity(t.Context(), f.APIKey.Sign(body)); err == nil || record != nil {
		t.Errorf("%+v, %v: want an error and no record", record, err)
	}
}

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
