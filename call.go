package countersign

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// A call is a submission without a stamp: the program that embeds the engine asks, for a
// user that it has authenticated. With a Store, it is a submitted request from step 5 on:
// the engine writes its body, it takes a lease with its charges, is carried out, and is
// recorded with the scheme of its Caller. The store remembers the latest body of each call,
// see request.Call, so that the same call again is the same request.

// maxCallTries bounds how often a call is tried again because others make the same call at
// the same time.
const maxCallTries = 100

// prepareCall performs steps 4 and 5 of a call. A call by a user is decided again and
// recorded when it is signed.
func (e *Engine) prepareCall(ctx context.Context, s *request.Submission, spent access.SpentReader) error {
	if err := s.CheckCaller(ctx, e.config.Directory); err != nil {
		return err
	}
	prepared, err := e.reader.Prepare(ctx, s.OrganizationID, s.Intent)
	if err != nil {
		return err
	}
	s.Task = prepared
	switch {
	case s.Caller == nil && e.config.Policy != nil:
		return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: this engine has a Policy, which judges users, and the call has none: use Engine.As")
	case s.Caller == nil && len(prepared.Hazards()) == 0:
		return nil
	}
	organization, err := request.OrganizationOf(ctx, e.config.Directory, s.OrganizationID)
	if err != nil {
		return err
	}
	if s.Caller == nil {
		return e.refuseHazards(s.Intent, organization, prepared.Hazards(), nil)
	}
	if organization != nil {
		s.Caller.Organization = organization
	}
	return e.decideCall(ctx, s, spent)
}

// decideCall asks the policy. Limits need a store to count in.
func (e *Engine) decideCall(ctx context.Context, s *request.Submission, spent access.SpentReader) error {
	if err := e.decide(ctx, s, spent); err != nil {
		return err
	}
	if charges := s.Decision.Charges; len(charges) > 0 && e.config.Store == nil {
		return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: limit %s is counted in a store, and this engine has none: set Config.Store", charges[0].Limit)
	}
	return nil
}

// signCall carries out a call that was prepared. One by a user is decided again, since
// the policy may have changed, recorded if there is a store, and has a log line.
func (e *Engine) signCall(ctx context.Context, s *request.Submission) (result activity.Result, err error) {
	if s.Caller == nil {
		return performUnrecorded(ctx, s)
	}
	s.Restart()
	err = s.CheckCaller(ctx, e.config.Directory)
	switch {
	case err != nil:
	case e.config.Store != nil:
		s.Record, err = e.once(ctx, s)
	default:
		if err = e.decideCall(ctx, s, nil); err == nil {
			result, err = performUnrecorded(ctx, s)
		}
	}
	e.observed(ctx, s, err)
	if err == nil && s.Record != nil {
		return resultOf(s.Record)
	}
	return result, err
}

// resultOf returns the result of an activity, or the error of one that waits.
func resultOf(record *activity.Record) (activity.Result, error) {
	if !record.Status.Waits() {
		return record.Result, nil
	}
	waiting := &activity.WaitingError{ID: record.ID, Fingerprint: record.Request.Fingerprint}
	return nil, activity.NewError(activity.ReasonConsensusNeeded, "", waiting,
		"%v: make the same call again when it has its votes", waiting)
}

// performUnrecorded carries out a call that is recorded nowhere.
func performUnrecorded(ctx context.Context, s *request.Submission) (activity.Result, error) {
	started := time.Now()
	done, err := s.Task.Perform(ctx)
	s.Performed = time.Since(started)
	return done.Result, err
}

// once carries out the call under the fingerprint of its latest body, or of a new one if
// that has ended without a signature. However often it is called, it signs once.
func (e *Engine) once(ctx context.Context, s *request.Submission) (*activity.Record, error) {
	e.sweep()
	if err := identifyCall(s); err != nil {
		return nil, err
	}
	own := s.Caller.Scheme
	defer func() { s.Caller.Scheme = own }() // that of the body may be another
	var passed int64                         // time of a body that has ended without a signature
	for range maxCallTries {
		at, scheme, err := s.Call.Latest(ctx, e.config.Store, s.OrganizationID)
		if err != nil {
			return nil, err
		}
		begins := at == 0 || at == passed
		if begins {
			at, scheme = e.calls.Next(s.Call.ID(), max(e.config.Now().UnixMilli(), passed+1)), own
		}
		if err := writeBody(s, at, scheme); err != nil {
			return nil, err
		}
		record, err := e.proceed(ctx, s)
		switch {
		case errors.Is(err, request.ErrMoved):
			continue // another call like it has a body by now
		case err != nil && (begins || !errors.Is(err, store.ErrStale)):
			return nil, err
		case err == nil && (record.Status.Waits() || record.Status == activity.StatusCompleted):
			return record, nil
		case begins:
			continue // the body of another call
		}
		passed = at
	}
	return nil, activity.NewError(activity.ReasonUnavailable, "", nil, "others keep making the same call at the same time: try again")
}

// identifyCall sets what a call asks for.
func identifyCall(s *request.Submission) error {
	asked, err := json.Marshal([]any{s.OrganizationID, s.Caller.Member.User.ID, s.Intent.ActivityType(), s.Intent})
	if err != nil {
		return activity.NewError(activity.ReasonRequestInvalid, "parameters", err, "parameters: %v", err)
	}
	s.Call = request.NewCall(asked)
	return nil
}

// writeBody writes the body of a call at a time, by a user who was authenticated in a way.
func writeBody(s *request.Submission, milliseconds int64, scheme string) (err error) {
	s.Call.Use(milliseconds, scheme)
	s.Caller.Scheme, s.Repeated = scheme, false
	s.Request, err = activity.NewRequest(activity.Envelope{
		OrganizationID: s.OrganizationID, Time: time.UnixMilli(milliseconds),
		Submitter: activity.Submitter{UserID: s.Caller.Member.User.ID, Scheme: scheme},
	}, s.Intent)
	return err
}

// answered returns nil if a call that was refused is recorded and did not end without a
// signature: it is answered whatever a Decider says now. Otherwise it returns the refusal, or
// the error of a store that cannot say.
func (e *Engine) answered(ctx context.Context, s *request.Submission, refusal error) error {
	if s == nil || s.Task == nil || s.Caller == nil || e.config.Store == nil {
		return refusal
	}
	if err := identifyCall(s); err != nil {
		return err
	}
	own := s.Caller.Scheme
	defer func() { s.Caller.Scheme = own }()
	at, scheme, err := s.Call.Latest(ctx, e.config.Store, s.OrganizationID)
	switch {
	case err != nil:
		return err
	case at == 0:
		return refusal
	}
	if err := writeBody(s, at, scheme); err != nil {
		return err
	}
	recorded, err := e.recorded(ctx, s, nil)
	switch {
	case err != nil:
		return err
	case recorded == nil && errors.Is(refusal, access.ErrDenied): // by a limit that this very call was charged to
		return e.decideCall(ctx, s, e.records.Spent(s.Request.Fingerprint))
	case recorded == nil || !recorded.Waiting && recorded.Status != string(activity.StatusCompleted):
		return refusal
	}
	return nil
}
