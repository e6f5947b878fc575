package countersign

import (
	"cmp"
	"context"
	"errors"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/internal/signing"
	"github.com/countersign-dev/countersign/store"
)

// Prepared is a transaction, a list of them, or messages for one key, that was read, whose keys
// were found, and that the engine is ready to sign: everything that can be refused without signing has
// been. Use it to show what is signed before signing it: the bytes that are signed are the
// bytes that were shown. It must be used by one goroutine at a time.
type Prepared struct {
	call call
	task signing.Task
}

// Prepare does everything that Sign does except sign.
func (e *Engine) Prepare(ctx context.Context, organizationID string, intent activity.Intent) (*Prepared, error) {
	return e.unattributed().Prepare(ctx, organizationID, intent)
}

// Sign signs what an intent asks for: a transaction, a list of them, or messages with one key,
// all or none. The result is that of the intent, such as an activity.SignTransactionResult. The
// call has no user: it is recorded nowhere, and an engine with a policy refuses it. Use
// [Engine.As] for one that has.
func (e *Engine) Sign(ctx context.Context, organizationID string, intent activity.Intent) (activity.Result, error) {
	return e.unattributed().Sign(ctx, organizationID, intent)
}

// SignTransaction signs a transaction with a key of the organization, if it is
// well-formed and all its hazards are allowed.
func (e *Engine) SignTransaction(ctx context.Context, organizationID string,
	intent activity.SignTransactionIntent) (activity.SignTransactionResult, error) {
	return e.unattributed().SignTransaction(ctx, organizationID, intent)
}

// SignMessage signs a message with a key of the organization, if it is a structure that
// the engine reads and all its hazards are allowed. A hash is refused.
func (e *Engine) SignMessage(ctx context.Context, organizationID string,
	intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error) {
	return e.unattributed().SignMessage(ctx, organizationID, intent)
}

// Summary describes what is signed, from its bytes alone.
func (p *Prepared) Summary() chains.Summary { return *p.task.Summary() }

// Effects returns what signing does, with the signer's address filled in, Change set on
// what comes back to the wallet that pays, and Controlled on what goes to the organization's
// accounts. The keystore is asked which addresses those are; the error is the keystore's.
func (p *Prepared) Effects(ctx context.Context) ([]chains.Effect, error) {
	return p.task.OwnEffects(ctx)
}

// Keys returns the keys that will sign, as a policy sees them.
func (p *Prepared) Keys(ctx context.Context) ([]access.SigningKey, error) {
	return p.task.Signers(ctx)
}

// KeyIDs returns the ids of the keys that will sign.
func (p *Prepared) KeyIDs() []string { return p.task.KeyIDs() }

// SignerView returns what depends on the signing keys, to be shown with the summary. The
// keystore is asked as by Effects.
func (p *Prepared) SignerView(ctx context.Context) ([]chains.Field, error) {
	return p.task.SignerView(ctx)
}

// Readings returns what Config.Descriptors says of the lookup tables and the calls. It is
// shown with the summary, but is not part of the summary's digest.
func (p *Prepared) Readings() chains.Readings { return p.task.Readings() }

// Hazards returns the hazards. All of them are allowed.
func (p *Prepared) Hazards() []chains.Hazard { return p.task.Hazards() }

// Sign signs. The result is that of the intent. The call of a user is judged again, charged
// to the limits of the policy and recorded in Config.Store; a second Sign is then answered
// from the record and charged nothing.
func (p *Prepared) Sign(ctx context.Context) (activity.Result, error) {
	return p.call.sign(ctx)
}

// Caller calls an engine as a user, without a stamp: the program has authenticated the user
// in its own way. What it signs is judged, charged to the limits of the policy, logged and
// recorded as that user's, if the engine has a policy and a store. See [Engine.As].
type Caller struct {
	engine  *Engine
	user    *access.User // nil: the call has no user
	scheme  string
	granted []activity.Type
}

