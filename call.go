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
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/request"
)

// maxCallTries bounds how many fingerprints a call tries: another node may make the
// same call in the same millisecond.
const maxCallTries = 100

// A call is a submission without a stamp by Config.Submitter: the process that embeds the
// engine asks. With a Store, it is a submitted request from step 5 on: it takes a lease with
// its charges under a fingerprint of its own, is carried out, and is recorded with the scheme
// LOCAL. Its submission is kept, so that signing again after an error of the store repeats
// the same request: it is charged once, and answered from its record if it was recorded.

// newCall returns the submission of a call.
func (e *Engine) newCall(organizationID string, intent activity.Intent) *request.Submission {
	s := request.New("")
	s.OrganizationID, s.Intent = organizationID, intent
	if intent != nil {
		s.Operation = request.Path(intent.ActivityType())
	}
	if e.config.Submitter != nil {
		s.Caller = &request.Caller{
			Organization: &access.Organization{ID: organizationID}, // it need not be in the directory
			Member:       &access.Member{User: *e.config.Submitter},
		}
	}
	return s
}

// prepareCall performs steps 4 and 5 of a call. A call by a submitter is decided again and
// recorded when it is signed.
func (e *Engine) prepareCall(ctx context.Context, s *request.Submission, spent access.SpentReader) error {
	prepared, err := e.reader.Prepare(ctx, s.OrganizationID, s.Intent)
	if err != nil {
		return err
	}
	s.Task = prepared
	switch {
	case s.Caller == nil && e.config.Policy != nil:
		return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
			"not authorized: this engine has a Policy, which judges users, and the call has none: set Config.Submitter")
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

// signCall carries out a call that was prepared. One by a submitter is decided again, since
// the policy may have changed, recorded if there is a store, and has a log line.
func (e *Engine) signCall(ctx context.Context, s *request.Submission) (result activity.Result, err error) {
	if s.Caller == nil {
		return performUnrecorded(ctx, s)
	}
	s.Restart()
	if e.config.Store == nil {
		if err = e.decideCall(ctx, s, nil); err == nil {
			result, err = performUnrecorded(ctx, s)
		}
	} else if s.Record, err = e.once(ctx, s); err == nil {
		result = s.Record.Result
	}
	e.observed(ctx, s, err)
	return result, err
}

// performUnrecorded carries out a call that is recorded nowhere.
func performUnrecorded(ctx context.Context, s *request.Submission) (activity.Result, error) {
	started := time.Now()
	done, err := s.Task.Perform(ctx)
	s.Performed = time.Since(started)
	return done.Result, err
}

// once carries out the call under its fingerprint. However often it is called, it
// signs once.
func (e *Engine) once(ctx context.Context, s *request.Submission) (*activity.Record, error) {
	e.sweep()
	first := s.Request == nil
	for range maxCallTries {
		if first {
			if err := e.newRequest(s); err != nil {
				return nil, err
			}
		}
		recorded, err := e.begin(ctx, s)
		switch {
		case err != nil:
			return nil, err
		case recorded == nil:
			return e.records.Perform(ctx, s)
		case !first:
			s.Repeated = true
			return records.Decode(ctx, recorded)
		}
	}
	return nil, activity.NewError(activity.ReasonUnavailable, "", nil, "other nodes make the same call at the same time: try again")
}

// newRequest writes the request that the record has as its body. Calls for the same have
// a millisecond each, and with it a fingerprint.
func (e *Engine) newRequest(s *request.Submission) error {
	asked, err := json.Marshal([]any{s.OrganizationID, s.Intent})
	if err != nil {
		return activity.NewError(activity.ReasonRequestInvalid, "parameters", err, "parameters: %v", err)
	}
	at := e.calls.next(sha256.Sum256(asked), e.config.Now().UnixMilli())
	s.Request, err = activity.NewRequest(activity.Envelope{OrganizationID: s.OrganizationID, Time: time.UnixMilli(at)}, s.Intent)
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
