package countersign_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/store/memory"
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
