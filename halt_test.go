package countersign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/translog"
)

// halted is an engine with a log and two administrators, cid and dan, of whom both have to ask
// for the end of a halt.
type halted struct{ *ballot.Ballot }

func newHalted(t *testing.T, changes ...func(*countersign.Config)) *halted {
	t.Helper()
	h := &halted{ballot.New(t, append([]func(*countersign.Config){enginetest.WithLog(1), func(c *countersign.Config) {
		c.Store, c.AllowHazards = memory.New(0), []string{countersign.AllHazards}
	}}, changes...)...)}
	h.register(2)
	return h
}

// register replaces the directory: so many users have to ask for the end of a halt.
func (h *halted) register(approvals int) {
	h.T.Helper()
	submitter := ballot.Voter("user-1", "", h.APIKey)
	submitter.APIKeys[0].Activities = slices.DeleteFunc(activity.Types(), activity.Type.Halts)
	users := []access.UserConfig{submitter, ballot.Voter("ann", "finance", h.Ann), ballot.Voter("ben", "finance", h.Ben)}
	users = append(users, administrator("cid", h.Cid), administrator("dan", h.Dan))
	h.SetOrganization(access.OrganizationConfig{ID: enginetest.Organization, Users: users, Resume: access.ResumeConfig{Approvals: approvals}})
}

// administrator is a user whose key may halt and resume.
func administrator(id string, key *enginetest.APIKey) access.UserConfig {
	user := ballot.Voter(id, "", key)
	user.APIKeys[0].Activities = []activity.Type{activity.TypeHalt, activity.TypeResume}
	return user
}

// asks submits a halt or the like as an administrator, at a time of its own.
func (h *halted) asks(by *enginetest.APIKey, kind activity.Type, parameters string) (*activity.Record, error) {
	h.Clock.Advance(time.Millisecond)
	return h.Engine.Submit(h.T.Context(), by.Sign(fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{%s}}`,
		kind, h.Clock.Now().UnixMilli(), enginetest.Organization, parameters)))
}

func (h *halted) halt(parameters string) {
	h.T.Helper()
	if _, err := h.asks(h.Cid, activity.TypeHalt, parameters); err != nil {
		h.T.Fatal(err)
	}
}

func (h *halted) resume(parameters string) {
	h.T.Helper()
	h.resumes(h.Dan, parameters, 1)
	h.resumes(h.Cid, parameters, 0)
}

// resumes asks for the end of a halt, for which so many others still have to ask.
func (h *halted) resumes(by *enginetest.APIKey, parameters string, missing int) {
	h.T.Helper()
	record, err := h.asks(by, activity.TypeResume, parameters)
	testenv.Must(h.T, err)
	if result := record.Result.(activity.HaltResult); result.Missing != missing {
		h.T.Fatalf("%d more are missing, want %d", result.Missing, missing)
	}
}

// refused checks that an error is that of a halt.
func (h *halted) refused(what string, err error) {
	h.T.Helper()
	if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonHalted || !errors.Is(err, store.ErrStopped) {
		h.T.Errorf("%s: %v, want SIGNING_HALTED", what, err)
	}
}

// free lets the policy ask for no votes.
func free(h *halted) *halted {
	h.Policy.Set(func(p *ballot.Policy) { p.Groups = nil })
	return h
}

// TestHalt checks what a halt of the organization stops: transactions, messages, lists of
// payloads, calls with a user and without, and one-time passwords. What was signed before is
// answered to its submitter, and the same bodies are carried out after the end.
func TestHalt(t *testing.T) {
	outbox := new(enginetest.Outbox)
	h := free(newHalted(t, enginetest.WithOTP(t, outbox)))
	code := enginetest.MustSubmit(t, h.Engine, h.APIKey.Sign(engines.InitOTP(h.Fixture, engines.ToUser)))
	id := code.Result.(activity.InitOTPAuthResult).OTPID
	before := enginetest.MustSubmit(t, h.Engine, h.APIKey.Sign(h.Body(enginetest.Request{})))
	h.halt("")
	h.Clock.Advance(time.Second)
	payloads := fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{"signWith":%q,"payloads":["\u0019Ethereum Signed Message:\n5hello"],"encoding":"PAYLOAD_ENCODING_TEXT_UTF8","hashFunction":"HASH_FUNCTION_KECCAK256"}}`,
		activity.TypeSignRawPayloads, h.Clock.Now().UnixMilli(), enginetest.Organization, enginetest.Address)
	bodies := map[string]string{
		"a transaction":      h.Body(enginetest.Request{}),
		"a list of payloads": payloads,
		"a code":             engines.InitOTP(h.Fixture, engines.ToUser),
		"redeeming":          engines.VerifyOTP(h.Fixture, id, outbox.Code(t, id), ""),
	}
	sent := outbox.Sent()
	for what, body := range bodies {
		_, err := h.Engine.Submit(t.Context(), h.APIKey.Sign(body))
		h.refused(what, err)
	}
	_, err := h.Engine.As(access.User{ID: "user-1"}, "").SignTransaction(t.Context(), enginetest.Organization, payout())
	h.refused("a call", err)
	if outbox.Sent() != sent {
		t.Error("a code was sent")
	}
	if again := enginetest.MustSubmit(t, h.Engine, h.APIKey.Sign(string(before.Request.Body))); again.Result != before.Result || again.ID != before.ID {
		t.Errorf("what was signed before is answered with %+v", again)
	}
	if _, err := h.Engine.Submit(t.Context(), h.Other.Sign(strings.ReplaceAll(h.Body(enginetest.Request{}), enginetest.Organization, enginetest.OtherOrganization))); errors.Is(err, store.ErrStopped) {
		t.Errorf("another organization: %v", err)
	}
	h.WantSignatures(t, 1)
	h.resume("")
	for what, body := range bodies {
		if _, err := h.Engine.Submit(t.Context(), h.APIKey.Sign(body)); err != nil {
			t.Errorf("%s after the end: %v", what, err)
		}
	}
}

