package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store/memory"
)

// Files for tests of replay. The fixture's transactions move 123 wei each.
const (
	replayHead = "schema: countersign.policy/2\nassets: {main: {chain: \"eip155:1\", token: native}}\n"
	replayGas  = "  - {name: gas, allow: fee, when: \"effect.amount <= ether('0.1')\"}\n"

	replayFree    = replayHead + "rules:\n  - {name: payouts, allow: transfer, when: effect.asset == main}\n" + replayGas
	replayTwo     = replayHead + "limits:\n  - {name: day, asset: main, max: \"0.000000000000000246\", window: 24h, per: organization}\nrules:\n  - {name: payouts, allow: transfer, when: effect.asset == main, limit: day}\n" + replayGas
	replayDenied  = replayHead + "rules:\n  - {name: none, deny: transfer}\n  - {name: payouts, allow: transfer, when: effect.asset == main}\n" + replayGas
	replayVotes   = replayHead + "rules:\n  - {name: payouts, allow: transfer, when: effect.asset == main, approvals: [{count: 2}]}\n" + replayGas
	replayOwnVote = replayHead + "rules:\n  - {name: payouts, allow: transfer, when: effect.asset == main, approvals: [{count: 1, submitter: counts}]}\n" + replayGas
	replayMorning = replayHead + "rules:\n  - {name: morning, deny: request, when: \"!time.within('Mo-Su 00:00-14:00 UTC')\"}\n  - {name: payouts, allow: transfer, when: effect.asset == main}\n" + replayGas
)

// recordedUnder submits a request every 6 hours from noon under a file.
func recordedUnder(t *testing.T, text string, count int) (*enginetest.Fixture, []*activity.Record) {
	t.Helper()
	f := enginetest.New(t, func(config *countersign.Config) {
		config.Policy, config.Store = load(t, text), memory.New(0)
	})
	records := make([]*activity.Record, count)
	for i := range records {
		submitted, err := f.Submit(t, enginetest.Request{})
		testenv.Must(t, err)
		stored, err := f.Config.Store.Get(t.Context(), enginetest.Organization, submitted.ID)
		testenv.Must(t, err)
		if records[i], err = activity.DecodeRecord(stored.Data); err != nil {
			t.Fatal(err)
		}
		f.Clock.Advance(6 * time.Hour)
	}
	return f, records
}

// replayed replays records under a file.
func replayed(t *testing.T, f *enginetest.Fixture, records []*activity.Record, text string) []*policy.Replayed {
	t.Helper()
	replay := load(t, text).NewReplay()
	defer func() {
		if err := replay.Close(); err != nil {
			t.Error(err)
		}
	}()
	results := make([]*policy.Replayed, len(records))
	for i, record := range records {
		asked, problem := f.Engine.Operator().AskedAbout(t.Context(), record)
		var err error
		if results[i], err = replay.Next(t.Context(), record, asked, problem); err != nil {
			t.Fatal(err)
		}
	}
	return results
}

// TestReplay replays activities under another file, whose limits count by time: of five
// payouts at intervals of 6 hours, a limit of two per day allows the first two, and the
// fifth because the first has left the window.
func TestReplay(t *testing.T) {
	limited := "limits: none → day 123 of 246 in 24h0m0s"
	for name, test := range map[string]struct {
		before, after string
		want          []string // outcome and changes, for each
		refusal       string   // of those that are denied
	}{
		"the same":        {replayFree, replayFree, []string{"allowed", "allowed", "allowed", "allowed", "allowed"}, ""},
		"its own":         {replayTwo, replayTwo, []string{"allowed", "allowed"}, ""},
		"a limit":         {replayFree, replayTwo, []string{"allowed: " + limited, "allowed: " + limited, "denied: allowed → denied", "denied: allowed → denied", "allowed: " + limited}, "limit day"},
		"no limit":        {replayTwo, replayFree, []string{"allowed: limits: day 123 of 246 in 24h0m0s → none"}, ""},
		"a deny":          {replayFree, replayDenied, []string{"denied: allowed → denied"}, "rule none denies"},
		"votes":           {replayFree, replayVotes, []string{"approvals: allowed → approvals; votes required: 0 → 2"}, ""},
		"own vote":        {replayFree, replayOwnVote, []string{"approvals: allowed → approvals; votes required: 0 → 1"}, ""},
		"own vote before": {replayOwnVote, replayOwnVote, []string{"approvals"}, ""},
		"fewer votes":     {replayVotes, replayFree, []string{"allowed: approvals → allowed; votes required: 2 → 0"}, ""},
		"its times":       {replayFree, replayMorning, []string{"allowed", "denied: allowed → denied", "allowed", "allowed", "allowed"}, "rule morning denies"},
	} {
		t.Run(name, func(t *testing.T) {
			f, records := recordedUnder(t, test.before, len(test.want))
			for i, seen := range replayed(t, f, records, test.after) {
				got := strings.TrimSuffix(seen.After+": "+strings.Join(seen.Changes, "; "), ": ")
				if got != test.want[i] {
					t.Errorf("activity %d: %s, want %s", i, got, test.want[i])
				}
				if (seen.After == policy.OutcomeDenied) != (seen.Refusal != "") || seen.Refusal != "" && !strings.Contains(seen.Refusal, test.refusal) {
					t.Errorf("activity %d: refused with %q", i, seen.Refusal)
				}
			}
			if signatures := f.Signing.Signatures.Load(); signatures > int64(len(test.want)) {
				t.Errorf("%d signatures: replay signs", signatures)
			}
		})
	}
}

// TestReplaySpent: charges have the sum that their limit has counted, including the charge.
func TestReplaySpent(t *testing.T) {
	f, records := recordedUnder(t, replayFree, 2)
	seen := replayed(t, f, records, replayTwo)
	for i, want := range []string{"0.000000000000000123", "0.000000000000000246"} {
		if charges := seen[i].Charges; len(charges) != 1 || charges[0].Spent != want || charges[0].Max != "0.000000000000000246" {
			t.Errorf("activity %d: %+v, want %s spent", i, charges, want)
		}
	}
}

// TestReplayOrder: limits count by time, so an activity after a later one is an error. An
// activity that can no longer be prepared is unknown.
func TestReplayOrder(t *testing.T) {
	f, records := recordedUnder(t, replayFree, 2)
	past := load(t, replayTwo).NewReplay()
	for _, i := range []int{1, 0} {
		asked, problem := f.Engine.Operator().AskedAbout(t.Context(), records[i])
		if _, err := past.Next(t.Context(), records[i], asked, problem); (err != nil) != (i == 0) {
			t.Errorf("activity %d: %v", i, err)
		}
	}
	seen, err := past.Next(t.Context(), records[0], nil, errors.New("the key is gone"))
	if err != nil || seen.After != policy.OutcomeUnknown || seen.Refusal != "the key is gone" {
		t.Errorf("%+v, %v", seen, err)
	}
}
