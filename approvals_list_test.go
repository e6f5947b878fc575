package countersign_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/store"
)

// crowd fills the list of waiting activities with those of many users, and returns their
// ids.
func (b *ballot) crowd() (ids []string) {
	b.t.Helper()
	var users []access.UserConfig
	keys := make([]*enginetest.APIKey, access.MaxWaitingOfOrganization/access.MaxWaitingOfUser+1)
	for i := range keys {
		keys[i] = enginetest.NewAPIKey(b.t)
		users = append(users, access.UserConfig{ID: fmt.Sprint("crowd-", i), APIKeys: []access.APIKeyConfig{keys[i].Config()}})
	}
	b.organization(append(users, voter("ann", "finance", b.ann), voter("cid", "none", b.cid))...)
	submit := func(key *enginetest.APIKey) (*activity.Record, error) {
		b.Clock.Advance(time.Millisecond)
		return b.Engine.Submit(b.t.Context(), key.Sign(b.Body(enginetest.Request{})))
	}
	for _, key := range keys[:len(keys)-1] {
		for range access.MaxWaitingOfUser {
			record, err := submit(key)
			if err != nil {
				b.t.Fatal(err)
			}
			ids = append(ids, record.ID)
		}
		_, err := submit(key)
		refusal(b.t, err, activity.ReasonRateLimitExceeded, "")
	}
	_, err := submit(keys[len(keys)-1]) // of a user who has none that waits
	refusal(b.t, err, activity.ReasonRateLimitExceeded, "")
	return ids
}

// list lists waiting activities with the given pagination options.
func (b *ballot) list(key *enginetest.APIKey, pagination string) (ids []string) {
	b.t.Helper()
	query := fmt.Sprintf(`{"organizationId":%q,"filterByStatus":["ACTIVITY_STATUS_CONSENSUS_NEEDED"],"paginationOptions":{%s}}`, enginetest.Organization, pagination)
	page, err := b.Engine.ListActivities(b.t.Context(), key.Sign(query))
	if err != nil {
		b.t.Fatal(err)
	}
	for _, record := range page {
		ids = append(ids, record.ID)
	}
	return ids
}

// TestWaitingLimits checks that at most 100 activities of a user and 1,000 of an
// organization wait. A voter can page through all of them, 100 at a time, each once and
// in order, from either end; a user who belongs to no group sees none.
func TestWaitingLimits(t *testing.T) {
	b := newBallot(t)
	ids := b.crowd()
	if len(ids) != store.MaxList {
		t.Fatalf("%d wait", len(ids))
	}
	var down, up []string
	for page := b.list(b.ann, `"limit":"100"`); len(page) > 0; page = b.list(b.ann, fmt.Sprintf(`"limit":"100","before":%q`, down[len(down)-1])) {
		if len(page) != activity.MaxPage {
			t.Fatalf("a page of %d", len(page))
		}
		down = append(down, page...)
	}
	for after := "0"; ; {
		page := b.list(b.ann, fmt.Sprintf(`"limit":"70","after":%q`, after))
		if len(page) == 0 {
			break
		}
		after = page[0]
		slices.Reverse(page)
		up = append(up, page...)
	}
	if !slices.Equal(up, ids) {
		t.Errorf("upwards, %d are listed, not the %d in order", len(up), len(ids))
	}
	slices.Reverse(down)
	if !slices.Equal(down, ids) {
		t.Errorf("downwards, %d are listed, not the %d in order", len(down), len(ids))
	}
	if seen := b.list(b.cid, `"limit":"100"`); len(seen) != 0 {
		t.Errorf("a user whom no rule counts is shown %d", len(seen))
	}
	if seen := b.list(b.ann, ``); len(seen) != activity.DefaultPage {
		t.Errorf("a page without a limit has %d", len(seen))
	}
	for _, limit := range []string{"0", "101", "-1", "1e2", "9999999999999999999999"} {
		query := fmt.Sprintf(`{"organizationId":%q,"paginationOptions":{"limit":%q}}`, enginetest.Organization, limit)
		_, err := b.Engine.ListActivities(t.Context(), b.ann.Sign(query))
		refusal(t, err, activity.ReasonRequestInvalid, "")
	}
}

// TestPageSkipsHiddenActivities checks that a page full of activities that the reader
// may not see does not end a listing.
func TestPageSkipsHiddenActivities(t *testing.T) {
	b := newBallot(t)
	b.policy.set(func(p *approvers) { p.groups[0].Tag = "board" })
	for range 5 {
		b.Clock.Advance(time.Millisecond)
		if _, err := b.vote(b.APIKey, activity.TypeRejectActivity, b.submit()); err != nil {
			t.Fatal(err)
		}
	}
	b.policy.set(func(p *approvers) { p.groups[0].Tag = "finance" })
	b.Clock.Advance(time.Millisecond)
	mine := b.submit()
	for _, pagination := range []string{`"limit":"2","after":"0"`, `"limit":"2"`} {
		if seen := b.list(b.ann, pagination); !slices.Equal(seen, []string{mine.ID}) {
			t.Errorf("%s: %q", pagination, seen)
		}
	}
}
