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
}

// Inspect reads an unsigned transaction of one of the five chains as strictly as
// SignTransaction does, and describes it. Its error is an *activity.Error.
func Inspect(kind activity.TransactionType, unsignedTransaction string, limits Limits) (Inspection, error) {
	tx, _, err := chainTable(Chains(limits)).parse(kind, unsignedTransaction)
	if err != nil {
		return Inspection{}, err
	}
	return Inspection{Summary: tx.Summary(), Effects: tx.Effects(), Hazards: tx.Hazards()}, nil
}
