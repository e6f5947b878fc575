package countersign

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/messages"
)

// fieldPayload is the member of a sign_raw_payload request, as errors name it.
const fieldPayload = "payload"

// Lengths of one signature. An Ed25519 signature has no recovery id.
const (
	ecdsaSize   = 65
	ed25519Size = 64
)

// PreparedMessage is a message, or several for one key, that was read and that the
// engine is ready to sign. See [PreparedTransaction].
type PreparedMessage struct {
	*PreparedTransaction
	count int
}

// SignMessage signs a message with a key of the organization, if it is a structure
// that the engine reads and all its hazards are allowed. A hash is refused.
func (e *Engine) SignMessage(ctx context.Context, organizationID string, intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error) {
	signatures, err := e.signMessages(ctx, organizationID, intent)
	if err != nil {
		return activity.SignRawPayloadResult{}, err
	}
	return signatures[0], nil
}

// SignMessages signs several messages with one key, all or none.
func (e *Engine) SignMessages(ctx context.Context, organizationID string, intent activity.SignRawPayloadsIntent) (activity.SignRawPayloadsResult, error) {
	signatures, err := e.signMessages(ctx, organizationID, intent)
	return activity.SignRawPayloadsResult{Signatures: signatures}, err
}

func (e *Engine) signMessages(ctx context.Context, organizationID string, intent activity.Intent) ([]activity.SignRawPayloadResult, error) {
	started := time.Now()
	prepared, err := e.readMessages(ctx, organizationID, intent)
	if err != nil {
		e.logRefused(ctx, organizationID, intent, nil, started, err)
		return nil, err
	}
	if err := e.decideCall(ctx, organizationID, intent, prepared.PreparedTransaction, nil); err != nil {
		e.logRefused(ctx, organizationID, intent, prepared.PreparedTransaction, started, err)
		return nil, err
	}
	return prepared.Sign(ctx)
}

// PrepareMessage does everything that SignMessage and SignMessages do except sign.
// intent is a SignRawPayloadIntent or a SignRawPayloadsIntent.
func (e *Engine) PrepareMessage(ctx context.Context, organizationID string, intent activity.Intent) (*PreparedMessage, error) {
	prepared, err := e.readMessages(ctx, organizationID, intent)
	if err != nil {
		return nil, err
	}
	if err := e.decideCall(ctx, organizationID, intent, prepared.PreparedTransaction, e.spentSoFar()); err != nil {
		return nil, err
	}
	return prepared, nil
}

// prepareMessageWork is step 4 of a submitted message.
func (e *Engine) prepareMessageWork(ctx context.Context, s *submission) (work, error) {
	prepared, err := e.readMessages(ctx, s.caller.organization.ID, s.intent)
	if err != nil {
		return nil, err
	}
	return &signing{prepared: prepared.PreparedTransaction, message: prepared, intent: s.intent}, nil
}

// readMessages reads the payloads of an intent and finds the key that signs them.
func (e *Engine) readMessages(ctx context.Context, organizationID string, intent activity.Intent) (*PreparedMessage, error) {
	tx, err := e.chains.readMessages(e.config.Now, intent)
	if err != nil {
		return nil, err
	}
	prepared, err := e.prepareRead(ctx, organizationID, tx, e.chains.named(tx.Summary().Chain), signWithOf(intent))
	if err != nil {
		return nil, err
	}
	payloads, _ := payloadsOf(intent)
	return &PreparedMessage{PreparedTransaction: prepared, count: len(payloads.Payloads)}, nil
}

// readMessages reads the payloads of an intent as one transaction.
func (t chainTable) readMessages(now func() time.Time, intent activity.Intent) (chains.Transaction, error) {
	payloads, ok := payloadsOf(intent)
	if !ok {
		return nil, activity.NewError(activity.ReasonRequestInvalid, "type", nil, "%s asks for no signature", intent.ActivityType())
	}
	reader := messages.Reader{Chain: t.named, Now: now}
	if len(payloads.Payloads) > messages.MaxPayloads {
		payloads.Payloads = nil // Batch refuses, and says how many there can be
	}
	read := make([]chains.Transaction, len(payloads.Payloads))
	for i, payload := range payloads.Payloads {
		var err error
		if read[i], err = reader.Read(payload, messages.Encoding(payloads.Encoding), messages.HashFunction(payloads.HashFunction)); err != nil {
			return nil, refuseMessage(err)
		}
	}
	tx, err := messages.Batch(read)
	if err != nil {
		return nil, refuseMessage(err)
	}
	return tx, nil
}

// payloadsOf returns an intent to sign one message or several as that of several. ok is
// false if it is about something else.
func payloadsOf(intent activity.Intent) (several activity.SignRawPayloadsIntent, ok bool) {
	switch intent := intent.(type) {
	case activity.SignRawPayloadIntent:
		return activity.SignRawPayloadsIntent{
			SignWith: intent.SignWith, Payloads: []string{intent.Payload},
			Encoding: intent.Encoding, HashFunction: intent.HashFunction,
		}, true
	case activity.SignRawPayloadsIntent:
		return intent, true
	}
	return several, false
}

// isMessage reports whether an intent is about messages.
func isMessage(intent activity.Intent) bool {
	_, ok := payloadsOf(intent)
	return ok
}

// Sign signs the messages and returns their signatures in order, or none. It is judged,
// charged and recorded like PreparedTransaction.Sign.
func (p *PreparedMessage) Sign(ctx context.Context) ([]activity.SignRawPayloadResult, error) {
	if p.call == nil {
		return p.sign(ctx)
	}
	result, err := p.call.sign(ctx, &signing{prepared: p.PreparedTransaction, message: p, intent: p.call.intent})
	if err != nil {
		return nil, err
	}
	if several, ok := result.(activity.SignRawPayloadsResult); ok {
		return several.Signatures, nil
	}
	return []activity.SignRawPayloadResult{result.(activity.SignRawPayloadResult)}, nil
}

func (p *PreparedMessage) sign(ctx context.Context) ([]activity.SignRawPayloadResult, error) {
	signed, err := p.signing.AppendSigned(ctx, nil)
	if err != nil {
		return nil, refuseTransaction(err)
	}
	size := len(signed) / p.count
	if (size != ecdsaSize && size != ed25519Size) || size*p.count != len(signed) {
		return nil, activity.NewError(activity.ReasonInternal, "", nil, "the signatures have %d bytes for %d messages", len(signed), p.count)
	}
	signatures := make([]activity.SignRawPayloadResult, p.count)
	for i := range signatures {
		one := signed[i*size : (i+1)*size]
		signatures[i] = activity.SignRawPayloadResult{R: hex.EncodeToString(one[:32]), S: hex.EncodeToString(one[32:64]), V: "00"}
		if size == ecdsaSize {
			signatures[i].V = hex.EncodeToString(one[64:])
		}
	}
	return signatures, nil
}

// perform signs, and returns the result that the intent asks for.
func (p *PreparedMessage) perform(ctx context.Context, intent activity.Intent) (activity.Result, error) {
	signatures, err := p.sign(ctx)
	if err != nil {
		return nil, err
	}
	if _, several := intent.(activity.SignRawPayloadsIntent); several {
		return activity.SignRawPayloadsResult{Signatures: signatures}, nil
	}
	return signatures[0], nil
}
