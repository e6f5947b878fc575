package countersign_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/messages"
)

// signedLine is what the log says about a signature.
type signedLine struct {
	Msg, Operation, Organization, User, Scheme, Credential, Submitter, Activity, Chain, Reason, Request, State string
	Approvers, Does                                                                                            []string
	Repeated                                                                                                   bool
	Keys, Addresses, Effects, Rules                                                                            []string
}

func linesOf(t *testing.T, log *bytes.Buffer) []signedLine {
	t.Helper()
	var lines []signedLine
	for text := range strings.Lines(log.String()) {
		var line signedLine
		testenv.JSON(t, []byte(text), &line)
		if line.Msg == "request" {
			lines = append(lines, line)
		}
	}
	log.Reset()
	return lines
}

// countingObserver counts observations.
type countingObserver struct{ all, performed atomic.Int64 }

func (c *countingObserver) Observe(seen countersign.Observation) {
	c.all.Add(1)
	if seen.Performed > 0 {
		c.performed.Add(1)
	}
}

// TestLogCalls checks that each call to sign, and each refusal of one, has one log line
// with the user, the keys, the effects, the rules and the record. Preparing has none.
func TestLogCalls(t *testing.T) {
	for name := range callsOf(nil, 0) {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			seen := new(countingObserver)
			f := enginetest.New(t, engines.LogInto(&log), twoADay, func(c *countersign.Config) { c.Observer = seen })
			ctx := access.WithOrigin(t.Context(), access.Origin{RequestID: "r1"})
			sign := func(nth int) error { return callsOf(f.Engine.As(engines.Machine, ""), nth)[name](ctx) }
			for nth := range 2 {
				testenv.Must(t, sign(nth))
				lines := linesOf(t, &log)
				if len(lines) != 1 {
					t.Fatalf("%d lines", len(lines))
				}
				line := lines[0]
				if line.User != engines.Machine.ID || line.Scheme != activity.SchemeLocal || line.Credential != "" || line.Activity == "" || line.Reason != "" {
					t.Errorf("who: %+v", line)
				}
				if line.Organization != enginetest.Organization || line.Request != "r1" || !strings.HasPrefix(line.Operation, "sign_") {
					t.Errorf("from where: %+v", line)
				}
				if line.Chain != "ethereum" || len(line.Keys) != 1 || !slices.Equal(line.Addresses, []string{enginetest.Address}) ||
					len(line.Effects) == 0 || !slices.Equal(line.Rules, []string{"daily"}) {
					t.Errorf("what: %+v", line)
				}
			}
			enginetest.Refusal(t, sign(2), activity.ReasonLimitExceeded, "")
			lines := linesOf(t, &log)
			looked := strings.HasPrefix(name, "Prepare") // refused before Sign, without a log line
			if looked && len(lines) == 0 {
				return
			}
			if len(lines) != 1 || lines[0].Reason != string(activity.ReasonLimitExceeded) || lines[0].User != engines.Machine.ID || lines[0].Activity != "" || len(lines[0].Effects) == 0 {
				t.Errorf("the refusal: %+v", lines)
			}
			if seen.all.Load() != 3 || seen.performed.Load() != 2 {
				t.Errorf("%d observed, %d performed", seen.all.Load(), seen.performed.Load())
			}
		})
	}
}

// TestLogCallsOfPolicies checks that calls also have log lines under a plain Policy,
// whether or not it allows them, and for a user alone. A call with neither has
// none. No line has the text of a message.
func TestLogCallsOfPolicies(t *testing.T) {
	plain := func(err error) func(*countersign.Config) {
		return func(c *countersign.Config) {
			c.Policy = access.PolicyFunc(func(context.Context, access.Authorization) error { return err })
		}
	}
	for name, test := range map[string]struct {
		change func(*countersign.Config)
		lines  int
		reason activity.Reason
	}{
		"allowed":      {plain(nil), 1, ""},
		"denied":       {plain(access.ErrDenied), 1, activity.ReasonNotAuthorized},
		"without one":  {func(*countersign.Config) {}, 1, ""},
		"without both": {func(*countersign.Config) {}, 0, ""},
		"without user": {func(c *countersign.Config) { c.Policy = engines.Ruled{} }, 1, activity.ReasonNotAuthorized},
	} {
		for _, call := range []string{"SignTransaction", "SignMessage", "SignMessages"} {
			var log bytes.Buffer
			f := enginetest.New(t, engines.LogInto(&log), test.change)
			var caller calls = f.Engine.As(engines.Machine, "")
			if strings.Contains(name, "without both") || strings.Contains(name, "without user") {
				caller = f.Engine
			}
			err := callsOf(caller, 0)[call](t.Context())
			if (err != nil) != (test.reason != "") {
				t.Fatalf("%s, %s: %v", name, call, err)
			}
			if strings.Contains(log.String(), engines.Greeting) {
				t.Errorf("%s, %s: the log has the message: %s", name, call, &log)
			}
			lines := linesOf(t, &log)
			if len(lines) != test.lines {
				t.Fatalf("%s, %s: %d lines", name, call, len(lines))
			}
			if test.lines > 0 && (lines[0].Reason != string(test.reason) || (lines[0].User == engines.Machine.ID) != (name != "without user")) {
				t.Errorf("%s, %s: %+v", name, call, lines[0])
			}
		}
	}
}

