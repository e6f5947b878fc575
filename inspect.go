package countersign

import (
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
)

// Inspection is what a transaction says of itself, without any key.
type Inspection struct {
	Summary chains.Summary
	Effects []chains.Effect // with the signer not resolved
	Hazards []chains.Hazard // those that depend on no key

	// Readings are what descriptors say, see ReadWith.
	Readings chains.Readings

	tx chains.Transaction
}

// ReadWith returns the inspection with what a reader says of the calls: those of
// which every argument is read are no longer blind.
func (i Inspection) ReadWith(reader chains.Reader) Inspection {
	tx, readings := chains.ReadWith(i.tx, reader)
	if len(readings) == 0 {
		return i
	}
	i.Readings, i.Effects = readings, tx.Effects()
	i.Hazards = readings.Sighted(tx.Hazards(), i.Effects)
	return i
}

// Inspect reads an unsigned transaction of one of the five chains as strictly as
// SignTransaction does, and describes it. Its error is an *activity.Error.
func Inspect(kind activity.TransactionType, unsignedTransaction string, limits Limits) (Inspection, error) {
	tx, _, err := chainTable(Chains(limits)).parse(kind, unsignedTransaction)
	if err != nil {
		return Inspection{}, err
	}
	return Inspection{Summary: tx.Summary(), Effects: tx.Effects(), Hazards: tx.Hazards(), tx: tx}, nil
}

// InspectRequest reads the transaction or the messages of a request as Inspect
// does: what its submitter asks a signature for, read from the body alone. A voter
// compares it with what a server shows. Its error is an *activity.Error.
func InspectRequest(request *activity.Request, limits Limits) (Inspection, error) {
	switch intent := request.Intent.(type) {
	case activity.SignTransactionIntent:
		return Inspect(intent.Type, intent.UnsignedTransaction, limits)
	case activity.SignRawPayloadIntent:
		return InspectMessage(intent, limits)
	case activity.SignRawPayloadsIntent:
		tx, err := chainTable(Chains(limits)).readMessages(time.Now, intent.Encoding, intent.HashFunction, intent.Payloads)
		if err != nil {
			return Inspection{}, err
		}
		return Inspection{Summary: tx.Summary(), Effects: tx.Effects(), Hazards: tx.Hazards(), tx: tx}, nil
	}
	return Inspection{}, activity.NewError(activity.ReasonRequestInvalid, "type", nil, "%s asks for no signature", request.Type)
}