// TestHaltUnattributed: a call by no user is recorded nowhere, and refused all the same.
func TestHaltUnattributed(t *testing.T) {
	h := newHalted(t, func(c *countersign.Config) { c.Policy = nil })
	if _, err := h.Engine.SignTransaction(t.Context(), enginetest.Organization, payout()); err != nil {
		t.Fatal(err)
	}
	h.halt(`"privateKeyId":"key-1"`)
	result, err := h.Engine.SignTransaction(t.Context(), enginetest.Organization, payout())
	h.refused("a call by no user", err)
	if result != (activity.SignTransactionResult{}) {
		t.Errorf("released: %+v", result)
	}
}

// TestHaltWithholdsAnswers: with answers, what was signed before is neither answered nor listed
// until the end of the halt, to whomever.
func TestHaltWithholdsAnswers(t *testing.T) {
	h := free(newHalted(t))
	before := enginetest.MustSubmit(t, h.Engine, h.APIKey.Sign(h.Body(enginetest.Request{})))
	call := func() (activity.SignTransactionResult, error) {
		return h.Engine.As(access.User{ID: "user-1"}, "").SignTransaction(t.Context(), enginetest.Organization, payout())
	}
	if _, err := call(); err != nil {
		t.Fatal(err)
	}
	get := fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, before.ID)
	list := fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization)
	shown := func() (all []activity.Result) {
		record, err := h.Engine.GetActivity(t.Context(), h.APIKey.Sign(get))
		testenv.Must(t, err)
		listed, err := h.Engine.ListActivities(t.Context(), h.APIKey.Sign(list))
		if err != nil || len(listed) < 2 {
			t.Fatal(listed, err)
		}
		for _, one := range append(listed, record) {
			if one.Request.Type.Signs() {
				all = append(all, one.Result)
			}
		}
		return all
	}
	for _, of := range []string{"", `"userId":"user-1",`, `"privateKeyId":"key-1",`} {
		h.halt(of + `"answers":true`)
		h.halt(strings.TrimSuffix(of, ",")) // does not answer any more than before
		_, err := h.Engine.Submit(t.Context(), h.APIKey.Sign(string(before.Request.Body)))
		h.refused("the same body"+of, err)
		_, err = call()
		h.refused("the same call"+of, err)
		for _, result := range shown() {
			if result != nil {
				t.Errorf("%s shown: %+v", of, result)
			}
		}
		h.resume(strings.TrimSuffix(of, ","))
		for _, result := range shown() {
			if result == nil {
				t.Errorf("%s: a result is missing after the end", of)
			}
		}
		if _, err := call(); err != nil {
			t.Error(err)
		}
	}
}

// leftBehind is a store that an organization has left.
type leftBehind struct {
	store.Full
	left bool
}

func (s *leftBehind) LogHead(ctx context.Context, organizationID string) (translog.Head, error) {
	head, err := s.Full.LogHead(ctx, organizationID)
	head.Moved = s.left
	return head, err
}

