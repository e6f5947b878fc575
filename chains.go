package countersign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/messages"
)

// Limits are the bounds of each chain beyond which a transaction is a hazard.
// The zero Limits are the defaults.
type Limits struct {
	Ethereum ethereum.Limits
	Solana   solana.Limits
	Tron     tron.Limits
	Bitcoin  bitcoin.Limits
	Tempo    tempo.Limits
}

// Chains returns the five chains with limits, in the order in which addresses
// are listed. Chains(Limits{}) is the default of Config.Chains.
func Chains(limits Limits) []chains.Chain {
	return []chains.Chain{
		ethereum.New(limits.Ethereum),
		solana.New(limits.Solana),
		tron.New(limits.Tron),
		bitcoin.New(limits.Bitcoin),
		tempo.New(limits.Tempo),
	}
}

// chainTable is the chains that the engine signs for, in the order in which addresses
// are listed.
type chainTable []chains.Chain

func newChainTable(configured []chains.Chain) (chainTable, error) {
	if len(configured) == 0 {
		return Chains(Limits{}), nil
	}
	names := map[string]bool{}
	for i, chain := range configured {
		if chain == nil {
			return nil, fmt.Errorf("countersign: Config.Chains[%d] is nil", i)
		}
		if names[chain.Name()] {
			return nil, fmt.Errorf("countersign: Config.Chains: %s is listed twice", chain.Name())
		}
		names[chain.Name()] = true
	}
	return slices.Clone(configured), nil
}

// transactionType returns the type of a chain's transactions in the API.
func transactionType(chain chains.Chain) activity.TransactionType {
	return activity.TransactionType(transactionTypePrefix + strings.ToUpper(chain.Name()))
}

const transactionTypePrefix = "TRANSACTION_TYPE_"

// of returns the chain of a transaction type.
func (t chainTable) of(kind activity.TransactionType) (chains.Chain, error) {
	name, ok := strings.CutPrefix(string(kind), transactionTypePrefix)
	for _, chain := range t {
		// Unlike transactionType(chain) == kind, this allocates nothing.
		if known := chain.Name(); ok && len(known) == len(name) && strings.EqualFold(known, name) && strings.ToUpper(name) == name {
			return chain, nil
		}
	}
	return nil, activity.NewError(activity.ReasonUnsupportedTransactionType, fieldType, chains.ErrUnsupported,
		"unsupported transaction type %q: use %s", shorten(string(kind)), t.names())
}

func (t chainTable) names() string {
	var names []string
	for _, chain := range t {
		names = append(names, string(transactionType(chain)))
	}
	return strings.Join(names, ", ")
}

// hazardNames returns the names of all hazards of the chains and of messages.
func (t chainTable) hazardNames() []string {
	var names []string
	for _, chain := range t {
		names = append(names, chain.HazardNames()...)
	}
	return append(names, messages.HazardNames()...)
}

// named returns the chain with a name, or nil.
func (t chainTable) named(name string) chains.Chain {
	for _, chain := range t {
		if chain.Name() == name {
			return chain
		}
	}
	return nil
}

// TransactionTypes returns the transaction types of the five chains.
func TransactionTypes() []activity.TransactionType {
	var kinds []activity.TransactionType
	for _, chain := range Chains(Limits{}) {
		kinds = append(kinds, transactionType(chain))
	}
	return kinds
}

// HazardNames returns the names of all hazards of the five chains and of messages. Each
// of them can be allowed.
func HazardNames() []string { return chainTable(Chains(Limits{})).hazardNames() }

// Addresses returns all addresses that a key has on the five chains. An address that
// two chains share is listed once.
func Addresses(pub keystore.PublicKey) []chains.Address {
	var addresses []chains.Address
	for _, chain := range Chains(Limits{}) {
		for _, address := range chain.Addresses(pub) {
			if !slices.Contains(addresses, address) {
				addresses = append(addresses, address)
			}
		}
	}
	return addresses
}