// TestLogCallsWithoutStore checks that the log line of a call that is recorded nowhere
// names the rules, too.
func TestLogCallsWithoutStore(t *testing.T) {
	f := enginetest.New(t)
	for _, call := range []string{"SignTransaction", "PrepareTransaction", "SignMessage"} {
		var log bytes.Buffer
		config := countersign.Config{Chains: all.Chains(all.Limits{}), Operations: messages.Operations(all.Chains(all.Limits{})...), Keystore: staysOpen{keystore.Keystore(f.Signing)}, Policy: engines.Ruled{}}
		engines.LogInto(&log)(&config)
		engine, err := countersign.New(config)
		testenv.Must(t, err)
		testenv.Must(t, callsOf(engine.As(engines.Machine, ""), 0)[call](t.Context()))
		lines := linesOf(t, &log)
		if len(lines) != 1 || lines[0].User != engines.Machine.ID || lines[0].Activity != "" || !slices.Equal(lines[0].Rules, []string{"small sums"}) {
			t.Errorf("%s: %+v", call, lines)
		}
		testenv.Must(t, engine.Close())
	}
}

// TestLogResumed checks that the log line of the last vote says what was signed and who
// submitted it, that the line of an earlier vote does not, and that a signature by a
// sweep has a line of its own.
func TestLogResumed(t *testing.T) {
	for _, swept := range []bool{false, true} {
		var log bytes.Buffer
		b := ballot.New(t, engines.LogInto(&log))
		waiting := b.Waiting()
		b.Approve(b.Ann, waiting)
		before := linesOf(t, &log)
		if len(before) != 2 || before[1].User != "ann" || before[1].Submitter != "user-1" || before[0].State != "waiting" || before[1].State != "waiting" ||
			len(before[0].Does) != 2 || len(before[1].Keys) != 0 {
			t.Errorf("a vote of two: %+v", before)
		}
		user, operation := "ben", "approve_activity"
		if swept {
			b.Signing.Before = func(context.Context) error { return errors.Join(keystore.ErrUnavailable) }
			b.Approve(b.Ben, waiting)
			b.Signing.Before = nil
			linesOf(t, &log)
			b.Resume()
			user, operation = "user-1", "resume"
		} else {
			b.Approve(b.Ben, waiting)
		}
		lines := linesOf(t, &log)
		if len(lines) != 1 {
			t.Fatalf("swept %v: %d lines", swept, len(lines))
		}
		line := lines[0]
		if line.User != user || line.Operation != operation || line.Submitter != "user-1" || line.Activity != waiting.ID {
			t.Errorf("who: %+v", line)
		}
		if line.State != "signed" || !slices.Equal(line.Approvers, []string{"ann", "ben"}) || len(line.Does) != 2 || !strings.HasPrefix(line.Does[0], "send 0.000000000000000123 ETH from 0x97cC") {
			t.Errorf("what became of it: %+v", line)
		}
		if line.Chain != "ethereum" || len(line.Keys) != 1 || len(line.Addresses) != 1 || len(line.Effects) == 0 || !slices.Equal(line.Rules, []string{"payouts"}) {
			t.Errorf("what: %+v", line)
		}
		b.Resume()
		if more := linesOf(t, &log); len(more) != 0 {
			t.Errorf("a sweep that signs nothing: %+v", more)
		}
	}
}
