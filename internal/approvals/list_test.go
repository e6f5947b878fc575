package approvals_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/ballot"
	"github.com/countersign-dev/countersign/store"
)

// crowd fills the list of waiting activities with those of many users, and returns their
// ids.
func crowd(b *ballot.Ballot) (ids []string) {
	b.T.Helper()
	var users []access.UserConfig
	keys := make([]*enginetest.APIKey, access.MaxWaitingOfOrganization/access.MaxWaitingOfUser+1)
	for i := range keys {
		keys[i] = enginetest.NewAPIKey(b.T)
		users = append(users, access.UserConfig{ID: fmt.Sprint("crowd-", i), APIKeys: []access.APIKeyConfig{keys[i].Config()}})
	}
	b.SetUsers(append(users, ballot.Voter("ann", "finance", b.Ann), ballot.Voter("cid", "none", b.Cid))...)
	submit := func(key *enginetest.APIKey) (*activity.Record, error) {
		b.Clock.Advance(time.Millisecond)
		return b.Engine.Submit(b.T.Context(), key.Sign(b.Body(enginetest.Request{})))
	}
	for _, key := range keys[:len(keys)-1] {
		for range access.MaxWaitingOfUser {
			record, err := submit(key)
			if err != nil {
				b.T.Fatal(err)
			}
			ids = append(ids, record.ID)
		}
		_, err := submit(key)
		enginetest.Refusal(b.T, err, activity.ReasonRateLimitExceeded, "100 activities of this user wait for approvals")
	}
	_, err := submit(keys[len(keys)-1]) // of a user who has none that waits
	enginetest.Refusal(b.T, err, activity.ReasonRateLimitExceeded, "1000 activities wait for approvals")
	return ids
}

// listIDs lists waiting activities with the given pagination options.
func listIDs(b *ballot.Ballot, key *enginetest.APIKey, pagination string) (ids []string) {
	b.T.Helper()
	query := fmt.Sprintf(`{"organizationId":%q,"filterByStatus":["ACTIVITY_STATUS_CONSENSUS_NEEDED"],"paginationOptions":{%s}}`, enginetest.Organization, pagination)
	page, err := b.Engine.ListActivities(b.T.Context(), key.Sign(query))
	if err != nil {
		b.T.Fatal(err)
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
	b := ballot.New(t)
	ids := crowd(b)
	if len(ids) != store.MaxList {
		t.Fatalf("%d wait", len(ids))
	}
	var down, up []string
	for page := listIDs(b, b.Ann, `"limit":"100"`); len(page) > 0; page = listIDs(b, b.Ann, fmt.Sprintf(`"limit":"100","before":%q`, down[len(down)-1])) {
		if len(page) != activity.MaxPage {
			t.Fatalf("a page of %d", len(page))
		}
		down = append(down, page...)
	}
	for after := "0"; ; {
		page := listIDs(b, b.Ann, fmt.Sprintf(`"limit":"70","after":%q`, after))
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
	if seen := listIDs(b, b.Cid, `"limit":"100"`); len(seen) != 0 {
		t.Errorf("a user whom no rule counts is shown %d", len(seen))
	}
	if seen := listIDs(b, b.Ann, ``); len(seen) != activity.DefaultPage {
		t.Errorf("a page without a limit has %d", len(seen))
	}
	for _, limit := range []string{"0", "101", "-1", "1e2", "9999999999999999999999"} {
		query := fmt.Sprintf(`{"organizationId":%q,"paginationOptions":{"limit":%q}}`, enginetest.Organization, limit)
		_, err := b.Engine.ListActivities(t.Context(), b.Ann.Sign(query))
		enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "")
	}
}

// TestPageSkipsHiddenActivities checks that a page full of activities that the reader
// may not see does not end a listing.
func TestPageSkipsHiddenActivities(t *testing.T) {
	b := ballot.New(t)
	b.Policy.Set(func(p *ballot.Policy) { p.Groups[0].Tag = "board" })
	for range 5 {
		b.Clock.Advance(time.Millisecond)
		if _, err := b.Vote(b.APIKey, activity.TypeRejectActivity, b.Waiting()); err != nil {
			t.Fatal(err)
		}
	}
	b.Policy.Set(func(p *ballot.Policy) { p.Groups[0].Tag = "finance" })
	b.Clock.Advance(time.Millisecond)
	mine := b.Waiting()
	for _, pagination := range []string{`"limit":"2","after":"0"`, `"limit":"2"`} {
		if seen := listIDs(b, b.Ann, pagination); !slices.Equal(seen, []string{mine.ID}) {
			t.Errorf("%s: %q", pagination, seen)
		}
	}
}
