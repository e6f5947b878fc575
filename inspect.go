package countersign

import (
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
	i.Readings = chains.ReadCalls(i.tx, reader)
	i.Hazards = i.Readings.Sighted(i.Hazards, i.Effects)
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
