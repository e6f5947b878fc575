package countersign

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/internal/signing"
	"github.com/countersign-dev/countersign/store"
)

// call is a submission without a stamp: the program that embeds the engine asks, for a
// user that it has authenticated. With a Store, it is a submitted request from step 5 on:
// the engine writes its body, it takes a lease with its charges, is carried out, and is
// recorded with the scheme of its Caller. The store remembers the latest body of each call,
// see request.Call, so that the same call again is the same request.
type call struct {
	engine *Engine
	*request.Submission
}

// maxCallTries bounds how often a call is tried again because others make the same call at
// the same time.
const maxCallTries = 100

// prepare performs steps 4 and 5. A call by a user is decided again and recorded when it is
// signed. One that was refused and is recorded, and has not ended without a signature, is answered
// from its record then, whatever a Decider says now.
func (c call) prepare(ctx context.Context, spent access.SpentReader) (signing.Task, error) {
	prepared, err := c.judged(ctx, spent)
	if err != nil && prepared != nil && c.Caller != nil && c.engine.config.Store != nil {
		err = c.answered(ctx, err)
	}
	return prepared, err
}

// judged reads what is to be signed and has it judged. What was read is returned with a refusal.
func (c call) judged(ctx context.Context, spent access.SpentReader) (signing.Task, error) {
	if err := c.CheckCaller(ctx, c.engine.config.Directory); err != nil {
		return nil, err
	}
	prepared, err := c.read(ctx)
	switch {
	case err != nil:
		return nil, err
	case c.Caller == nil:
		return prepared, c.judgeUnattributed(ctx)
	}
	if err := c.findOrganization(ctx); err != nil {
		return prepared, err
	}
	return prepared, c.decide(ctx, spent)
}

func (c call) read(ctx context.Context) (signing.Task, error) {
	prepared, err := c.engine.preparer.Prepare(ctx, c.OrganizationID, c.Intent)
	if err == nil {
		c.Task = prepared
	}
	return prepared, err
}

// findOrganization sets the caller's organization, which need not be in the directory.
func (c call) findOrganization(ctx context.Context) error {
	organization, err := request.OrganizationOf(ctx, c.engine.config.Directory, c.OrganizationID)
	if organization != nil {
		c.Caller.Organization = organization
	}
	return err
}

// judgeUnattributed judges a call by no user: its hazards alone.
func (c call) judgeUnattributed(ctx context.Context) error {
	if c.engine.config.Policy != nil {
		return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: this engine has a Policy, which judges users, and the call has none: use Engine.As")
	}
	if len(c.Task.Hazards()) == 0 {
		return nil
	}
	organization, err := request.OrganizationOf(ctx, c.engine.config.Directory, c.OrganizationID)
	if err != nil {
		return err
	}
	return eachAlone(c.Submission, func(_ int, part *request.Submission) error {
		return c.engine.judge.refuseHazards(part.Intent, organization, part.Task.Hazards(), nil)
	})
}

// decide asks the policy. Limits need a store to count in.
func (c call) decide(ctx context.Context, spent access.SpentReader) error {
	if err := c.engine.decide(ctx, c.Submission, spent); err != nil {
		return err
	}
	if charges := c.Decision.Charges; len(charges) > 0 && c.engine.config.Store == nil {
		return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: limit %s is counted in a store, and this engine has none: set Config.Store", charges[0].Limit)
	}
	return nil
}

// sign carries out a call that was prepared. One by a user is decided again, since
// the policy may have changed, recorded if there is a store, and has a log line.
func (c call) sign(ctx context.Context) (result activity.Result, err error) {
	if c.Caller == nil {
		return c.performUnrecorded(ctx)
	}
	c.Restart()
	err = c.CheckCaller(ctx, c.engine.config.Directory)
	switch {
	case err != nil:
	case c.engine.config.Store != nil:
		c.Record, err = c.once(ctx)
	default:
		if err = c.decide(ctx, nil); err == nil {
			result, err = c.performUnrecorded(ctx)
		}
	}
	c.engine.observed(ctx, c.Submission, err)
	switch {
	case err != nil || c.Record == nil:
		return result, err
	case !c.Record.Status.Waits():
		return c.Record.Result, nil
	}
	waiting := &activity.WaitingError{ID: c.Record.ID, Fingerprint: c.Record.Request.Fingerprint}
	return nil, activity.NewError(activity.ReasonConsensusNeeded, "", waiting,
		"%v: make the same call again when it has its votes", waiting)
}