// TestMovedWithholdsAnswers: nothing is answered from the copy that an organization left behind in another
// store, neither what was signed before, since it does not know of halts since, nor what waits or is not there.
func TestMovedWithholdsAnswers(t *testing.T) {
	behind := &leftBehind{Full: memory.New(0)}
	h := newHalted(t, func(c *countersign.Config) { c.Store = behind })
	waiting := h.Waiting()
	free(h)
	h.Clock.Advance(time.Second)
	before := enginetest.MustSubmit(t, h.Engine, h.APIKey.Sign(h.Body(enginetest.Request{})))
	get := func(id string) (err error) {
		_, err = h.Engine.GetActivity(t.Context(), h.APIKey.Sign(fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, id)))
		return err
	}
	list := func(filter string) (err error) {
		_, err = h.Engine.ListActivities(t.Context(), h.APIKey.Sign(fmt.Sprintf(`{"organizationId":%q%s}`, enginetest.Organization, filter)))
		return err
	}
	for _, left := range []bool{false, true} {
		behind.left = left
		_, again := h.Engine.Submit(t.Context(), h.APIKey.Sign(string(before.Request.Body)))
		_, waits := h.Engine.Submit(t.Context(), h.APIKey.Sign(string(waiting.Request.Body)))
		for what, err := range map[string]error{
			"again": again, "one that waits, again": waits, "one": get(before.ID), "all": list(""), "one that waits": get(waiting.ID),
			"those that wait": list(`,"filterByStatus":["ACTIVITY_STATUS_CONSENSUS_NEEDED"]`),
		} {
			if errors.Is(err, store.ErrMoved) != left || (err != nil) != left {
				t.Errorf("left %v: %s: %v", left, what, err)
			}
		}
		refused, _ := errors.AsType[*activity.Error](get("recorded-since"))
		if errors.Is(refused, store.ErrMoved) != left || (refused.Reason == activity.ReasonNotFound) == left {
			t.Errorf("left %v: what is not there: %v", left, refused)
		}
		if err := list(`,"filterByStatus":["ACTIVITY_STATUS_REJECTED"]`); errors.Is(err, store.ErrMoved) != left {
			t.Errorf("left %v: an empty list: %v", left, err)
		}
	}
}

// TestHaltOfOne: the halt of a user stops what the user submits, and what the user has approved
// or approves; that of a key what it signs; neither anything else.
func TestHaltOfOne(t *testing.T) {
	h := newHalted(t)
	waiting := h.Waiting()
	h.Approve(h.Ann, waiting)
	h.halt(`"userId":"ann"`)
	_, err := h.Vote(h.Ben, activity.TypeApproveActivity, waiting)
	h.refused("a vote on what a user has approved who is halted", err)
	h.Clock.Advance(time.Second)
	other := h.Waiting()
	_, err = h.Vote(h.Ann, activity.TypeApproveActivity, other)
	h.refused("a vote of a user who is halted", err)
	h.resume(`"userId":"ann"`)
	h.Is(h.Approve(h.Ben, waiting), activity.StatusCompleted)
	free(h)
	h.Clock.Advance(time.Second)
	enginetest.MustSubmit(t, h.Engine, h.APIKey.Sign(h.Body(enginetest.Request{})))
	h.halt(`"privateKeyId":"key-1"`)
	h.Clock.Advance(time.Second)
	_, err = h.Submit(t, enginetest.Request{})
	h.refused("the key", err)
	for _, parameters := range []string{`"userId":"eve"`, `"privateKeyId":"key-9"`} {
		_, err := h.asks(h.Cid, activity.TypeHalt, parameters)
		enginetest.Refusal(t, err, activity.ReasonNotFound, "nothing is halted")
	}
	_, err = h.asks(h.Cid, activity.TypeResume, "")
	enginetest.Refusal(t, err, activity.ReasonNotFound, "not halted for the organization")
}

// TestHaltOfUserWithoutID: a halt of a user whose id comes from the name is in force at once, and says
// that a rename ends it. With that id in the configuration, none does.
func TestHaltOfUserWithoutID(t *testing.T) {
	h := newHalted(t)
	named := ballot.Voter("", "", h.APIKey)
	named.Name = "ci"
	register := func() {
		admins := []access.UserConfig{administrator("cid", h.Cid), administrator("dan", h.Dan)}
		h.SetOrganization(access.OrganizationConfig{ID: enginetest.Organization, Users: append(admins, named), Resume: access.ResumeConfig{Approvals: 2}})
	}
	named.APIKeys[0].Activities = nil
	register()
	free(h)
	enginetest.MustSubmit(t, h.Engine, h.APIKey.Sign(h.Body(enginetest.Request{})))
	for id, warns := range map[string]bool{"dan": false, named.UserID(enginetest.Organization): true} {
		record, err := h.asks(h.Cid, activity.TypeHalt, fmt.Sprintf(`"userId":%q`, id))
		testenv.Must(t, err)
		sentence, of := record.Result.(activity.HaltResult).Sentence(), "signing is halted for user "+id
		if sentence != of && !warns || warns && !strings.HasPrefix(sentence, of+": a rename of the user ends it, unless ") {
			t.Errorf("the halt of %s says %q", id, sentence)
		}
	}
	named.ID = named.UserID(enginetest.Organization)
	for _, name := range []string{"ci", "renamed"} {
		named.Name = name
		register()
		h.Clock.Advance(time.Second)
		_, err := h.Submit(t, enginetest.Request{})
		h.refused(name, err)
	}
}

