// Package all is the five chains in one list, for programs that sign for all of them. A program
// that signs for one chain imports that chain's package instead, and links no other.
package all

import (
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/chains/tron"
	"github.com/countersign-dev/countersign/internal/intents"
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

// Chains returns the five chains with limits, in the order in which addresses are listed.
func Chains(limits Limits) []chains.Chain {
	return []chains.Chain{
		ethereum.New(limits.Ethereum),
		solana.New(limits.Solana),
		tron.New(limits.Tron),
		bitcoin.New(limits.Bitcoin),
		tempo.New(limits.Tempo),
	}
}

// Of returns the chain of a transaction type. The error is an *activity.Error.
func Of(kind activity.TransactionType, limits Limits) (chains.Chain, error) {
	return intents.Table(Chains(limits)).Of(kind)
}

// TransactionTypes returns the transaction types of the five chains.
func TransactionTypes() []activity.TransactionType {
	var kinds []activity.TransactionType
	for _, chain := range Chains(Limits{}) {
		kinds = append(kinds, intents.TransactionType(chain))
	}
	return kinds
}

// HazardNames returns the names of all hazards of the five chains and of messages. Each
// of them can be allowed.
func HazardNames() []string {
	names := intents.Table(Chains(Limits{})).HazardNames()
	return append(names, slices.DeleteFunc(messages.HazardNames(Chains(Limits{})...),
		func(name string) bool { return slices.Contains(names, name) })...)
}

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
