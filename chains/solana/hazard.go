package solana

import (
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// The hazards of Solana transactions.
const (
	// HazardZeroBlockhash: the blockhash is zero, a placeholder that somebody
	// meant to replace. The network never takes such a transaction, and a
	// signature over it is lost when the blockhash is filled in.
	HazardZeroBlockhash = "solana/zero-blockhash"

	// HazardNoComputeBudget: a v1 transaction has no compute-unit limit or no
	// limit for the data of the accounts it loads, or zero for it. Both then
	// mean zero, unlike in the earlier versions: the transaction fails, and is
	// paid for.
	HazardNoComputeBudget = "solana/no-compute-budget"
)

// Hazards implements chains.Transaction. None of them depends on the signer.
func (t *Transaction) Hazards(keystore.PublicKey) []chains.Hazard {
	var hazards []chains.Hazard
	if allZero(t.blockhash()) {
		hazards = append(hazards, chains.Hazard{
			Name:   HazardZeroBlockhash,
			Detail: "the blockhash is zero: fill in a recent one or a nonce before signing",
		})
	}
	if missing := t.missingLimits(); len(missing) > 0 {
		hazards = append(hazards, chains.Hazard{
			Name:   HazardNoComputeBudget,
			Detail: "no " + strings.Join(missing, " and no ") + ": in a v1 transaction that means zero, and it fails at a fee",
		})
	}
	return hazards
}

// missingLimits names the limits without which a v1 transaction cannot succeed.
func (t *Transaction) missingLimits() (missing []string) {
	if t.version != Version1 {
		return nil
	}
	if t.config.computeUnitLimit == 0 {
		missing = append(missing, "compute-unit limit")
	}
	if t.config.loadedDataLimit == 0 {
		missing = append(missing, "loaded accounts data size limit")
	}
	return missing
}
