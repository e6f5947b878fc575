package all

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/messages"
)

// Inspection is what a transaction or message says, without any key.
type Inspection struct {
	Summary chains.Summary
	Effects []chains.Effect // with the signer not resolved
	Hazards []chains.Hazard // those that depend on no key

	// Readings are what descriptors say, see ReadWith.
	Readings chains.Readings

	tx chains.Transaction
}

// ReadWith returns the inspection with what a reader says of the calls. A call of
// which every argument is read is no longer a blind one.
func (i Inspection) ReadWith(reader chains.Reader) Inspection {
	tx, readings := chains.ReadWith(i.tx, reader)
	if len(readings) == 0 {
		return i
	}
	i.Readings, i.Effects = readings, effectsOf(tx)
	readings.Name(i.Effects)
	i.Hazards = readings.Sighted(tx.Hazards(), i.Effects)
	return i
}

// Inspect reads an unsigned transaction of one of the five chains as strictly as
// SignTransaction does, and describes it. The error is an *activity.Error.
func Inspect(kind activity.TransactionType, unsignedTransaction string, limits Limits) (Inspection, error) {
	return InspectIntent(activity.SignTransactionIntent{Type: kind, UnsignedTransaction: unsignedTransaction}, limits)
}

// InspectIntent reads the transaction or the messages that an intent asks a signature
// for, as strictly as the engine does, and describes them. A voter compares it with
// what a server shows. The error is an *activity.Error.
func InspectIntent(intent activity.Intent, limits Limits) (Inspection, error) {
	tx, err := messages.ReadAny(intent, Chains(limits), time.Now)
	if err != nil {
		return Inspection{}, err
	}
	return Inspection{Summary: tx.Summary(), Effects: effectsOf(tx), Hazards: tx.Hazards(), tx: tx}, nil
}

// effectsOf returns the effects of a transaction whose keys are not known and what follows from
// them together.
func effectsOf(tx chains.Transaction) []chains.Effect {
	effects, _ := chains.Follow(tx.Effects())
	return slices.Clone(effects)
}
