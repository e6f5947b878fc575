package countersign

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/request"
)

// Caller calls an engine as a user, without a stamp: the program has authenticated the user
// in its own way. What it signs is judged, charged to the limits of the policy, logged and
// recorded as that user's, if the engine has a policy and a store. See [Engine.As].
type Caller struct {
	engine *Engine
	user   *access.User // nil: the call has no user
	scheme string
}

// As returns the engine as a user calls it. The user needs an ID: policies, limits and
// records name the user by it. authentication says how the program knows that it is this
// user, such as "CERTIFICATE dns:batcher.example", and is recorded; if it is empty, the
// record says [activity.SchemeLocal].
//
// A call for the same organization, user and intent as a recorded one is the same call,
// however the user was authenticated: it is answered from the record, and charged once. After an activity that was rejected, has
// failed or was forgotten, it is a new one.
//
// A call that needs approvals is recorded and waits for them if the directory finds users
// by their ids, which those of package access do (see [access.Users]). The error then has
// the reason CONSENSUS_NEEDED and is an [*activity.WaitingError]: when it has its votes, the
// same call finds the result.
func (e *Engine) As(user access.User, authentication string) *Caller {
	if authentication == "" {
		authentication = activity.SchemeLocal
	}
	return &Caller{e, &user, authentication}
}

// unattributed returns the engine as it is called by no user.
func (e *Engine) unattributed() *Caller { return &Caller{engine: e} }

// Prepare does everything that Sign does except sign.
func (c *Caller) Prepare(ctx context.Context, organizationID string, intent activity.Intent) (*Prepared, error) {
	s, err := c.submission(organizationID, intent)
	if err == nil {
		err = c.engine.prepareCall(ctx, s, c.engine.spentSoFar())
	}
	if err != nil && !c.engine.answered(ctx, s) {
		return nil, err
	}
	return &Prepared{c.engine, s}, nil
}

// Sign signs what an intent asks for: see [Engine.Sign].
func (c *Caller) Sign(ctx context.Context, organizationID string, intent activity.Intent) (activity.Result, error) {
	s, err := c.submission(organizationID, intent)
	if err != nil {
		return nil, err
	}
	if err := c.engine.prepareCall(ctx, s, nil); err != nil && !c.engine.answered(ctx, s) {
		if c.user != nil || c.engine.config.Policy != nil {
			c.engine.observed(ctx, s, err)
		}
		return nil, err
	}
	return c.engine.signCall(ctx, s)
}

// SignTransaction signs a transaction: see [Engine.SignTransaction].
func (c *Caller) SignTransaction(ctx context.Context, organizationID string, intent activity.SignTransactionIntent) (activity.SignTransactionResult, error) {
	result, err := c.Sign(ctx, organizationID, intent)
	if err != nil {
		return activity.SignTransactionResult{}, err
	}
	return result.(activity.SignTransactionResult), nil
}

// SignMessage signs a message: see [Engine.SignMessage].
func (c *Caller) SignMessage(ctx context.Context, organizationID string, intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error) {
	result, err := c.Sign(ctx, organizationID, intent)
	if err != nil {
		return activity.SignRawPayloadResult{}, err
	}
	return result.(activity.SignRawPayloadResult), nil
}

// submission returns the submission of a call.
func (c *Caller) submission(organizationID string, intent activity.Intent) (*request.Submission, error) {
	if err := c.check(); err != nil {
		return nil, activity.NewError(activity.ReasonInternal, "", err, "%v", err)
	}
	s := request.New("")
	s.OrganizationID, s.Intent = organizationID, intent
	if intent != nil {
		s.Operation = request.Path(intent.ActivityType())
	}
	if c.user != nil {
		s.Caller = &request.Caller{
			Organization: &access.Organization{ID: organizationID}, // it need not be in the directory
			Member:       &access.Member{User: *c.user},
			Scheme:       c.scheme,
		}
	}
	return s, nil
}

// check refuses a user that a record cannot name.
func (c *Caller) check() error {
	switch {
	case c.user == nil:
		return nil
	case c.user.ID == "":
		return errors.New("the user of a call has no ID: policies, limits and records name the user by it")
	}
	return activity.CheckScheme(c.scheme)
}
