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

// signatureSizes are the lengths of one signature: Ed25519 has no recovery id.
const (
	ecdsaSize   = 65
	ed25519Size = 64
)

// PreparedMessage is a message, or several for one key, that was read and that the
// engine is ready to sign: what [PreparedTransaction] is of a transaction.
type PreparedMessage struct {
	*PreparedTransaction
	count int
}

// SignMessage signs a message with a key of the organization, if it is a structure
// that the engine reads and all its hazards are allowed. A hash is refused.
func (e *Engine) SignMessage(ctx context.Context, organizationID string, intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error) {
	signatures, err := e.signMessages(ctx, organizationID, intent, intent.SignWith, intent.Encoding, intent.HashFunction, []string{intent.Payload})
	if err != nil {
		return activity.SignRawPayloadResult{}, err
	}
	return signatures[0], nil
}

// SignMessages signs several messages with one key, all or none.
func (e *Engine) SignMessages(ctx context.Context, organizationID string, intent activity.SignRawPayloadsIntent) (activity.SignRawPayloadsResult, error) {
	signatures, err := e.signMessages(ctx, organizationID, intent, intent.SignWith, intent.Encoding, intent.HashFunction, intent.Payloads)
	return activity.SignRawPayloadsResult{Signatures: signatures}, err
}

func (e *Engine) signMessages(ctx context.Context, organizationID string, intent activity.Intent, signWith, encoding, hash string, payloads []string) ([]activity.SignRawPayloadResult, error) {
	started := time.Now()
	prepared, err := e.readMessages(ctx, organizationID, signWith, encoding, hash, payloads)
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

// PrepareMessage does everything that SignMessage does except sign.
func (e *Engine) PrepareMessage(ctx context.Context, organizationID string, intent activity.SignMessageIntent) (*PreparedMessage, error) {
	return e.prepareMessages(ctx, organizationID, intent, intent.SignWith, intent.Encoding, intent.HashFunction, []string{intent.Payload})
}

// PrepareMessages is PrepareMessage for an intent of either kind: a
// SignRawPayloadIntent or a SignRawPayloadsIntent.
func (e *Engine) PrepareMessages(ctx context.Context, organizationID string, intent activity.Intent) (*PreparedMessage, error) {
	switch intent := intent.(type) {
	case activity.SignRawPayloadIntent:
		return e.PrepareMessage(ctx, organizationID, intent)
	case activity.SignRawPayloadsIntent:
		return e.prepareMessages(ctx, organizationID, intent, intent.SignWith, intent.Encoding, intent.HashFunction, intent.Payloads)
	}
	return nil, activity.NewError(activity.ReasonRequestInvalid, fieldType, nil, "%s is no message", intent.ActivityType())
}

// prepareMessages prepares a call without a stamp.
func (e *Engine) prepareMessages(ctx context.Context, organizationID string, intent activity.Intent, signWith, encoding, hash string, payloads []string) (*PreparedMessage, error) {
	prepared, err := e.readMessages(ctx, organizationID, signWith, encoding, hash, payloads)
	if err != nil {
		return nil, err
	}
	if err := e.decideCall(ctx, organizationID, intent, prepared.PreparedTransaction, e.spentSoFar()); err != nil {
		return nil, err
	}
	return prepared, nil
}

// prepareMessageWork is step 4 of a submitted message.
func (e *Engine) prepareMessageWork(ctx context.Context, by *caller, request *activity.Request) (work, error) {
	var prepared *PreparedMessage
	var err error
	organizationID := by.organization.ID
	switch intent := request.Intent.(type) {
	case activity.SignRawPayloadIntent:
		prepared, err = e.readMessages(ctx, organizationID, intent.SignWith, intent.Encoding, intent.HashFunction, []string{intent.Payload})
	case activity.SignRawPayloadsIntent:
		prepared, err = e.readMessages(ctx, organizationID, intent.SignWith, intent.Encoding, intent.HashFunction, intent.Payloads)
	}
	if err != nil {
		return nil, err
	}
	return &signing{prepared: prepared.PreparedTransaction, message: prepared, intent: request.Intent}, nil
}

// readMessages reads payloads and finds the key that signs them.
func (e *Engine) readMessages(ctx context.Context, organizationID, signWith, encoding, hash string, payloads []string) (*PreparedMessage, error) {
	tx, err := e.chains.readMessages(e.config.Now, encoding, hash, payloads)
	if err != nil {
		return nil, err
	}
	prepared, err := e.prepareRead(ctx, organizationID, tx, e.chains.named(tx.Summary().Chain), signWith)
	if err != nil {
		return nil, err
	}
	return &PreparedMessage{PreparedTransaction: prepared, count: len(payloads)}, nil
}

// readMessages reads payloads as one transaction.
func (t chainTable) readMessages(now func() time.Time, encoding, hash string, payloads []string) (chains.Transaction, error) {
	reader := messages.Reader{Chain: t.named, Now: now}
	if len(payloads) > messages.MaxPayloads {
		payloads = nil // Batch refuses, and says how many there can be
	}
	read := make([]chains.Transaction, len(payloads))
	for i, payload := range payloads {
		var err error
		if read[i], err = reader.Read(payload, messages.Encoding(encoding), messages.HashFunction(hash)); err != nil {
			return nil, refuseMessage(err)
		}
	}
	tx, err := messages.Batch(read)
	if err != nil {
		return nil, refuseMessage(err)
	}
	return tx, nil
}

// Sign signs the messages, and returns their signatures in order, or none. It is
// judged, charged and recorded as PreparedTransaction.Sign is.
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

// perform signs as an intent asks.
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

// isMessage reports whether an intent is about messages.
func isMessage(intent activity.Intent) bool {
	switch intent.(type) {
	case activity.SignRawPayloadIntent, activity.SignRawPayloadsIntent:
		return true
	}
	return false
}

// InspectMessage reads a message as strictly as SignMessage does, and describes it.
// Its error is an *activity.Error.
func InspectMessage(intent activity.SignMessageIntent, limits Limits) (Inspection, error) {
	tx, err := chainTable(Chains(limits)).readMessages(time.Now, intent.Encoding, intent.HashFunction, []string{intent.Payload})
	if err != nil {
		return Inspection{}, err
	}
	return Inspection{Summary: tx.Summary(), Effects: tx.Effects(), Hazards: tx.Hazards(), tx: tx}, nil
}
