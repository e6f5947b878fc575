// Package intents reads the transaction that an intent asks a signature for. The engine,
// inspection and offline verification read by it, so that all three read the same.
package intents

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Table is the chains that requests are read for, in the order in which addresses are listed.
type Table []chains.Chain

// New returns a table, or an error that names the chain that is nil or listed twice.
func New(configured []chains.Chain) (Table, error) {
	names := map[string]bool{}
	for i, chain := range configured {
		if chain == nil {
			return nil, fmt.Errorf("chain %d is nil", i)
		}
		if names[chain.Name()] {
			return nil, fmt.Errorf("%s is listed twice", chain.Name())
		}
		names[chain.Name()] = true
	}
	return slices.Clone(configured), nil
}

// TransactionType returns the type of a chain's transactions in the API.
func TransactionType(chain chains.Chain) activity.TransactionType {
	return activity.TransactionType(transactionTypePrefix + strings.ToUpper(chain.Name()))
}

const transactionTypePrefix = "TRANSACTION_TYPE_"

// Of returns the chain of a transaction type.
func (t Table) Of(kind activity.TransactionType) (chains.Chain, error) {
	name, ok := strings.CutPrefix(string(kind), transactionTypePrefix)
	for _, chain := range t {
		// Unlike TransactionType(chain) == kind, this allocates nothing.
		if known := chain.Name(); ok && len(known) == len(name) && strings.EqualFold(known, name) &&
			strings.ToUpper(name) == name {
			return chain, nil
		}
	}
	var names []string
	for _, chain := range t {
		names = append(names, string(TransactionType(chain)))
	}
	return nil, activity.NewError(activity.ReasonUnsupportedTransactionType, FieldType, chains.ErrUnsupported,
		"unsupported transaction type %q: use %s", plaintext.Shorten(string(kind), maxQuoted), strings.Join(names, ", "))
}

// HazardNames returns the names of all hazards of the chains, each once.
func (t Table) HazardNames() []string {
	var names []string
	for _, chain := range t {
		names = append(names, chain.HazardNames()...)
		ofTexts := chain.Words().TextHazards
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(ofTexts, name) })
		names = append(names, ofTexts...)
	}
	return names
}

// Named returns the chain with a name, or nil.
func (t Table) Named(name string) chains.Chain {
	for _, chain := range t {
		if chain.Name() == name {
			return chain
		}
	}
	return nil
}

// maxQuoted is how many bytes of a caller's text an error quotes.
const maxQuoted = 100