// TestHaltAndVotes: while signing is halted a vote for is refused and one against counts, what
// has its votes waits with the reason and is signed after the end, and what waits too long is
// rejected.
func TestHaltAndVotes(t *testing.T) {
	for _, ends := range []string{"resumed", "rejected", "expired"} {
		h := newHalted(t)
		waiting := h.Waiting()
		h.Approve(h.Ann, waiting)
		h.Signing.Before = func(context.Context) error { return errors.New("the key is away") }
		h.Approve(h.Ben, waiting) // all votes, and an obstacle
		h.Signing.Before = nil
		h.halt("")
		h.Resume()
		if stored := h.Stored(waiting); !stored.Status.Waits() || !strings.Contains(stored.Decision.Reason, "signing is halted") {
			t.Errorf("%s: it waits for %q", stored.Status, stored.Decision.Reason)
		}
		h.Clock.Advance(time.Second)
		_, err := h.Vote(h.Ann, activity.TypeApproveActivity, waiting)
		h.refused("a vote for", err)
		h.Clock.Advance(time.Second)
		_, err = h.Submit(t, enginetest.Request{})
		h.refused("a request that would wait", err)
		switch ends {
		case "resumed":
			h.resume("")
			h.Resume()
			h.Is(h.Stored(waiting), activity.StatusCompleted)
		case "rejected":
			record, err := h.Vote(h.Ben, activity.TypeRejectActivity, waiting)
			if err != nil || record.Status != activity.StatusRejected {
				t.Errorf("a vote against: %+v, %v", record, err)
			}
		case "expired":
			h.Clock.Advance(countersign.DefaultMaxWaiting)
			h.Resume()
			if stored := h.Stored(waiting); stored.Status != activity.StatusRejected {
				t.Errorf("it has waited too long and is %s", stored.Status)
			}
		}
	}
}

// TestResume: users who ask twice count once, a new halt starts again, and a reload changes how
// many are needed but ends no halt.
func TestResume(t *testing.T) {
	h := free(newHalted(t))
	h.halt("")
	stays := func(by *enginetest.APIKey) {
		t.Helper()
		h.resumes(by, "", 1)
		_, err := h.Submit(t, enginetest.Request{})
		h.refused("a request", err)
	}
	stays(h.Cid)
	stays(h.Cid)
	h.halt("")
	stays(h.Dan)
	h.register(1)
	h.Clock.Advance(time.Second)
	_, err := h.Submit(t, enginetest.Request{})
	h.refused("a request after a reload", err)
	_, err = h.asks(h.APIKey, activity.TypeResume, "")
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
	h.resumes(h.Dan, "", 0)
	if _, err := h.Submit(t, enginetest.Request{}); err != nil {
		t.Error(err)
	}
}

// TestHaltedUserCannotResume: an administrator whose credential was stolen ends no halt.
func TestHaltedUserCannotResume(t *testing.T) {
	h := newHalted(t)
	h.register(1)
	h.halt(`"userId":"dan"`)
	h.halt("")
	for _, parameters := range []string{"", `"userId":"dan"`} {
		_, err := h.asks(h.Dan, activity.TypeResume, parameters)
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "who is halted cannot resume")
		if _, err = h.asks(h.Cid, activity.TypeResume, parameters); err != nil {
			t.Error(err)
		}
		h.halt(`"userId":"dan"`)
	}
}

// lateReader is a store with a log whose head is old once what resumes has read it: the second
// reading of a request, which is the first that is refused if something stops it.
type lateReader struct {
	store.Full
	meanwhile func()
	readings  int
}

func (s *lateReader) LogHead(ctx context.Context, organizationID string) (translog.Head, error) {
	head, err := s.Full.LogHead(ctx, organizationID)
	if do := s.meanwhile; do != nil {
		if s.readings++; s.readings%2 == 0 {
			s.meanwhile = nil
			do()
		}
	}
	return head, err
}

