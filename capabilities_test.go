package countersign_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// plain is a store with the seven methods only.
type plain struct{ store.Store }

// TestPlainStore runs an engine over a store of seven methods: requests are carried out once,
// and a call that needs more says what the store is not.
func TestPlainStore(t *testing.T) {
	var logged bytes.Buffer
	key := enginetest.NewAPIKey(t)
	user := access.UserConfig{ID: "user", APIKeys: []access.APIKeyConfig{key.Config()}}
	user.APIKeys[0].Activities = append([]activity.Type{activity.TypeSignTransaction}, activity.TypeApproveActivity)
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: enginetest.Organization, Name: "Example", Users: []access.UserConfig{user}}})
	testenv.Must(t, err)
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Store, c.Logger, c.Directory = plain{memory.New(0)}, slog.New(slog.NewTextHandler(&logged, nil)), directory
	})
	f.APIKey = key
	if !strings.Contains(logged.String(), "Config.Store is no store.Lister") {
		t.Errorf("New does not say what will be refused: %s", &logged)
	}
	sent := f.APIKey.Sign(f.Body(enginetest.Request{}))
	first, second := enginetest.MustSubmit(t, f.Engine, sent), enginetest.MustSubmit(t, f.Engine, sent)
	if first.ID != second.ID || f.Signing.Signatures.Load() != 1 {
		t.Errorf("%s and %s, with %d signatures", first.ID, second.ID, f.Signing.Signatures.Load())
	}
	if _, err := f.Engine.GetActivity(t.Context(), f.APIKey.Sign(engines.GetActivity(enginetest.Organization, first.ID))); err != nil {
		t.Error(err)
	}
	_, err = f.Engine.ListActivities(t.Context(), f.APIKey.Sign(fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization)))
	enginetest.Refusal(t, err, activity.ReasonInternal, "its store is no store.Lister")
	vote := fmt.Sprintf(`{"type":"ACTIVITY_TYPE_APPROVE_ACTIVITY","timestampMs":"%d","organizationId":%q,"parameters":{"fingerprint":%q}}`,
		f.Clock.Now().UnixMilli(), enginetest.Organization, first.Request.Fingerprint)
	_, err = f.Engine.Submit(t.Context(), f.APIKey.Sign(vote))
	enginetest.Refusal(t, err, activity.ReasonNotFound, "no activity found")
	f.Clock.Advance(2 * countersign.SweepInterval) // nothing is swept, nothing is resumed
	enginetest.MustSubmit(t, f.Engine, next(f))
	testenv.Must(t, f.Engine.Ready(t.Context()))
	testenv.Must(t, f.Engine.Operator().ResumeWaiting(t.Context()))
}

// TestPlainStoreLacks checks that a setting which needs what a store cannot do is refused by
// name.
func TestPlainStoreLacks(t *testing.T) {
	f := enginetest.New(t)
	for want, change := range map[string]func(*countersign.Config){
		"Config.Log needs a Config.Store that is a store.Log":                  func(c *countersign.Config) { c.Log = true },
		"Config.AnyRequestTime needs a Config.Store that is a store.Retention": func(c *countersign.Config) { c.AnyRequestTime = true },
		"Config.Events needs a Config.Store that is a store.Outbox":            func(c *countersign.Config) { c.Events = activity.EventTypes() },
		"Config.Events: unknown type":                                          func(c *countersign.Config) { c.Events = []activity.EventType{"activity.done"} },
		"Config.Store needs to be a store.Waiter":                              func(c *countersign.Config) { c.Policy = new(daily) },
	} {
		config := f.Config
		config.Store = plain{memory.New(0)}
		change(&config)
		if _, err := countersign.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
