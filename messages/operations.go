package messages

import (
	"encoding/hex"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/operation"
)

// Operations returns the operations that sign messages, for Config.Operations of an
// engine: one for each of the two intents.
func Operations() []operation.Operation {
	signing := &operation.Signing{Read: Read, Result: result}
	return []operation.Operation{
		{Type: activity.TypeSignRawPayload, Hazards: HazardNames(), Sign: signing},
		{Type: activity.TypeSignRawPayloads, Hazards: HazardNames(), Sign: signing},
	}
}

// ReadAny reads what an intent asks a signature for, a transaction or messages, as an
// engine with these chains does. The error is an *activity.Error.
func ReadAny(intent activity.Intent, chosen []chains.Chain, now func() time.Time) (chains.Transaction, error) {
	if transaction, ok := intent.(activity.SignTransactionIntent); ok {
		tx, _, err := intents.Table(chosen).Read(transaction.Type, transaction.UnsignedTransaction)
		return tx, err
	}
	return Read(intent, chosen, now)
}

// Read reads the payloads of an intent as one transaction, as an engine with these chains
// does. The error is an *activity.Error.
func Read(intent activity.Intent, chosen []chains.Chain, now func() time.Time) (chains.Transaction, error) {
	reader := Reader{Chains: chosen, Now: now}
	if single, ok := intent.(activity.SignRawPayloadIntent); ok {
		tx, err := reader.Read(single.Payload, single.Encoding, single.HashFunction)
		if err != nil {
			return nil, refuseMessage(err)
		}
		return tx, nil
	}
	payloads, ok := intents.Payloads(intent)
	if !ok {
		return nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldType, nil, "%T asks for no signature", intent)
	}
	read := make([]chains.Transaction, len(payloads.Payloads))
	if len(read) > MaxPayloads {
		payloads.Payloads = nil // Batch refuses so many
	}
	for i, payload := range payloads.Payloads {
		var err error
		if read[i], err = reader.Read(payload, payloads.Encoding, payloads.HashFunction); err != nil {
			return nil, refuseMessage(err)
		}
	}
	tx, err := Batch(read)
	if err != nil {
		return nil, refuseMessage(err)
	}
	return tx, nil
}

func refuseMessage(err error) error {
	return activity.NewError(activity.ReasonInvalidTransaction, intents.FieldPayload, err, "%v", err)
}

// Lengths of one signature. An Ed25519 signature has no recovery id.
const (
	ecdsaSize   = 65
	ed25519Size = 64
)

// result returns the result of an intent whose signatures were appended to each other.
func result(intent activity.Intent, signed []byte) (activity.Result, error) {
	several, batch := intent.(activity.SignRawPayloadsIntent)
	count := 1
	if batch {
		count = len(several.Payloads)
	}
	size := len(signed) / count
	if (size != ecdsaSize && size != ed25519Size) || size*count != len(signed) {
		return nil, activity.NewError(activity.ReasonInternal, "", nil, "the signatures have %d bytes for %d messages", len(signed), count)
	}
	if !batch {
		return inHex(signed), nil
	}
	signatures := make([]activity.SignRawPayloadResult, count)
	for i := range signatures {
		signatures[i] = inHex(signed[i*size : (i+1)*size])
	}
	return activity.SignRawPayloadsResult{Signatures: signatures}, nil
}

// inHex returns one signature as the API has it.
func inHex(signature []byte) activity.SignRawPayloadResult {
	var room [2 * ecdsaSize]byte // of which Ed25519 leaves a recovery id of zero
	if hex.Encode(room[:], signature) == 2*ed25519Size {
		copy(room[2*ed25519Size:], "00")
	}
	text := string(room[:])
	return activity.SignRawPayloadResult{R: text[:64], S: text[64:128], V: text[128:]}
}