// TestHaltedWhileResuming: who is halted between the reading of the head and the record of what
// resumes ends no halt either.
func TestHaltedWhileResuming(t *testing.T) {
	onEachStore(t, func(t *testing.T, open func() store.Full) {
		s := &lateReader{Full: open()}
		h := newHalted(t, func(c *countersign.Config) { c.Store = s })
		h.register(1)
		h.halt("")
		s.meanwhile = func() { h.halt(`"userId":"dan"`) }
		_, err := h.asks(h.Dan, activity.TypeResume, "")
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "who is halted cannot resume")
		_, err = h.Submit(t, enginetest.Request{})
		h.refused("a transaction", err)
	})
}

// TestResumeOfStolenCredential: what a user asked who is halted since, or is no user any more, does
// not count.
func TestResumeOfStolenCredential(t *testing.T) {
	h := newHalted(t)
	h.halt("")
	h.resumes(h.Dan, "", 1)
	h.halt(`"userId":"dan"`)
	h.resumes(h.Cid, "", 1)
	users := []access.UserConfig{administrator("eve", h.Ann), administrator("fay", h.Ben)}
	h.SetOrganization(access.OrganizationConfig{ID: enginetest.Organization, Users: users, Resume: access.ResumeConfig{Approvals: 2}})
	h.resumes(h.Ann, "", 1)
	h.resumes(h.Ben, "", 0)
}

// TestResumeOfRevokedCredential: what was asked with a credential that was revoked since, has expired,
// may not ask any more or is another user's does not count, though its user exists, as no vote does.
func TestResumeOfRevokedCredential(t *testing.T) {
	for name, change := range map[string]func(h *halted, dan *access.UserConfig) (others []access.UserConfig){
		"revoked": func(h *halted, dan *access.UserConfig) []access.UserConfig {
			*dan = administrator("dan", h.Ann)
			return nil
		},
		"expired": func(h *halted, dan *access.UserConfig) []access.UserConfig {
			dan.APIKeys[0].ExpiresAt = h.Clock.Now()
			return nil
		},
		"not named": func(_ *halted, dan *access.UserConfig) []access.UserConfig {
			dan.APIKeys[0].Activities = []activity.Type{activity.TypeHalt}
			return nil
		},
		"of another user": func(h *halted, dan *access.UserConfig) []access.UserConfig {
			*dan = administrator("dan", h.Ann)
			return []access.UserConfig{administrator("eve", h.Dan)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHalted(t)
			h.halt("")
			h.resumes(h.Dan, "", 1)
			dan := administrator("dan", h.Dan)
			users := append(change(h, &dan), dan, administrator("cid", h.Cid), administrator("ben", h.Ben))
			h.SetOrganization(access.OrganizationConfig{ID: enginetest.Organization, Users: users, Resume: access.ResumeConfig{Approvals: 2}})
			h.resumes(h.Cid, "", 1)
			h.resumes(h.Ben, "", 0)
		})
	}
}

// TestHaltOfOrganizationIsPossible: however many users are halted, the organization can be.
func TestHaltOfOrganizationIsPossible(t *testing.T) {
	s := memory.New(0)
	h := newHalted(t, func(c *countersign.Config) { c.Store = s })
	h.stops(s, func(i int) string { return translog.UserSubject(fmt.Sprint("user-", 1000+i)) })
	_, err := h.asks(h.Cid, activity.TypeHalt, `"userId":"ann"`)
	enginetest.Refusal(t, err, activity.ReasonRateLimitExceeded, "halt the organization")
	h.halt("")
	_, err = h.Submit(t, enginetest.Request{})
	h.refused("a transaction", err)
}

// stops gives the log as many stops as it may have, with subjects by their number.
func (h *halted) stops(s store.Full, subject func(i int) string) {
	until := h.Clock.Now().Add(time.Hour)
	begun, err := s.Begin(h.T.Context(), store.Claim{OrganizationID: enginetest.Organization, LeaseTTL: time.Minute,
		Now: h.Clock.Now(), LiveUntil: until}, nil)
	testenv.Must(h.T, err)
	many := func(stops []translog.Stop) ([]translog.Stop, error) {
		for i := range translog.MaxStops {
			stops = append(stops, translog.Stop{Subject: subject(i), Resume: []translog.Resumer{{User: "gone"}}})
		}
		return stops, nil
	}
	testenv.Must(h.T, s.Complete(h.T.Context(), *begun.Lease,
		store.Activity{ID: "many", Leaf: []byte("leaf"), KeepUntil: until, Stops: many}, nil))
}

// TestHaltsAreLimited: a credential halts so often in an hour; another one still can.
func TestHaltsAreLimited(t *testing.T) {
	h := newHalted(t)
	for range 10 {
		h.halt("")
	}
	_, err := h.asks(h.Cid, activity.TypeHalt, "")
	enginetest.Refusal(t, err, activity.ReasonLimitExceeded, "")
	if _, err := h.asks(h.Dan, activity.TypeHalt, ""); err != nil {
		t.Error(err)
	}
	h.Clock.Advance(time.Hour)
	h.halt("")
}