// performUnrecorded carries out a call that is recorded nowhere.
func (c call) performUnrecorded(ctx context.Context) (activity.Result, error) {
	started := time.Now()
	done, err := c.Task.Perform(ctx)
	c.Performed = time.Since(started)
	if err == nil {
		err = c.engine.records.RefuseStopped(ctx, c.OrganizationID, c.Submission)
	}
	if err != nil {
		return nil, err
	}
	return done.Result, nil
}

// once carries out the call under the fingerprint of its latest body, or of a new one if
// that has ended without a signature. However often it is called, it signs once.
func (c call) once(ctx context.Context) (*activity.Record, error) {
	e := c.engine
	e.sweep()
	if err := c.identify(); err != nil {
		return nil, err
	}
	own := c.Caller.Scheme
	defer func() { c.Caller.Scheme = own }() // that of the body may be another
	var passed int64                         // time of a body that has ended without a signature
	for range maxCallTries {
		at, scheme, err := c.Call.Latest(ctx, e.config.Store, c.OrganizationID)
		if err != nil {
			return nil, err
		}
		begins := at == 0 || at == passed
		if begins {
			at, scheme = e.calls.Next(c.Call.ID(), max(e.config.Now().UnixMilli(), passed+1)), own
		}
		if err := c.writeBody(at, scheme); err != nil {
			return nil, err
		}
		record, err := e.proceed(ctx, c.Submission)
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
	return nil, activity.NewError(activity.ReasonUnavailable, "", nil,
		"others keep making the same call at the same time: try again")
}

// identify sets what the call asks for.
func (c call) identify() error {
	asked, err := json.Marshal([]any{c.OrganizationID, c.Caller.Member.User.ID, c.Intent.ActivityType(), c.Intent})
	if err != nil {
		return activity.NewError(activity.ReasonRequestInvalid, "parameters", err, "parameters: %v", err)
	}
	c.Call = request.NewCall(asked)
	return nil
}

// writeBody writes the body of the call at a time, by a user who was authenticated in a way.
func (c call) writeBody(milliseconds int64, scheme string) (err error) {
	c.Call.Use(milliseconds, scheme)
	c.Caller.Scheme, c.Repeated = scheme, false
	c.Request, err = activity.NewRequest(activity.Envelope{
		OrganizationID: c.OrganizationID, Time: time.UnixMilli(milliseconds),
		Submitter: activity.Submitter{UserID: c.Caller.Member.User.ID, Scheme: scheme},
	}, c.Intent)
	return err
}

// answered returns nil if a call that was refused is recorded and did not end without a
// signature. Otherwise it returns the refusal, or the error of a store that cannot say.
func (c call) answered(ctx context.Context, refusal error) error {
	if err := c.identify(); err != nil {
		return err
	}
	own := c.Caller.Scheme
	defer func() { c.Caller.Scheme = own }()
	at, scheme, err := c.Call.Latest(ctx, c.engine.config.Store, c.OrganizationID)
	switch {
	case err != nil:
		return err
	case at == 0:
		return refusal
	}
	if err := c.writeBody(at, scheme); err != nil {
		return err
	}
	recorded, err := c.engine.recorded(ctx, c.Submission, nil)
	switch {
	case err != nil:
		return err
	case recorded == nil && errors.Is(refusal, access.ErrDenied): // by a limit that this very call was charged to
		return c.decide(ctx, c.engine.records.Spent(c.Request.Fingerprint))
	case recorded == nil || !recorded.Waiting && recorded.Status != string(activity.StatusCompleted):
		return refusal
	}
	return nil
}
