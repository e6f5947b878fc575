package countersign_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// at returns a request with the given timestampMs.
func at(f *enginetest.Fixture, timestamp string) countersign.SignedBody {
	body := f.Body(enginetest.Request{})
	return f.APIKey.Sign(strings.Replace(body, fmt.Sprint(f.Clock.Now().UnixMilli()), timestamp, 1))
}

// TestDistantTimestamps checks timestamps whose distance from now does not fit a
// Duration: their stamps must not be live.
func TestDistantTimestamps(t *testing.T) {
	f := enginetest.New(t)
	for _, timestamp := range []string{"9999999999999", "8999999999999", "1"} {
		_, err := f.Engine.Submit(t.Context(), at(f, timestamp))
		enginetest.Refusal(t, err, activity.ReasonInvalidTime, "timestampMs")
	}
	for _, timestamp := range []string{"11000000000000", "99999999999999", "999999999999999"} {
		_, err := f.Engine.Submit(t.Context(), at(f, timestamp))
		enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "at most 13")
	}
	f.WantSignatures(t, 0)
}

// TestRequestWindowLimit checks that ages that would overflow are refused.
func TestRequestWindowLimit(t *testing.T) {
	for _, change := range []func(*countersign.Config){
		func(c *countersign.Config) { c.MaxRequestAge = math.MaxInt64 },
		func(c *countersign.Config) { c.MaxRequestSkew = math.MaxInt64 },
		func(c *countersign.Config) { c.MaxRequestAge = countersign.MaxRequestWindow + 1 },
	} {
		f := enginetest.New(t)
		config := f.Config
		change(&config)
		if _, err := countersign.New(config); err == nil || !strings.Contains(err.Error(), "AnyRequestTime") {
			t.Errorf("age %v, skew %v: %v", config.MaxRequestAge, config.MaxRequestSkew, err)
		}
	}
	f := enginetest.New(t, func(c *countersign.Config) {
		c.MaxRequestAge, c.MaxRequestSkew = countersign.MaxRequestWindow, countersign.MaxRequestWindow
	})
	onlyOnce(t, f, f.Body(enginetest.Request{}), 5)
}

// onlyOnce submits a body several times and checks that there is one signature.
func onlyOnce(t *testing.T, f *enginetest.Fixture, body string, times int) {
	t.Helper()
	for range times {
		if _, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body)); err != nil {
			t.Error(err)
		}
	}
	f.WantSignatures(t, 1)
}

// TestSlowPolicyDoesNotRepeat checks a body that is carried out by another call and
// forgotten while the policy decides.
func TestSlowPolicyDoesNotRepeat(t *testing.T) {
	var f *enginetest.Fixture
	first := true
	var body string
	f = enginetest.New(t, func(c *countersign.Config) {
		c.Policy = access.PolicyFunc(func(ctx context.Context, _ access.Authorization) error {
			if !first {
				return nil
			}
			first = false
			if _, err := f.Engine.Submit(ctx, f.APIKey.Sign(body)); err != nil {
				t.Error(err)
			}
			f.Clock.Advance(7 * time.Minute)
			return nil
		})
	})
	body = f.Body(enginetest.Request{At: f.Clock.Now().Add(-59 * time.Minute)})
	_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
	if err != nil {
		enginetest.Refusal(t, err, activity.ReasonInvalidTime, "")
	}
	f.WantSignatures(t, 1)
}

// TestSlowPolicyExpires checks that a request that was live when it arrived, but is not
// when the policy allows it, is refused.
func TestSlowPolicyExpires(t *testing.T) {
	var f *enginetest.Fixture
	f = enginetest.New(t, func(c *countersign.Config) {
		c.Policy = access.PolicyFunc(func(context.Context, access.Authorization) error {
			f.Clock.Advance(7 * time.Minute)
			return nil
		})
	})
	_, err := f.Submit(t, enginetest.Request{At: f.Clock.Now().Add(-59 * time.Minute)})
	enginetest.Refusal(t, err, activity.ReasonInvalidTime, "expired before it was carried out")
	f.WantSignatures(t, 0)
}