// TestHaltIsInTheLog: a halt is recorded, a leaf of the log, and an event.
func TestHaltIsInTheLog(t *testing.T) {
	s := memory.New(0)
	h := newHalted(t, func(c *countersign.Config) { c.Store, c.Events = s, activity.EventTypes() })
	record, err := h.asks(h.Cid, activity.TypeHalt, `"userId":"ann"`)
	testenv.Must(t, err)
	if err := h.Engine.Log().Prove(t.Context(), record); err != nil || record.Log == nil {
		t.Errorf("%+v, %v", record.Log, err)
	}
	h.resume(`"userId":"ann"`)
	pending, _, err := s.Events(t.Context(), 10, nil)
	if err != nil || len(pending) != 3 {
		t.Fatalf("%d events, %v", len(pending), err)
	}
	for i, want := range []string{"signing is halted for user ann", "signing stays halted for user ann until 1 more", "signing is resumed for user ann"} {
		if event := string(pending[i].Data); !strings.Contains(event, want) || !strings.Contains(event, `"activity.completed"`) {
			t.Errorf("%s: want %s", event, want)
		}
	}
}

// TestHaltNeedsLog: without a log no halt is served, so that none is only believed to be in force.
func TestHaltNeedsLog(t *testing.T) {
	f := enginetest.New(t)
	_, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(fmt.Sprintf(`{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{}}`,
		activity.TypeHalt, f.Clock.Now().UnixMilli(), enginetest.Organization)))
	enginetest.Refusal(t, err, activity.ReasonRequestInvalid, "no log for halts")
}

// TestHaltedInFlight halts while a key service has the transaction: whatever it answers
// afterwards, on whichever node, is not released, and is recorded nowhere.
func TestHaltedInFlight(t *testing.T) {
	onEachStore(t, func(t *testing.T, open func() store.Full) {
		opened := open()
		h := free(newHalted(t, func(c *countersign.Config) { c.Store = opened }))
		h.Signing.Before = func(context.Context) error {
			h.halt("")
			return nil
		}
		body := h.Body(enginetest.Request{})
		_, err := h.Engine.Submit(t.Context(), h.APIKey.Sign(body))
		h.Signing.Before = nil
		h.WantSignatures(t, 1)
		h.refused("a signature in flight", err)
		recorded, err := opened.List(t.Context(), enginetest.Organization, store.Filter{Limit: 10})
		if err != nil || len(recorded) != 1 {
			t.Errorf("%d records, %v: want that of the halt", len(recorded), err)
		}
		h.resume("")
		if record, err := h.Engine.Submit(t.Context(), h.APIKey.Sign(body)); err != nil || record.Status != activity.StatusCompleted {
			t.Errorf("after the end: %+v, %v", record, err)
		}
	})
}

