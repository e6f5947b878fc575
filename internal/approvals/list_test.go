package approvals_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
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
			testenv.Must(b.T, err)
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
	testenv.Must(b.T, err)
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

// TestListedIsReadable: a credential's list has exactly the activities that it may read one by
// one, whatever they went through, and whichever members the organization has meanwhile.
func TestListedIsReadable(t *testing.T) {
	b := ballot.New(t)
	annOTP, own := enginetest.NewAPIKey(t), enginetest.NewAPIKey(t)
	otpOnly := func(user access.UserConfig, key *enginetest.APIKey) access.UserConfig {
		config := key.Config()
		config.Activities = []activity.Type{activity.TypeInitOTPAuth}
		user.APIKeys = append(user.APIKeys, config)
		return user
	}
	submitter := ballot.Voter("user-1", "", b.APIKey)
	submitter.APIKeys[0].Activities = append([]activity.Type{activity.TypeSignTransaction}, ballot.VoteTypes...)
	b.SetUsers(otpOnly(submitter, own), otpOnly(ballot.Voter("ann", "finance", b.Ann), annOTP), ballot.Voter("ben", "finance", b.Ben), ballot.Voter("cid", "", b.Cid),
		otpOnly(access.UserConfig{ID: "login"}, b.OTPOnly), access.UserConfig{ID: "dan", Tags: []string{"finance"}, APIKeys: []access.APIKeyConfig{b.Dan.Config()}})
	groups := b.Policy.Groups
	var ids []string
	for range 3 {
		for _, end := range []string{"alone", "own vote", "waits", "rejected", "signed", "for others"} {
			b.Clock.Advance(time.Millisecond)
			b.Policy.Set(func(p *ballot.Policy) {
				p.Groups = map[string][]access.Group{"alone": nil, "own vote": {{Rule: "payouts", Count: 1, Users: []string{"user-1", "cid"}}}, "for others": {{Rule: "payouts", Count: 1, Users: []string{"ben"}}}}[end]
				if end == "waits" || end == "rejected" || end == "signed" {
					p.Groups = groups
				}
			})
			record, err := b.Submit(t, enginetest.Request{})
			if err != nil {
				t.Fatal(end, err)
			}
			ids = append(ids, record.ID)
			if end == "rejected" {
				if _, err := b.Vote(b.Ben, activity.TypeRejectActivity, record); err != nil {
					t.Fatal(err)
				}
			}
			if end == "signed" {
				b.Approve(b.Ann, record)
				b.Is(b.Approve(b.Ben, record), activity.StatusCompleted)
			}
		}
	}
	slices.Reverse(ids)
	counts := map[int]bool{}
	for name, key := range map[string]*enginetest.APIKey{"submitter": b.APIKey, "its other key": own, "ann": b.Ann, "her other key": annOTP, "ben": b.Ben, "cid": b.Cid, "dan": b.Dan, "login": b.OTPOnly} {
		var readable []string
		for _, id := range ids {
			if _, err := b.Engine.GetActivity(t.Context(), key.Sign(fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, id))); err == nil {
				readable = append(readable, id)
			}
		}
		counts[len(readable)] = true
		for _, limit := range []int{1, 4, 100} {
			var listed []string
			for before := "~"; ; before = listed[len(listed)-1] {
				page, err := b.Engine.ListActivities(t.Context(), key.Sign(fmt.Sprintf(`{"organizationId":%q,"paginationOptions":{"limit":"%d","before":%q}}`, enginetest.Organization, limit, before)))
				testenv.Must(t, err)
				if len(page) == 0 {
					break
				}
				for _, record := range page {
					listed = append(listed, record.ID)
				}
			}
			if !slices.Equal(listed, readable) {
				t.Errorf("%s may read %d, and %d are listed, %d at a time", name, len(readable), len(listed), limit)
			}
		}
	}
	if len(counts) < 4 {
		t.Errorf("too few different readers: %v", counts)
	}
}

// TestListOfOthers: a list of which the credential may read nothing decodes nothing, and asks
// the store for pages that grow. It could be sent again and again.
func TestListOfOthers(t *testing.T) {
	b := ballot.New(t)
	b.Policy.Set(func(p *ballot.Policy) { p.Groups = nil })
	for range 600 {
		b.Clock.Advance(time.Millisecond)
		if _, err := b.Submit(t, enginetest.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, key := range map[string]*enginetest.APIKey{"a voter": b.Cid, "one of another group": b.Ann} {
		reserved := 0
		ctx := access.WithOrigin(t.Context(), access.Origin{Room: func(int) (func(), error) {
			reserved++
			return func() {}, nil
		}})
		page, err := b.Engine.ListActivities(ctx, key.Sign(fmt.Sprintf(`{"organizationId":%q,"paginationOptions":{"limit":"1"}}`, enginetest.Organization)))
		if err != nil || len(page) > 0 {
			t.Fatalf("%s: %d, %v", name, len(page), err)
		}
		if reserved > 10 { // pages of 1, 2, … 512 activities
			t.Errorf("%s: memory was reserved %d times", name, reserved)
		}
	}
}