// As returns the engine as a user calls it. The user needs an ID: policies, limits and
// records name the user by it. authentication says how the program knows that it is this
// user, such as "CERTIFICATE dns:batcher.example", and is recorded; if it is empty, the
// record says [activity.SchemeLocal]. activities are what the program grants this caller; none
// are all that [access.CheckGranted] takes, which are transactions and messages. If the
// directory implements [access.Callers], its entry has to grant it too, when the call is made
// and again before one that has waited is carried out.
//
// A call for the same organization, user and intent as a recorded one is the same call,
// however the user was authenticated: it is answered from the record, and charged once. After an
// activity that was rejected, has failed or was forgotten, it is a new one.
//
// A call that needs approvals is recorded and waits for them if the directory finds users
// by their ids, which those of package access do (see [access.Users]). The error then has
// the reason CONSENSUS_NEEDED and is an [*activity.WaitingError]: when it has its votes, the
// same call finds the result.
func (e *Engine) As(user access.User, authentication string, activities ...activity.Type) *Caller {
	authentication = cmp.Or(authentication, activity.SchemeLocal)
	return &Caller{e, &user, authentication, activities}
}

// unattributed returns the engine as it is called by no user.
func (e *Engine) unattributed() *Caller { return &Caller{engine: e} }

// Prepare does everything that Sign does except sign.
func (c *Caller) Prepare(ctx context.Context, organizationID string, intent activity.Intent) (*Prepared, error) {
	call, err := c.call(organizationID, intent)
	if err != nil {
		return nil, err
	}
	var spent access.SpentReader // what limits have counted of all requests; nil without a store
	if c.engine.config.Store != nil {
		spent = c.engine.records.Spent(store.Fingerprint{})
	}
	task, err := call.prepare(ctx, spent)
	if err != nil {
		return nil, err
	}
	return &Prepared{call, task}, nil
}

// Sign signs what an intent asks for: see [Engine.Sign].
func (c *Caller) Sign(ctx context.Context, organizationID string, intent activity.Intent) (activity.Result, error) {
	call, err := c.call(organizationID, intent)
	if err != nil {
		return nil, err
	}
	if _, err := call.prepare(ctx, nil); err != nil {
		if c.user != nil || c.engine.config.Policy != nil {
			c.engine.observed(ctx, call.Submission, err)
		}
		return nil, err
	}
	return call.sign(ctx)
}

// SignTransaction signs a transaction: see [Engine.SignTransaction].
func (c *Caller) SignTransaction(ctx context.Context, organizationID string,
	intent activity.SignTransactionIntent) (activity.SignTransactionResult, error) {
	result, err := c.Sign(ctx, organizationID, intent)
	if err != nil {
		return activity.SignTransactionResult{}, err
	}
	return result.(activity.SignTransactionResult), nil
}

// SignMessage signs a message: see [Engine.SignMessage].
func (c *Caller) SignMessage(ctx context.Context, organizationID string,
	intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error) {
	result, err := c.Sign(ctx, organizationID, intent)
	if err != nil {
		return activity.SignRawPayloadResult{}, err
	}
	return result.(activity.SignRawPayloadResult), nil
}

// call returns a call, which is not prepared yet.
func (c *Caller) call(organizationID string, intent activity.Intent) (call, error) {
	var err error // a user that a record cannot name
	switch {
	case c.user == nil:
	case c.user.ID == "":
		err = errors.New("the user of a call has no ID: policies, limits and records name the user by it")
	default:
		err = errors.Join(activity.CheckScheme(c.scheme), access.CheckGranted(c.granted))
	}
	if err != nil {
		return call{}, activity.NewError(activity.ReasonInternal, "", err, "%v", err)
	}
	s := request.New("")
	s.OrganizationID, s.Intent = organizationID, intent
	if intent != nil {
		s.Operation = request.Path(intent.ActivityType())
	}
	if c.user != nil {
		s.Caller = &request.Caller{
			Organization: &access.Organization{ID: organizationID}, // it need not be in the directory
			Member:       &access.Member{User: *c.user, Granted: c.granted},
			Scheme:       c.scheme,
		}
	}
	return call{c.engine, s}, nil
}
