package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/translog"
)

// failingOnce is a store of which one call fails, as a lost connection makes it fail: before
// the call is carried out, or after it.
type failingOnce struct {
	store.Full
	countdown int  // fails the call with which it reaches 0
	after     bool // the call is carried out all the same
}

// failing makes a call of the store, or fails.
func failing[R any](s *failingOnce, do func() (R, error)) (R, error) {
	s.countdown--
	var none R
	if s.countdown != 0 {
		return do()
	}
	if s.after {
		_, _ = do()
	}
	return none, fmt.Errorf("%w: connection reset", store.ErrUnavailable)
}

// only makes a call that returns nothing but an error.
func only(s *failingOnce, do func() error) error {
	_, err := failing(s, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (s *failingOnce) Begin(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	return failing(s, func() (store.BeginResult, error) {
		begun, err := s.Full.Begin(ctx, claim, change)
		if s.countdown == 0 && begun.Lease != nil { // as if it had run out by the time of the next request
			return begun, s.Full.Release(ctx, *begun.Lease, nil)
		}
		return begun, err
	})
}

func (s *failingOnce) Complete(ctx context.Context, lease store.Lease, done store.Activity, change store.Change) error {
	return only(s, func() error { return s.Full.Complete(ctx, lease, done, change) })
}

func (s *failingOnce) Get(ctx context.Context, organizationID, id string) (store.Activity, error) {
	return failing(s, func() (store.Activity, error) { return s.Full.Get(ctx, organizationID, id) })
}

func (s *failingOnce) Find(ctx context.Context, organizationID string, fingerprint store.Fingerprint) (store.Activity, error) {
	return failing(s, func() (store.Activity, error) { return s.Full.Find(ctx, organizationID, fingerprint) })
}

func (s *failingOnce) Change(ctx context.Context, organizationID string, change store.Change) error {
	return only(s, func() error { return s.Full.Change(ctx, organizationID, change) })
}

func (s *failingOnce) Replace(ctx context.Context, replaced store.Activity, now time.Time, change store.Change) error {
	return only(s, func() error { return s.Full.Replace(ctx, replaced, now, change) })
}

func (s *failingOnce) Waiting(ctx context.Context) ([]store.Activity, error) {
	return failing(s, func() ([]store.Activity, error) { return s.Full.Waiting(ctx) })
}

func (s *failingOnce) List(ctx context.Context, organizationID string, filter store.Filter) ([]store.Activity, error) {
	return failing(s, func() ([]store.Activity, error) { return s.Full.List(ctx, organizationID, filter) })
}

func (s *failingOnce) LogHead(ctx context.Context, organizationID string) (translog.Head, error) {
	return failing(s, func() (translog.Head, error) { return s.Full.LogHead(ctx, organizationID) })
}

func (s *failingOnce) LogRows(ctx context.Context, organizationID string, indexes []int64) ([]translog.Row, error) {
	return failing(s, func() ([]translog.Row, error) { return s.Full.LogRows(ctx, organizationID, indexes) })
}

func (s *failingOnce) LogIndex(ctx context.Context, organizationID, id string) (int64, error) {
	return failing(s, func() (int64, error) { return s.Full.LogIndex(ctx, organizationID, id) })
}

// entered is an engine with requests at every stage, and one way to enter it.
type entered struct {
	*ballot.Ballot
	store  *failingOnce
	body   string // of the request that is made, signed or waiting
	waits  *activity.Record
	outbox *enginetest.Outbox
	code   string // body that redeems a code
}

// stages bring an engine to where the entry is tried.
var stages = map[string]func(e *entered){
	"new":        func(*entered) {},
	"new, free":  func(e *entered) { e.Policy.Groups = nil },
	"new, never": func(e *entered) { e.Policy.Refusal = access.ErrDenied },
	"new, limit": func(e *entered) { e.Policy.Groups, e.Policy.Charges = nil, limited },
	"waiting":    func(e *entered) { e.wait() },
	"one vote":   func(e *entered) { e.wait(); e.Approve(e.Ann, e.waits) },
	"approved": func(e *entered) { // but could not be signed
		e.wait()
		e.Policy.Refusal = access.ErrDenied
		e.Approve(e.Ann, e.waits)
		e.Approve(e.Ben, e.waits)
		e.Policy.Refusal = nil
	},
	"signed":        func(e *entered) { e.sign() },
	"signed, never": func(e *entered) { e.sign(); e.Policy.Refusal = access.ErrDenied },
	"signed, again": func(e *entered) {
		e.sign()
		e.Policy.Groups = []access.Group{{Rule: "payouts", Count: 2, Tag: "finance"}}
	},
	"signed, spent": func(e *entered) { e.Policy.Charges = limited; e.sign() },
}

var limited = []store.Charge{{Limit: "daily", Window: time.Hour, Amount: big.NewInt(1), Max: big.NewInt(1)}}

func (e *entered) wait() {
	e.waits = e.Waiting()
	_, _ = e.caller().Sign(e.T.Context(), enginetest.Organization, payout())
}

func (e *entered) sign() {
	groups := e.Policy.Groups
	e.Policy.Groups = nil
	if _, err := e.Submit(e.T, enginetest.Request{}); err != nil {
		e.T.Fatal(err)
	}
	charges := e.Policy.Charges
	e.Policy.Charges = nil
	if _, err := e.caller().Sign(e.T.Context(), enginetest.Organization, payout()); err != nil {
		e.T.Fatal(err)
	}
	e.Policy.Groups, e.Policy.Charges = groups, charges
}

func (e *entered) caller() *countersign.Caller {
	return e.Engine.As(access.User{ID: "user-1", Name: "ci"}, "CERTIFICATE dns:batcher.example")
}

// vote returns the entry by a vote on what waits, with a time of its own.
func vote(kind activity.Type, by func(e *entered) *enginetest.APIKey) func(e *entered) (any, error) {
	return func(e *entered) (any, error) {
		if e.waits == nil {
			return nil, nil
		}
		return told(e.Vote(by(e), kind, e.waits))
	}
}

// told returns what an answer says that does not depend on when it was given.
func told(record *activity.Record, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return fmt.Sprint(record.Status, record.Result, len(record.Votes), record.Log != nil), nil
}

// entries are the ways into an engine.
var entries = map[string]func(e *entered) (any, error){
	"Submit": func(e *entered) (any, error) {
		return told(e.Engine.Submit(e.T.Context(), e.APIKey.Sign(e.body)))
	},
	"CheckRequest": func(e *entered) (any, error) {
		return nil, e.Engine.CheckRequest(e.T.Context(), e.APIKey.Sign(e.body))
	},
	"As.Sign": func(e *entered) (any, error) {
		return e.caller().Sign(e.T.Context(), enginetest.Organization, payout())
	},
	"As.Prepare": func(e *entered) (any, error) {
		prepared, err := e.caller().Prepare(e.T.Context(), enginetest.Organization, payout())
		if err != nil {
			return nil, err
		}
		return prepared.Sign(e.T.Context())
	},
	"JSON-RPC": func(e *entered) (any, error) { return e.ask() },
	"GetActivity": func(e *entered) (any, error) {
		id := "01999999-0000-7000-8000-000000000000"
		if e.waits != nil {
			id = e.waits.ID
		}
		return told(e.Engine.GetActivity(e.T.Context(), e.APIKey.Sign(engines.GetActivity(enginetest.Organization, id))))
	},
	"ListActivities": func(e *entered) (any, error) {
		listed, err := e.Engine.ListActivities(e.T.Context(), e.APIKey.Sign(fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization)))
		return len(listed), err
	},
	"approve": vote(activity.TypeApproveActivity, func(e *entered) *enginetest.APIKey { return e.Ben }),
	"reject":  vote(activity.TypeRejectActivity, func(e *entered) *enginetest.APIKey { return e.Ben }),
	"vote without a right": vote(activity.TypeApproveActivity, func(e *entered) *enginetest.APIKey {
		return e.Cid
	}),
	"ResumeWaiting": func(e *entered) (any, error) { return nil, e.Engine.Operator().ResumeWaiting(e.T.Context()) },
	"ResumeWaiting, overdue": func(e *entered) (any, error) {
		e.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
		return nil, e.Engine.Operator().ResumeWaiting(e.T.Context())
	},
	"send a code": func(e *entered) (any, error) {
		_, err := e.Engine.Submit(e.T.Context(), e.OTPOnly.Sign(engines.InitOTP(e.Fixture, engines.ToUser)))
		return nil, err
	},
	"redeem a code": func(e *entered) (any, error) {
		_, err := e.Engine.Submit(e.T.Context(), e.OTPOnly.Sign(e.code))
		return nil, err
	},
}

// ask asks the JSON-RPC signer.
func (e *entered) ask() (any, error) {
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: enginetest.Organization, UserID: "user-1", Token: faultToken}}, nil)
	testenv.Must(e.T, err)
	handler := rpcapi.New(e.Engine, rpcapi.Options{
		Users: func() *rpcapi.Users { return users }, Directory: e.Directory, Keystore: e.Signing,
		Host: func(string) bool { return true }, ChainID: 1,
	})
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[{"from":%q,"to":%q,"gas":"0x5208",`+
		`"maxFeePerGas":"0x1","maxPriorityFeePerGas":"0x1","nonce":"0x0","value":"0x1","chainId":"0x1"}]}`, enginetest.Address, enginetest.Address)
	request := httptest.NewRequest("POST", "/", strings.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+faultToken)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	text := answer.Body.String()
	if strings.Contains(text, string(activity.ReasonUnavailable)) {
		return nil, activity.NewError(activity.ReasonUnavailable, "", nil, "%s", text)
	}
	return text, nil
}

const faultToken = "0123456789abcdef0123456789abcdef"

// enter brings a new engine to a stage.
func enter(t *testing.T, stage func(*entered)) *entered {
	t.Helper()
	e := &entered{store: &failingOnce{Full: memory.New(0)}, outbox: new(enginetest.Outbox)}
	e.Ballot = ballot.New(t, func(c *countersign.Config) { c.Store = e.store }, enginetest.WithOTP(t, e.outbox), enginetest.WithLog(1))
	e.SetUsers(ballot.Voter("ann", "finance", e.Ann), ballot.Voter("ben", "finance", e.Ben), ballot.Voter("cid", "", e.Cid),
		access.UserConfig{ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{e.APIKey.Config()}},
		access.UserConfig{ID: "user-2", Name: "otp", APIKeys: []access.APIKeyConfig{e.OTPOnly.Config()}})
	groups := e.Policy.Groups
	e.Policy.Groups = nil
	id := enginetest.MustSubmit(t, e.Engine, e.OTPOnly.Sign(engines.InitOTP(e.Fixture, engines.ToUser))).Result.(activity.InitOTPAuthResult).OTPID
	e.Policy.Groups = groups
	e.body, e.code = e.Body(enginetest.Request{}), engines.VerifyOTP(e.Fixture, id, e.outbox.Code(t, id), "")
	stage(e)
	return e
}

var uuids = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// asText returns an answer for comparison.
func asText(answer any, err error) string {
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		return fmt.Sprint(refused.Reason)
	}
	if errors.Is(err, store.ErrUnavailable) { // for the operator
		return string(activity.ReasonUnavailable)
	}
	return uuids.ReplaceAllString(fmt.Sprint(answer, err), "ID")
}

// TestStoreFault fails each call that each way into the engine makes of the store, once,
// before it is carried out and after it. The answer is that of a store without faults, or
// UNAVAILABLE, which is not final; the same request again then has the answer that it has
// without the fault, and nothing is signed or sent twice.
func TestStoreFault(t *testing.T) {
	for at, stage := range stages {
		for name, enters := range entries {
			t.Run(at+"/"+name, func(t *testing.T) {
				plain := enter(t, stage)
				plain.store.countdown = 0
				want := asText(enters(plain))
				calls := -plain.store.countdown
				again := asText(enters(plain))
				signed := plain.Signing.Signatures.Load()
				for number := range 2 * calls {
					e := enter(t, stage)
					e.store.countdown, e.store.after = number/2+1, number%2 == 1
					got := asText(enters(e))
					if got != want && got != string(activity.ReasonUnavailable) {
						t.Errorf("call %d failed (carried out: %v): %s, want %s or UNAVAILABLE", number/2+1, e.store.after, got, want)
					}
					if after := asText(enters(e)); after != want && after != again {
						t.Errorf("after call %d had failed (carried out: %v): %s, then %s, want %s or %s", number/2+1, e.store.after, got, after, want, again)
					}
					if got := e.Signing.Signatures.Load(); got > max(signed, 2) {
						t.Errorf("call %d failed: %d signatures, %d without the fault", number/2+1, got, signed)
					}
				}
			})
		}
	}
}
