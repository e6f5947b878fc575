package countersign

import (
	"context"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/internal/signing"
)

// Prepared is a transaction, or messages for one key, that was read, whose keys were found,
// and that the engine is ready to sign: everything that can be refused without signing has
// been. Use it to show what is signed before signing it: the bytes that are signed are the
// bytes that were shown. It must be used by one goroutine at a time.
type Prepared struct {
	engine *Engine
	call   *request.Submission
}

func (p *Prepared) signing() *signing.Prepared { return p.call.Signing() }

// Prepare does everything that Sign does except sign.
func (e *Engine) Prepare(ctx context.Context, organizationID string, intent activity.Intent) (*Prepared, error) {
	return e.unattributed().Prepare(ctx, organizationID, intent)
}

// Sign signs what an intent asks for: a transaction, or messages with one key, all or
// none. The result is that of the intent, such as an activity.SignTransactionResult. The
// call has no user: it is recorded nowhere, and an engine with a policy refuses it. Use
// [Engine.As] for one that has.
func (e *Engine) Sign(ctx context.Context, organizationID string, intent activity.Intent) (activity.Result, error) {
	return e.unattributed().Sign(ctx, organizationID, intent)
}

// SignTransaction signs a transaction with a key of the organization, if it is
// well-formed and all its hazards are allowed.
func (e *Engine) SignTransaction(ctx context.Context, organizationID string, intent activity.SignTransactionIntent) (activity.SignTransactionResult, error) {
	return e.unattributed().SignTransaction(ctx, organizationID, intent)
}

// SignMessage signs a message with a key of the organization, if it is a structure that
// the engine reads and all its hazards are allowed. A hash is refused.
func (e *Engine) SignMessage(ctx context.Context, organizationID string, intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error) {
	return e.unattributed().SignMessage(ctx, organizationID, intent)
}

// Summary describes what is signed, from its bytes alone.
func (p *Prepared) Summary() chains.Summary { return *p.signing().Summary() }

// Effects returns what signing does, with the signer's address filled in, Change set on
// what comes back to the wallet that pays, and Mine on what goes to the organization's
// accounts. The keystore is asked which addresses those are; the error is the keystore's.
func (p *Prepared) Effects(ctx context.Context) ([]chains.Effect, error) {
	return p.signing().OwnEffects(ctx)
}

// Keys returns the keys that will sign, as a policy sees them.
func (p *Prepared) Keys(ctx context.Context) ([]access.SigningKey, error) {
	return p.signing().Signers(ctx)
}

// KeyIDs returns the ids of the keys that will sign.
func (p *Prepared) KeyIDs() []string { return p.signing().KeyIDs() }

// SignerView returns what depends on the signing keys, to be shown with the summary. The
// keystore is asked as by Effects.
func (p *Prepared) SignerView(ctx context.Context) ([]chains.Field, error) {
	return p.signing().SignerView(ctx)
}

// Readings returns what Config.Descriptors says of the lookup tables and the calls. It is
// shown with the summary, but is not part of the summary's digest.
func (p *Prepared) Readings() chains.Readings { return p.signing().Readings() }

// Hazards returns the hazards. All of them are allowed.
func (p *Prepared) Hazards() []chains.Hazard { return p.signing().Hazards() }

// Sign signs. The result is that of the intent. The call of a user is judged again, charged
// to the limits of the policy and recorded in Config.Store; a second Sign is then answered
// from the record and charged nothing.
func (p *Prepared) Sign(ctx context.Context) (activity.Result, error) {
	return p.engine.signCall(ctx, p.call)
}
