package countersign

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/activity"
)

// call is a request without a stamp by Config.Submitter: the process that embeds the
// engine asks. With a Store, Sign treats it as a submitted request from step 5 on: it
// is decided again, takes a lease with its charges under a fingerprint of its own,
// signs, and is recorded with the scheme LOCAL.
type call struct {
	engine *Engine
	caller *caller
	intent activity.Intent

	// request is created by the first Sign and kept, so that calling Sign again after
	// an error of the store repeats the same request: it is charged once, and answered
	// from its record if it was recorded.
	request *activity.Request
}

// maxCallTries bounds how many fingerprints a call tries: another node may make the
// same call in the same millisecond.
const maxCallTries = 100

// decideCall is step 5 of a call without a stamp. A call by a submitter is decided
// again and recorded when it is signed.
func (e *Engine) decideCall(ctx context.Context, organizationID string, intent activity.Intent, prepared *PreparedTransaction, spent SpentReader) error {
	submitter := e.config.Submitter
	switch {
	case submitter == nil && e.config.Policy != nil:
		return activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
			"not authorized: this engine has a Policy, which judges users, and the call has none: set Config.Submitter")
	case submitter == nil && len(prepared.hazards) == 0:
		return nil
	}
	organization, err := e.organizationOf(ctx, organizationID)
	if err != nil {
		return err
	}
	if submitter == nil {
		return e.refuseHazards(intent, organization, prepared.hazards, nil)
	}
	c := &call{engine: e, caller: e.localCaller(organization, organizationID), intent: intent}
	s := c.submission(&signing{prepared: prepared})
	if err := e.decide(ctx, s, spent); err != nil {
		return err
	}
	if charges := s.decision.Charges; len(charges) > 0 && e.config.Store == nil {
		return activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
			"not authorized: limit %s is counted in a store, and this engine has none: set Config.Store", charges[0].Limit)
	}
	prepared.call = c
	return nil
}

// logRefused writes the log line of a call that was refused before anything could be
// signed. prepared is nil if the call was not read. Without a Policy and a Submitter,
// calls have no log lines.
func (e *Engine) logRefused(ctx context.Context, organizationID string, intent activity.Intent, prepared *PreparedTransaction, started time.Time, err error) {
	if e.config.Policy == nil && e.config.Submitter == nil {
		return
	}
	s := newSubmission(operationPath(intent.ActivityType()))
	s.started, s.organizationID, s.intent = started, organizationID, intent
	if e.config.Submitter != nil {
		s.caller = e.localCaller(nil, organizationID)
	}
	if prepared != nil {
		s.task = &signing{prepared: prepared}
	}
	e.observed(ctx, s, err)
}

// localCaller returns Config.Submitter as a caller in an organization, which need not
// be in the directory.
func (e *Engine) localCaller(organization *Organization, organizationID string) *caller {
	if organization == nil {
		organization = &Organization{ID: organizationID}
	}
	return &caller{organization: organization, member: &Member{User: *e.config.Submitter}}
}

// submission returns the call as a submission that is ready to be decided.
func (c *call) submission(task *signing) *submission {
	s := newSubmission(operationPath(c.intent.ActivityType()))
	s.organizationID, s.intent, s.caller, s.task = c.caller.organization.ID, c.intent, c.caller, task
	return s
}

// sign carries out the call and writes its log line.
func (c *call) sign(ctx context.Context, task *signing) (result activity.Result, err error) {
	s := c.submission(task)
	if c.engine.config.Store == nil {
		result, err = performUnrecorded(ctx, s)
	} else if s.record, err = c.once(ctx, s); err == nil {
		result = s.record.Result
	}
	c.engine.observed(ctx, s, err)
	return result, err
}

// performUnrecorded carries out a call that is recorded nowhere.
func performUnrecorded(ctx context.Context, s *submission) (activity.Result, error) {
	started := time.Now()
	done, err := s.task.perform(ctx)
	s.Performed = time.Since(started)
	return done.result, err
}

// once carries out the call under its fingerprint. However often it is called, it
// signs once.
func (c *call) once(ctx context.Context, s *submission) (*activity.Record, error) {
	e := c.engine
	e.sweep()
	first := c.request == nil
	for range maxCallTries {
		if first {
			if err := c.newRequest(); err != nil {
				return nil, err
			}
		}
		s.request = c.request
		recorded, err := e.begin(ctx, s)
		switch {
		case err != nil:
			return nil, err
		case recorded == nil:
			return e.perform(ctx, s)
		case !first:
			s.Repeated = true
			return decodeRecorded(ctx, recorded)
		}
	}
	return nil, activity.NewError(activity.ReasonUnavailable, "", nil, "other nodes make the same call at the same time: try again")
}

// newRequest writes the request that the record has as its body. Each call of an
// engine has a millisecond of its own, and with it a fingerprint.
func (c *call) newRequest() (err error) {
	now := time.UnixMilli(c.engine.nextCall())
	c.request, err = activity.NewRequest(activity.Envelope{OrganizationID: c.caller.organization.ID, Time: now}, c.intent)
	return err
}

// nextCall returns the current time in milliseconds, or the next one that no other
// call has.
func (e *Engine) nextCall() int64 {
	for {
		last := e.lastCall.Load()
		next := max(e.config.Now().UnixMilli(), last+1)
		if e.lastCall.CompareAndSwap(last, next) {
			return next
		}
	}
}
