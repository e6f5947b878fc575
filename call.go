package countersign

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
)

// call is a request without a stamp by Config.Submitter: the process that embeds the
// engine asks. Sign decides it again. With a Store, Sign treats it as a submitted request
// from step 5 on: it takes a lease with its charges under a fingerprint of its own, signs,
// and is recorded with the scheme LOCAL.
type call struct {
	engine *Engine
	caller *caller

	// request is created by the first Sign and kept, so that calling Sign again after
	// an error of the store repeats the same request: it is charged once, and answered
	// from its record if it was recorded.
	request *activity.Request
}

// maxCallTries bounds how many fingerprints a call tries: another node may make the
// same call in the same millisecond.
const maxCallTries = 100

// signCall signs for a call without a stamp.
func (e *Engine) signCall(ctx context.Context, organizationID string, intent activity.Intent) (activity.Result, error) {
	started := time.Now()
	p, err := e.prepare(ctx, organizationID, intent)
	if err == nil {
		err = e.decideCall(ctx, p, nil)
	}
	if err != nil {
		e.logRefused(ctx, organizationID, intent, p, started, err)
		return nil, err
	}
	return p.signCall(ctx)
}

// decideCall is step 5 of a call without a stamp. A call by a submitter is decided
// again and recorded when it is signed.
func (e *Engine) decideCall(ctx context.Context, p *prepared, spent access.SpentReader) error {
	submitter := e.config.Submitter
	switch {
	case submitter == nil && e.config.Policy != nil:
		return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: this engine has a Policy, which judges users, and the call has none: set Config.Submitter")
	case submitter == nil && len(p.hazards) == 0:
		return nil
	}
	organizationID := p.owners.organizationID
	organization, err := e.organizationOf(ctx, organizationID)
	if err != nil {
		return err
	}
	if submitter == nil {
		return e.refuseHazards(p.intent, organization, p.hazards, nil)
	}
	c := &call{engine: e, caller: e.localCaller(organization, organizationID)}
	if err := c.decide(ctx, c.submission(p), spent); err != nil {
		return err
	}
	p.call = c
	return nil
}

// decide asks the policy. Limits need a store to count in.
func (c *call) decide(ctx context.Context, s *submission, spent access.SpentReader) error {
	if err := c.engine.decide(ctx, s, spent); err != nil {
		return err
	}
	if charges := s.decision.Charges; len(charges) > 0 && c.engine.config.Store == nil {
		return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: limit %s is counted in a store, and this engine has none: set Config.Store", charges[0].Limit)
	}
	return nil
}

// logRefused writes the log line of a call that was refused before anything could be
// signed. prepared is nil if the call was not read. Without a Policy and a Submitter,
// calls have no log lines.
func (e *Engine) logRefused(ctx context.Context, organizationID string, intent activity.Intent, p *prepared, started time.Time, err error) {
	if e.config.Policy == nil && e.config.Submitter == nil {
		return
	}
	s := newSubmission(operationPath(intent.ActivityType()))
	s.started, s.organizationID, s.intent = started, organizationID, intent
	if e.config.Submitter != nil {
		s.caller = e.localCaller(nil, organizationID)
	}
	if p != nil {
		s.task = p
	}
	e.observed(ctx, s, err)
}

// localCaller returns Config.Submitter as a caller in an organization, which need not
// be in the directory.
func (e *Engine) localCaller(organization *access.Organization, organizationID string) *caller {
	if organization == nil {
		organization = &access.Organization{ID: organizationID}
	}
	return &caller{organization: organization, member: &access.Member{User: *e.config.Submitter}}
}

// submission returns the call as a submission that is ready to be decided.
func (c *call) submission(p *prepared) *submission {
	s := newSubmission(operationPath(p.intent.ActivityType()))
	s.organizationID, s.intent, s.caller, s.task = c.caller.organization.ID, p.intent, c.caller, p
	return s
}

// sign carries out the call and writes its log line.
func (c *call) sign(ctx context.Context, p *prepared) (result activity.Result, err error) {
	s := c.submission(p)
	if c.engine.config.Store == nil {
		if err = c.decide(ctx, s, nil); err == nil { // the policy may have changed since it was prepared
			result, err = performUnrecorded(ctx, s)
		}
	} else if s.record, err = c.once(ctx, s); err == nil {
		result = s.record.Result
	}
	c.engine.observed(ctx, s, err)
	return result, err
}

// performUnrecorded carries out a call that is recorded nowhere.
func performUnrecorded(ctx context.Context, s *submission) (activity.Result, error) {
	started := time.Now()
	done, err := s.task.Perform(ctx)
	s.Performed = time.Since(started)
	return done.Result, err
}

// once carries out the call under its fingerprint. However often it is called, it
// signs once.
func (c *call) once(ctx context.Context, s *submission) (*activity.Record, error) {
	e := c.engine
	e.sweep()
	first := c.request == nil
	for range maxCallTries {
		if first {
			if err := c.newRequest(s.intent); err != nil {
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

// newRequest writes the request that the record has as its body. Calls for the same have
// a millisecond each, and with it a fingerprint.
func (c *call) newRequest(intent activity.Intent) error {
	organizationID := c.caller.organization.ID
	asked, err := json.Marshal([]any{organizationID, intent})
	if err != nil {
		return activity.NewError(activity.ReasonRequestInvalid, "parameters", err, "parameters: %v", err)
	}
	at := c.engine.calls.next(sha256.Sum256(asked), c.engine.config.Now().UnixMilli())
	c.request, err = activity.NewRequest(activity.Envelope{OrganizationID: organizationID, Time: time.UnixMilli(at)}, intent)
	return err
}

// callTimes has the time of the latest call for each thing that was asked for.
type callTimes struct {
	mu     sync.Mutex
	latest map[[sha256.Size]byte]int64 // UnixMilli
}

// maxCallTimes is how many times are kept before those that have passed are dropped.
const maxCallTimes = 1024

// next returns the time of a call in milliseconds: now, or the next one that no other call
// for the same has.
func (c *callTimes) next(asked [sha256.Size]byte, now int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.latest == nil {
		c.latest = map[[sha256.Size]byte]int64{}
	}
	if len(c.latest) >= maxCallTimes {
		maps.DeleteFunc(c.latest, func(_ [sha256.Size]byte, at int64) bool { return at < now })
	}
	at := max(now, c.latest[asked]+1)
	c.latest[asked] = at
	return at
}
