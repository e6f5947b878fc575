package messages

import (
	"encoding/hex"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/operation"
)

// Operations returns the operations that sign messages of some chains, for Config.Operations of
// an engine: one for each of the two intents. The chains are those of Config.Chains, or some of them.
func Operations(served ...chains.Chain) []operation.Operation {
	read := func(intent activity.Intent, now func() time.Time) (chains.Transaction, error) {
		return readPayloads(intent, Reader{Chains: served, Now: now})
	}
	signing, hazards := &operation.Signing{Read: read, Result: result}, HazardNames(served...)
	return []operation.Operation{
		{Type: activity.TypeSignRawPayload, Hazards: hazards, Sign: signing},
		{Type: activity.TypeSignRawPayloads, Hazards: hazards, Sign: signing},
	}
}

// ReadAny reads what an intent asks a signature for, transactions or messages, as an
// engine with these chains does. The error is an *activity.Error.
func ReadAny(intent activity.Intent, served []chains.Chain, now func() time.Time) (chains.Transaction, error) {
	switch asked := intent.(type) {
	case activity.SignTransactionIntent:
		return intents.Table(served).Read(asked.Type, asked.UnsignedTransaction)
	case activity.SignTransactionsIntent:
		return intents.Table(served).ReadList(asked)
	}
	return readPayloads(intent, Reader{Chains: served, Now: now})
}

// readPayloads reads the payloads of an intent as one transaction. The error is an *activity.Error.
func readPayloads(intent activity.Intent, reader Reader) (tx chains.Transaction, err error) {
	switch asked := intent.(type) {
	case activity.SignRawPayloadIntent:
		tx, err = reader.Read(asked.Payload, asked.Encoding, asked.HashFunction)
	case activity.SignRawPayloadsIntent:
		tx, err = reader.readAll(asked)
	default:
		return nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldType, nil, "%T asks for no signature",
			intent)
	}
	if err != nil {
		return nil, activity.NewError(activity.ReasonInvalidTransaction, intents.FieldPayload, err, "%v", err)
	}
	return tx, nil
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
		return nil, activity.NewError(activity.ReasonInternal, "", nil,
			"the signatures have %d bytes for %d messages", len(signed), count)
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

// HazardNames returns all hazards of the messages of some chains, each once.
func HazardNames(served ...chains.Chain) (names []string) {
	for _, chain := range served {
		if signer, ok := chain.(chains.MessageSigner); ok {
			for _, name := range signer.MessageHazardNames() {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}
