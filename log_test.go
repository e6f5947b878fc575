package countersign_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/translog"
)

// TestProveLogged checks that get_activity and ProveLogged prove an activity that was
// recorded earlier, whether or not its request asked for proofs. An engine without a
// key, and an activity without a leaf, add nothing.
func TestProveLogged(t *testing.T) {
	f := enginetest.New(t, enginetest.WithLog(1))
	record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{})))
	if err != nil || record.Log != nil {
		t.Fatalf("%v, %+v: a proof that was not asked for", err, record.Log)
	}
	if err := f.Engine.Log().Prove(t.Context(), record); err != nil || record.Log == nil || record.Log.Index != 0 {
		t.Errorf("%v, %+v", err, record.Log)
	}
	asked := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{Proofs: true})))
	query := fmt.Sprintf(`{"organizationId":"%s","activityId":"%s"}`, enginetest.Organization, asked.ID)
	got, err := f.Engine.GetActivity(t.Context(), f.APIKey.Sign(query))
	if err != nil || got.Log == nil || *got.Log != *asked.Log {
		t.Errorf("get_activity: %v, %+v, want %+v", err, got.Log, asked.Log)
	}
	for name, change := range map[string]func(*countersign.Config){
		"no key": func(c *countersign.Config) { c.Log = true },
		"no log": func(*countersign.Config) {},
	} {
		without := enginetest.New(t, change)
		record, err := without.Engine.Submit(t.Context(), without.APIKey.Sign(without.Body(enginetest.Request{Proofs: true})))
		if err == nil {
			err = without.Engine.Log().Prove(t.Context(), record)
		}
		if err != nil || record.Log != nil {
			t.Errorf("%s: %v, %+v", name, err, record.Log)
		}
	}
}

// TestLogOfOrganizations checks whose logs an engine signs: with a directory those of its
// organizations, without one all; and that a directory that cannot be read is not taken
// for one without the organization.
func TestLogOfOrganizations(t *testing.T) {
	for name, tried := range map[string]struct {
		change func(*countersign.Config)
		reason activity.Reason
	}{
		"in the directory": {func(*countersign.Config) {}, ""},
		"not in it":        {func(c *countersign.Config) { c.Directory = &outage{c.Directory, access.ErrOrganizationNotFound, nil} }, activity.ReasonNotFound},
		"cannot be read":   {func(c *countersign.Config) { c.Directory = &outage{c.Directory, errOutage, nil} }, activity.ReasonUnavailable},
		"there is none":    {func(c *countersign.Config) { c.Directory, c.Store = nil, memory.New(0) }, ""},
		"the store is closed": {func(c *countersign.Config) {
			closed := memory.New(0)
			_ = closed.Close()
			c.Store = closed
		}, activity.ReasonUnavailable},
	} {
		f := enginetest.New(t, enginetest.WithLog(1), tried.change)
		_, err := f.Engine.Log().Advance(t.Context(), enginetest.Organization, 0)
		if refused, _ := errors.AsType[*activity.Error](err); err != nil && (refused == nil || refused.Reason != tried.reason) || err == nil && tried.reason != "" {
			t.Errorf("%s: %v, want %q", name, err, tried.reason)
		}
	}
}

// conflicts marks and accepts the log of the fixtures' organization.
type conflicts struct {
	*memory.Store
	t     *testing.T
	clock *enginetest.Clock
}

func newConflicts(t *testing.T) (*conflicts, func(*countersign.Config)) {
	c := &conflicts{Store: memory.New(0), t: t}
	return c, func(config *countersign.Config) { config.Log, config.Store = true, c.Store }
}

var seenBefore = tlog.Tree{N: 99, Hash: tlog.Hash{1}}

func (c *conflicts) mark() {
	c.t.Helper()
	if _, err := c.MarkConflict(c.t.Context(), enginetest.Organization, translog.Conflict{Remembered: seenBefore}); err != nil {
		c.t.Fatal(err)
	}
}

// accept returns until when requests are stale.
func (c *conflicts) accept() time.Time {
	c.t.Helper()
	head, err := c.LogHead(c.t.Context(), enginetest.Organization)
	testenv.Must(c.t, err)
	head, err = c.AcceptConflict(c.t.Context(), enginetest.Organization, store.Acceptance{
		Remembered: seenBefore, Found: head.Tree(), Now: c.clock.Now(), Skew: countersign.DefaultMaxRequestSkew, Leaf: store.LogEntry{ID: "accept/1", Leaf: []byte("leaf")},
	})
	testenv.Must(c.t, err)
	return head.Accepted
}

// TestConflict: while the log has a conflict nothing is carried out and nothing is signed.
// After the acceptance nothing is that may have been answered before.
func TestConflict(t *testing.T) {
	c, logged := newConflicts(t)
	f := enginetest.New(t, logged)
	c.clock = f.Clock
	done, lost := enginetest.Request{}, enginetest.Request{At: f.Clock.Now().Add(-time.Second)}
	first, err := f.Submit(t, done)
	testenv.Must(t, err)
	sign := f.APIKey.Sign(f.Body(done))
	c.mark()
	signed := f.Signing.Signatures.Load()
	for _, body := range map[string]countersign.SignedBody{"recorded": sign, "unrecorded": f.APIKey.Sign(f.Body(lost))} {
		_, err := f.Engine.Submit(t.Context(), body)
		enginetest.Refusal(t, err, activity.ReasonUnavailable, "an operator has to look at it")
	}
	if f.Signing.Signatures.Load() != signed {
		t.Error("signed during a conflict")
	}
	if err := f.Engine.Operator().LogPolicy(t.Context(), enginetest.Organization, [32]byte{1}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a policy is logged: %v", err)
	}
	until := c.accept()
	again, err := f.Engine.Submit(t.Context(), sign)
	if err != nil || again.ID != first.ID {
		t.Errorf("what is recorded: %v", err)
	}
	_, err = f.Submit(t, lost)
	enginetest.Refusal(t, err, activity.ReasonInvalidTime, "make it again after that time")
	last := enginetest.Request{At: until}
	f.Clock.Advance(time.Second)
	_, err = f.Submit(t, last)
	enginetest.Refusal(t, err, activity.ReasonInvalidTime, until.Format(time.RFC3339))
	if f.Signing.Signatures.Load() != signed {
		t.Error("signed what may have been answered before")
	}
	last.At = last.At.Add(time.Millisecond)
	if _, err := f.Submit(t, last); err != nil {
		t.Errorf("the first that cannot have been: %v", err)
	}
}

// TestConflictOfWaiting: an activity that waits through a conflict may have been signed in
// the history that was lost. It ends as failed, whatever votes it gets.
func TestConflictOfWaiting(t *testing.T) {
	c, logged := newConflicts(t)
	b := ballot.New(t, logged)
	c.clock = b.Clock
	waiting := b.Waiting()
	b.Approve(b.Ann, waiting)
	c.mark()
	_, err := b.Vote(b.Ben, activity.TypeApproveActivity, waiting)
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "an operator has to look at it")
	b.Clock.Advance(time.Second)
	_, err = b.Submit(t, enginetest.Request{At: b.Clock.Now()})
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "an operator has to look at it")
	c.accept()
	b.Clock.Advance(time.Second)
	failed := b.Approve(b.Ben, waiting)
	b.Is(failed, activity.StatusFailed)
	if failed.Failure == nil || !strings.Contains(failed.Failure.Message, "has lost what was answered") {
		t.Errorf("%+v", failed.Failure)
	}
	testenv.Must(t, b.Engine.Operator().ResumeWaiting(t.Context()))
}
