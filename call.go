package countersign

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// call is a request without a stamp by Config.Submitter: the process that embeds the
// engine asks. With a Store, Sign takes it down the road of a submitted request, from
// step 5 on: it is decided anew, takes a lease with its charges under a fingerprint of
// its own, signs, and is recorded with the scheme LOCAL.
type call struct {
	engine   *Engine
	by       *caller
	intent   activity.Intent
	recorded bool // in a store

	// request is made by the first Sign, and kept, so that Sign after an error
	// of the store is the same request: charged once, and answered again if it was
	// recorded.
	request *activity.Request
}

// maxCallTries bounds how many fingerprints a call tries: another node may make the
// same call in the same millisecond.
const maxCallTries = 100

// callOf returns the call that Sign carries out.
func (e *Engine) callOf(by *caller, intent activity.Intent) *call {
	return &call{engine: e, by: by, intent: intent, recorded: e.config.Store != nil}
}

// logRefused writes the line of a call that was refused before anything could be
// signed. prepared is nil if the call was not read. Without a Policy and a Submitter,
// calls have no lines.
func (e *Engine) logRefused(ctx context.Context, organizationID string, intent activity.Intent, prepared *PreparedTransaction, started time.Time, err error) {
	if e.config.Policy == nil && e.config.Submitter == nil {
		return
	}
	seen := Observation{Operation: operationPath(intent.ActivityType()), trail: &trail{intent: intent}}
	if e.config.Submitter != nil {
		seen.trail.by = e.localCaller(nil, organizationID)
	}
	if prepared != nil {
		seen.trail.task = &signing{prepared: prepared}
	}
	e.observed(ctx, &seen, organizationID, started, err)
}

// localCaller is Config.Submitter as a caller in an organization, which the
// directory need not know.
func (e *Engine) localCaller(organization *Organization, organizationID string) *caller {
	if organization == nil {
		organization = &Organization{ID: organizationID}
	}
	return &caller{organization: organization, member: &Member{User: *e.config.Submitter}}
}

// sign carries the call out, and writes its line in the log.
func (c *call) sign(ctx context.Context, task *signing) (activity.Result, error) {
	started := time.Now()
	seen := Observation{Operation: operationPath(c.intent.ActivityType()), trail: &trail{intent: c.intent, by: c.by, task: task}}
	result, err := c.carryOut(ctx, task, &seen)
	c.engine.observed(ctx, &seen, c.by.organization.ID, started, err)
	return result, err
}

func (c *call) carryOut(ctx context.Context, task *signing, seen *Observation) (activity.Result, error) {
	if !c.recorded {
		started := time.Now()
		done, err := task.perform(ctx)
		seen.Performed = time.Since(started)
		return done.result, err
	}
	record, err := c.once(ctx, task, seen)
	if err != nil {
		return nil, err
	}
	seen.trail.record = record
	return record.Result, nil
}

// once carries the call out under its fingerprint, once however often it is called.
func (c *call) once(ctx context.Context, task *signing, seen *Observation) (*activity.Record, error) {
	e := c.engine
	e.sweep()
	first := c.request == nil
	for range maxCallTries {
		if first {
			if err := c.newRequest(); err != nil {
				return nil, err
			}
		}
		begun, charges, err := e.begin(ctx, c.by, c.request, task)
		switch {
		case err != nil:
			return nil, err
		case begun.Recorded == nil:
			return e.perform(ctx, c.by, c.request, task, &charges, *begun.Lease, seen)
		case !first:
			seen.Repeated = true
			return decodeRecorded(ctx, begun.Recorded)
		}
	}
	return nil, activity.NewError(activity.ReasonUnavailable, "", nil, "other nodes make the same call at the same time: try again")
}

// newRequest writes the request that the record has as its body. Each call of an
// engine has a millisecond of its own, and with it a fingerprint.
func (c *call) newRequest() (err error) {
	at := time.UnixMilli(c.engine.nextCall())
	c.request, err = activity.NewRequest(activity.Envelope{OrganizationID: c.by.organization.ID, Time: at}, c.intent)
	return err
}

// nextCall returns the time now in milliseconds, later than any before.
func (e *Engine) nextCall() int64 {
	for {
		last := e.lastCall.Load()
		next := max(e.config.Now().UnixMilli(), last+1)
		if e.lastCall.CompareAndSwap(last, next) {
			return next
		}
	}
}

// localVote is the vote of a call without a stamp.
func (c *caller) localVote(id uuid.UUID, stampedAt, now time.Time) activity.Vote {
	user := c.member.User
	return activity.Vote{
		ID: id.String(), UserID: user.ID, UserName: user.Name, UserSince: user.CreatedAt,
		Scheme: activity.SchemeLocal, Selection: activity.SelectionApproved, StampedAt: stampedAt, CreatedAt: now,
	}
}

// refuseUncharged refuses what cannot be charged: no limit is ever left out.
func (e *Engine) refuseUncharged(charges []store.Charge) error {
	if len(charges) == 0 || e.config.Store != nil {
		return nil
	}
	return activity.NewError(activity.ReasonNotAuthorized, "", ErrDenied,
		"not authorized: limit %s is counted in a store, and this engine has none: set Config.Store", charges[0].Limit)
}
