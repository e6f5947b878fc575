package countersign

import (
	"context"
	"encoding/hex"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/intents"
)

// Lengths of one signature. An Ed25519 signature has no recovery id.
const (
	ecdsaSize   = 65
	ed25519Size = 64
)

// PreparedMessage is a message, or several for one key, that was read and that the
// engine is ready to sign. See [PreparedTransaction].
type PreparedMessage struct{ *PreparedTransaction }

// SignMessage signs a message with a key of the organization, if it is a structure
// that the engine reads and all its hazards are allowed. A hash is refused.
func (e *Engine) SignMessage(ctx context.Context, organizationID string, intent activity.SignMessageIntent) (activity.SignRawPayloadResult, error) {
	result, err := e.signCall(ctx, organizationID, intent)
	if err != nil {
		return activity.SignRawPayloadResult{}, err
	}
	return result.(activity.SignRawPayloadResult), nil
}

// SignMessages signs several messages with one key, all or none.
func (e *Engine) SignMessages(ctx context.Context, organizationID string, intent activity.SignRawPayloadsIntent) (activity.SignRawPayloadsResult, error) {
	result, err := e.signCall(ctx, organizationID, intent)
	if err != nil {
		return activity.SignRawPayloadsResult{}, err
	}
	return result.(activity.SignRawPayloadsResult), nil
}

// PrepareMessage does everything that SignMessage and SignMessages do except sign.
// intent is a SignRawPayloadIntent or a SignRawPayloadsIntent.
func (e *Engine) PrepareMessage(ctx context.Context, organizationID string, intent activity.Intent) (*PreparedMessage, error) {
	if !intents.IsMessage(intent) {
		return nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldType, nil, "%T is not an intent to sign a message: use SignRawPayloadIntent or SignRawPayloadsIntent", intent)
	}
	prepared, err := e.prepareCall(ctx, organizationID, intent)
	if err != nil {
		return nil, err
	}
	return &PreparedMessage{prepared}, nil
}

// Sign signs the messages and returns their signatures in order, or none. It is judged,
// charged and recorded like PreparedTransaction.Sign.
func (p *PreparedMessage) Sign(ctx context.Context) ([]activity.SignRawPayloadResult, error) {
	result, err := p.signCall(ctx)
	if err != nil {
		return nil, err
	}
	if several, ok := result.(activity.SignRawPayloadsResult); ok {
		return several.Signatures, nil
	}
	return []activity.SignRawPayloadResult{result.(activity.SignRawPayloadResult)}, nil
}

// messageResult returns the result of an intent whose count signatures were appended to
// each other.
func messageResult(intent activity.Intent, signed []byte, count int) (activity.Result, error) {
	size := len(signed) / count
	if (size != ecdsaSize && size != ed25519Size) || size*count != len(signed) {
		return nil, activity.NewError(activity.ReasonInternal, "", nil, "the signatures have %d bytes for %d messages", len(signed), count)
	}
	signatures := make([]activity.SignRawPayloadResult, count)
	for i := range signatures {
		one := signed[i*size : (i+1)*size]
		signatures[i] = activity.SignRawPayloadResult{R: hex.EncodeToString(one[:32]), S: hex.EncodeToString(one[32:64]), V: "00"}
		if size == ecdsaSize {
			signatures[i].V = hex.EncodeToString(one[64:])
		}
	}
	if _, several := intent.(activity.SignRawPayloadsIntent); several {
		return activity.SignRawPayloadsResult{Signatures: signatures}, nil
	}
	return signatures[0], nil
}