// TestShortSkewDoesNotRepeat checks two requests at the end of the window while signing
// takes longer than the skew.
func TestShortSkewDoesNotRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := enginetest.New(t, func(c *countersign.Config) { c.MaxRequestSkew = time.Second })
		f.Signing.Before = func(context.Context) error {
			time.Sleep(time.Millisecond)
			f.Clock.Advance(2 * time.Second)
			return nil
		}
		body := f.Body(enginetest.Request{At: f.Clock.Now().Add(-time.Hour)})
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				if _, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body)); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		f.WantSignatures(t, 1)
	})
}

// TestClockSetBackDoesNotRepeat checks a body whose record is forgotten before the clock
// is set back to when it was live.
func TestClockSetBackDoesNotRepeat(t *testing.T) {
	for _, step := range []time.Duration{66 * time.Minute, 3 * time.Hour, 365 * 24 * time.Hour} {
		f := enginetest.New(t)
		body := f.Body(enginetest.Request{})
		onlyOnce(t, f, body, 1)
		f.Clock.Advance(step)
		enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{})))
		f.Clock.Advance(-step)
		_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
		enginetest.Refusal(t, err, activity.ReasonInvalidTime, "expired before it was carried out")
		if n := f.Signing.Signatures.Load(); n != 2 {
			t.Fatalf("%v back: %d signatures of two bodies", step, n)
		}
	}
}

// TestPanicReleasesLease checks that the same body can be tried again after a backend
// panics.
func TestPanicReleasesLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := enginetest.New(t)
		fault := true
		f.Signing.Before = func(context.Context) error {
			if fault {
				fault = false
				panic("a fault of a backend")
			}
			return nil
		}
		sent := f.APIKey.Sign(f.Body(enginetest.Request{}))
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_, _ = f.Engine.Submit(t.Context(), sent)
		}()
		if _, err := f.Engine.Submit(t.Context(), sent); err != nil { // deadlocks if the lease is not released
			t.Error(err)
		}
	})
}

// TestOthersSeeNoStamp checks that a reader other than the submitter gets neither the
// token nor a stamp that could be sent again, by query or by submitting the body.
func TestOthersSeeNoStamp(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := enginetest.New(t, enginetest.WithOTP(t, outbox))
	id := engines.IssueOTP(t, f)
	body := engines.VerifyOTP(f, id, outbox.Code(t, id), "")
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(body))
	token, proof := record.Result.(activity.VerifyOTPResult).VerificationToken, record.Submitter().Signature
	query := engines.GetActivity(enginetest.Organization, record.ID)
	for name, read := range map[string]func() (*activity.Record, error){
		"get_activity":      func() (*activity.Record, error) { return f.Engine.GetActivity(t.Context(), f.OTPOnly.Sign(query)) },
		"the body again":    func() (*activity.Record, error) { return f.Engine.Submit(t.Context(), f.OTPOnly.Sign(body)) },
		"of its submitter":  func() (*activity.Record, error) { return f.Engine.GetActivity(t.Context(), f.APIKey.Sign(query)) },
		"by its submitter":  func() (*activity.Record, error) { return f.Engine.Submit(t.Context(), f.APIKey.Sign(body)) },
		"of another, later": func() (*activity.Record, error) { return later(f, query) },
	} {
		shown, err := read()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answer := string(shown.AppendAnswer(nil))
		own := strings.Contains(name, "its submitter")
		if got := strings.Contains(answer, token); got != own {
			t.Errorf("%s: shows the token: %v", name, got)
		}
		if got, want := strings.Contains(answer, proof), own || strings.Contains(name, "later"); got != want {
			t.Errorf("%s: shows the stamp: %v", name, got)
		}
	}
}

// later queries an activity when its request is no longer live.
func later(f *enginetest.Fixture, query string) (*activity.Record, error) {
	f.Clock.Advance(65*time.Minute + time.Millisecond)
	defer f.Clock.Advance(-65*time.Minute - time.Millisecond)
	return f.Engine.GetActivity(context.Background(), f.OTPOnly.Sign(query))
}
