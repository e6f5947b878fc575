package approvals_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/store/memory"
)

// told returns the events in a store, in order.
func told(t *testing.T, s *memory.Store) (all []activity.Event) {
	t.Helper()
	pending, _, err := s.Events(t.Context(), 100, nil)
	testenv.Must(t, err)
	for _, one := range pending {
		var event activity.Event
		testenv.JSON(t, one.Data, &event)
		if one.Activity != event.Data.ActivityID || one.OrganizationID != event.Data.OrganizationID {
			t.Errorf("%s is kept as one about %s", one.Data, one.Activity)
		}
		if strings.Contains(string(one.Data), `"stamp`) || strings.Contains(string(one.Data), "publicKey") {
			t.Errorf("it has more than a chat may see: %s", one.Data)
		}
		all = append(all, event)
	}
	return all
}

// TestEvents follows activities that wait: each change of their status is told once, with what
// they do and how many votes are missing. A vote that changes nothing, and a request that comes
// again, are not told.
func TestEvents(t *testing.T) {
	s := memory.New(0)
	b := ballot.New(t, func(c *countersign.Config) { c.Store, c.Events = s, activity.EventTypes() })
	waiting := func() *activity.Record {
		b.Clock.Advance(time.Second)
		return enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(b.Body(enginetest.Request{})))
	}
	signed := waiting()
	b.Again(signed)
	b.Approve(b.Ann, signed)
	b.Approve(b.Ben, signed)
	b.Again(signed)
	rejected := waiting()
	if _, err := b.Vote(b.Ann, activity.TypeRejectActivity, rejected); err != nil {
		t.Fatal(err)
	}
	late := waiting()
	b.Clock.Advance(countersign.DefaultMaxWaiting + time.Minute)
	b.Resume()
	events := told(t, s)
	var got []string
	for _, event := range events {
		got = append(got, string(event.Type)+" "+event.Data.ActivityID)
		if event.Data.UserID != "user-1" || len(event.Data.Sentences) == 0 || !slices.Equal(event.Data.Rules, []string{"payouts"}) {
			t.Errorf("%+v", event)
		}
		if missing := map[bool]int{true: 2, false: 0}[event.Type == activity.EventWaiting]; event.Data.MissingVotes != missing {
			t.Errorf("%s: %d votes are missing, want %d", event.Type, event.Data.MissingVotes, missing)
		}
	}
	want := []string{
		"activity.waiting " + signed.ID, "activity.completed " + signed.ID, "activity.waiting " + rejected.ID,
		"activity.rejected " + rejected.ID, "activity.waiting " + late.ID, "activity.rejected " + late.ID,
	}
	if !slices.Equal(got, want) {
		t.Errorf("told\n%q, want\n%q", got, want)
	}
}

// TestNoEvents: without Config.Events nothing is written, and only the types that it names are.
func TestNoEvents(t *testing.T) {
	for _, types := range [][]activity.EventType{nil, {activity.EventRejected}} {
		s := memory.New(0)
		f := enginetest.New(t, func(c *countersign.Config) { c.Store, c.Events = s, types })
		enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{})))
		if events := told(t, s); len(events) > 0 {
			t.Errorf("%v: %+v", types, events)
		}
	}
}