// TestHaltAndLists: a halt of one key, or of the user, stops a list whose transactions it signs: one
// that waits, one of which the key service has signed a part, and the answer of one that is signed.
func TestHaltAndLists(t *testing.T) {
	for _, parameters := range []string{`"privateKeyId":"key-1","answers":true`, `"userId":"user-1","answers":true`} {
		h := newHalted(t)
		send := func(list activity.SignTransactionsIntent) (*activity.Record, error) {
			h.Clock.Advance(time.Second)
			return engines.SubmitIntent(t, h.Fixture, list)
		}
		waiting, err := send(payments(3))
		testenv.Must(t, err)
		h.Approve(h.Ann, waiting)
		free(h)
		signed, err := send(payments(4))
		testenv.Must(t, err)
		made := 0
		h.Signing.Before = func(context.Context) error {
			if made++; made == 3 {
				h.halt(parameters)
			}
			return nil
		}
		_, err = send(payments(5))
		h.refused("a list in flight", err)
		h.Signing.Before = nil
		h.WantSignatures(t, 9)
		_, err = h.Engine.Submit(t.Context(), h.APIKey.Sign(string(signed.Request.Body)))
		h.refused("a list that is signed", err)
		got, err := h.Engine.GetActivity(t.Context(), h.APIKey.Sign(fmt.Sprintf(
			`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, signed.ID)))
		if err != nil || got.Result != nil || strings.Contains(string(got.AppendAnswer(nil)), "signedTransactions") {
			t.Errorf("it is read: %+v, %v", got, err)
		}
		_, err = h.Vote(h.Ben, activity.TypeApproveActivity, waiting)
		h.refused("a vote on a list", err)
		h.Resume()
		h.WantSignatures(t, 9)
		h.resume(parameters[:strings.Index(parameters, ",")])
		if got := enginetest.MustSubmit(t, h.Engine, h.APIKey.Sign(string(signed.Request.Body))); got.Result == nil {
			t.Errorf("after the end: %+v", got)
		}
	}
}

// TestHaltedElsewhere: a node that has not read the log since another one halted sends no code.
func TestHaltedElsewhere(t *testing.T) {
	stores, outbox := twoStores(t), new(enginetest.Outbox)
	h := free(newHalted(t, enginetest.WithOTP(t, outbox), func(c *countersign.Config) { c.Store = stores[0] }))
	h.Config.Store = stores[1]
	other := h.Second(t)
	h.halt("")
	_, err := other.Submit(t.Context(), h.APIKey.Sign(engines.InitOTP(h.Fixture, engines.ToUser)))
	h.refused("a code", err)
	if outbox.Sent() != 0 {
		t.Error("a code was sent")
	}
}

// TestHaltUnderLoad halts while two nodes on one database sign: the log has no signature after the
// halt, and each request is either there before it or refused.
func TestHaltUnderLoad(t *testing.T) {
	testenv.Slow(t)
	stores := twoStores(t)
	h := free(newHalted(t, func(c *countersign.Config) { c.Store = stores[0] }))
	h.Config.Store = stores[1]
	nodes := [2]*countersign.Engine{h.Engine, h.Second(t)}
	const bodies = 80
	records, errs := make([]*activity.Record, bodies), make([]error, bodies)
	var group sync.WaitGroup
	var haltID string
	for i := range bodies {
		h.Clock.Advance(time.Millisecond)
		sent := h.APIKey.Sign(h.Body(enginetest.Request{}))
		group.Go(func() {
			if i == bodies/2 {
				record, err := h.asks(h.Cid, activity.TypeHalt, "")
				if err != nil {
					t.Error(err)
					return
				}
				haltID = record.ID
			}
			records[i], errs[i] = nodes[i%2].Submit(t.Context(), sent)
		})
	}
	group.Wait()
	halt, err := stores[0].LogIndex(t.Context(), enginetest.Organization, haltID)
	testenv.Must(t, err)
	released := 0
	for i := range bodies {
		if errs[i] != nil {
			h.refused(fmt.Sprint(i), errs[i])
			continue
		}
		released++
		if index, err := stores[0].LogIndex(t.Context(), enginetest.Organization, records[i].ID); err != nil || index > halt {
			t.Errorf("leaf %d, %v: the halt is leaf %d", index, err, halt)
		}
	}
	t.Logf("%d of %d were released before the halt", released, bodies)
}

// TestPolicyHeldBack: as many users have to ask for a policy as the configuration says, each for one at
// a time and with a credential that still may; then it is the only one that may take effect.
func TestPolicyHeldBack(t *testing.T) {
	onEachStore(t, func(t *testing.T, open func() store.Full) {
		opened := open()
		h := heldBack{newHalted(t, func(c *countersign.Config) { c.Store = opened }), opened}
		h.widens(0, "cid", "dan", "eve")
		_, err := h.asks(h.Cid, activity.TypeResume, policyOf("1"))
		enginetest.Refusal(t, err, activity.ReasonNotFound, "policies.widening.approvals is not configured")
		h.widens(2, "cid", "dan", "eve")
		h.halt("")
		h.asksFor(h.Cid, "1", 1, "held policy 1: 1")
		h.asksFor(h.Cid, "1", 1, "held policy 1: 1")
		h.asksFor(h.Dan, "2", 1, "held policy 1: 1", "held policy 2: 1")
		h.asksFor(h.Cid, "3", 1, "held policy 2: 1", "held policy 3: 1") // and no longer for 1
		h.asksFor(h.Ann, "1", 1, "held policy 2: 1", "held policy 3: 1", "held policy 1: 1")
		h.asksFor(h.Dan, "1", 0, "policy 1: 0")
		_, err = h.asks(h.Dan, activity.TypeResume, policyOf("1"))
		enginetest.Refusal(t, err, activity.ReasonNotFound, "may take effect already")

		// Who is halted asks for nothing, and has asked for nothing.
		h.asksFor(h.Dan, "2", 1, "policy 1: 0", "held policy 2: 1")
		h.halt(`"userId":"dan"`)
		h.hasPolicies("policy 1: 0")
		_, err = h.asks(h.Dan, activity.TypeResume, policyOf("2"))
		enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "who is halted cannot resume")
		h.asksFor(h.Cid, "2", 1, "policy 1: 0", "held policy 2: 1")
		h.widens(2, "dan", "eve") // cid is gone
		h.asksFor(h.Ann, "2", 1, "policy 1: 0", "held policy 2: 1")
		h.widens(2, "cid", "eve")
		h.asksFor(h.Cid, "2", 0, "policy 2: 0")
		if head, err := h.Log.LogHead(t.Context(), enginetest.Organization); err != nil || len(head.Stops) != 3 {
			t.Errorf("a policy ends no halt: %+v, %v", head.Stops, err)
		}
	})
}

// TestPolicyAskedForMeanwhile: what others ask between the reading of the head and its change is kept.
func TestPolicyAskedForMeanwhile(t *testing.T) {
	s := &lateReader{Full: memory.New(0)}
	h := heldBack{newHalted(t, func(c *countersign.Config) { c.Store = s }), s}
	h.widens(3, "cid", "dan", "eve")
	s.meanwhile = func() { h.asksFor(h.Dan, "1", 2, "held policy 1: 1") }
	_, err := h.asks(h.Cid, activity.TypeResume, policyOf("1"))
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "send the same body again")
	s.meanwhile = func() { h.asksFor(h.Ann, "2", 2, "held policy 1: 1", "held policy 2: 1") }
	h.asksFor(h.Cid, "1", 1, "held policy 1: 2", "held policy 2: 1")
	h.widens(2, "cid", "dan", "eve")
	s.meanwhile = func() { h.asksFor(h.Dan, "2", 0, "policy 2: 0") }
	_, err = h.asks(h.Ann, activity.TypeResume, policyOf("1"))
	enginetest.Refusal(t, err, activity.ReasonUnavailable, "send the same body again")
	h.hasPolicies("policy 2: 0")
}

// TestPoliciesLeaveRoomForHalts: however many policies are asked for, users and keys can be halted.
func TestPoliciesLeaveRoomForHalts(t *testing.T) {
	s := memory.New(0)
	h := heldBack{newHalted(t, func(c *countersign.Config) { c.Store = s }), s}
	h.widens(2, "cid", "dan", "eve")
	h.stops(s, func(i int) string { return translog.HeldSubject(fmt.Sprintf("%064x", 1000+i)) })
	_, err := h.asks(h.Cid, activity.TypeResume, policyOf("1"))
	enginetest.Refusal(t, err, activity.ReasonRateLimitExceeded, "or policies asked for, and no more can be")
	h.halt(`"userId":"eve"`)
	_, err = h.asks(h.Ann, activity.TypeResume, policyOf("1"))
	enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "who is halted cannot resume")
}

type heldBack struct {
	*halted
	Log store.Log
}

func policyOf(digit string) string { return `"policy":"` + strings.Repeat("0", 63) + digit + `"` }

// widens replaces the directory: so many of its users have to ask for a policy.
func (h *heldBack) widens(approvals int, ids ...string) {
	h.T.Helper()
	organization := access.OrganizationConfig{ID: enginetest.Organization, Policy: "policy.yaml", Resume: access.ResumeConfig{Approvals: 1}}
	organization.Policies.Widening.Approvals = approvals
	for _, id := range ids {
		key := map[string]*enginetest.APIKey{"cid": h.Cid, "dan": h.Dan, "eve": h.Ann}[id]
		organization.Users = append(organization.Users, administrator(id, key))
	}
	h.SetOrganization(organization)
}

// asksFor asks for a policy with a digest of zeros and a digit, and checks how many more have to, and the
// marks of policies in the log with how many asked for each.
func (h *heldBack) asksFor(by *enginetest.APIKey, digit string, missing int, marks ...string) {
	h.T.Helper()
	record, err := h.asks(by, activity.TypeResume, policyOf(digit))
	testenv.Must(h.T, err)
	want := activity.HaltResult{Of: "policy " + strings.Repeat("0", 63) + digit, Halted: missing > 0, Missing: missing}
	if record.Result != activity.Result(want) {
		h.T.Errorf("%+v, want %+v", record.Result, want)
	}
	h.hasPolicies(marks...)
}

func (h *heldBack) hasPolicies(want ...string) {
	h.T.Helper()
	head, err := h.Log.LogHead(h.T.Context(), enginetest.Organization)
	testenv.Must(h.T, err)
	var marks []string
	for _, stop := range head.Stops {
		if !stop.Halts() {
			marks = append(marks, fmt.Sprintf("%s: %d", strings.ReplaceAll(stop.Subject, strings.Repeat("0", 63), ""), len(stop.Resume)))
		}
	}
	if !slices.Equal(marks, want) {
		h.T.Errorf("the log has %q, want %q", marks, want)
	}
}
