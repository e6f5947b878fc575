package countersign

import (
	"context"
	"errors"
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
)

// Limits are the bounds of each chain beyond which a transaction is a hazard.
type Limits struct {
	Ethereum ethereum.Limits
	Solana   solana.Limits
	Tron     tron.Limits
	Bitcoin  bitcoin.Limits
	Tempo    tempo.Limits
}

// chainEntry is one row of the table of chains.
type chainEntry struct {
	kind  activity.TransactionType
	chain chains.Chain
}

// chainTable is the chains that the engine signs for, in the order in which
// addresses are listed.
type chainTable []chainEntry

func newChainTable(limits Limits) chainTable {
	return chainTable{
		{activity.TransactionTypeEthereum, ethereum.New(limits.Ethereum)},
		{activity.TransactionTypeSolana, solana.New(limits.Solana)},
		{activity.TransactionTypeTron, tron.New(limits.Tron)},
		{activity.TransactionTypeBitcoin, bitcoin.New(limits.Bitcoin)},
		{activity.TransactionTypeTempo, tempo.New(limits.Tempo)},
	}
}

// of returns the chain of a transaction type.
func (t chainTable) of(kind activity.TransactionType) (chains.Chain, error) {
	for i := range t {
		if t[i].kind == kind {
			return t[i].chain, nil
		}
	}
	return nil, activity.NewError(activity.ReasonUnsupportedTransactionType, fieldType, chains.ErrUnsupported,
		"unsupported transaction type %q: use %s", shorten(string(kind)), t.names())
}

func (t chainTable) names() string {
	var names []string
	for _, entry := range t {
		names = append(names, string(entry.kind))
	}
	return strings.Join(names, ", ")
}

// hazardNames returns the closed lists of hazards of all chains.
func (t chainTable) hazardNames() []string {
	var names []string
	for _, entry := range t {
		names = append(names, entry.chain.HazardNames()...)
	}
	return names
}

// TransactionTypes returns the transaction types that the engine signs.
func TransactionTypes() []activity.TransactionType {
	var kinds []activity.TransactionType
	for _, entry := range newChainTable(Limits{}) {
		kinds = append(kinds, entry.kind)
	}
	return kinds
}

// HazardNames returns the hazards that can be allowed, of all chains.
func HazardNames() []string { return newChainTable(Limits{}).hazardNames() }

// Addresses returns all addresses that a key has on the chains of the engine.
// An address that two chains share is named once.
func Addresses(pub keystore.PublicKey) []chains.Address {
	var addresses []chains.Address
	for _, entry := range newChainTable(Limits{}) {
		for _, address := range entry.chain.Addresses(pub) {
			if !slices.Contains(addresses, address) {
				addresses = append(addresses, address)
			}
		}
	}
	return addresses
}

// allowance is a set of hazards that may be signed.
type allowance struct {
	all   bool
	names []string
}

func newAllowance(names []string, table chainTable) (allowance, error) {
	allowed := allowance{names: slices.Clone(names)}
	known := table.hazardNames()
	for _, name := range names {
		switch {
		case name == AllHazards:
			allowed.all = true
		case !slices.Contains(known, name):
			return allowance{}, fmt.Errorf("countersign: Config.AllowHazards: unknown hazard %q: use %s, or %s",
				name, strings.Join(known, ", "), AllHazards)
		}
	}
	return allowed, nil
}

// refused returns the hazards that are not allowed.
func (a allowance) refused(hazards []chains.Hazard) []chains.Hazard {
	if a.all {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(hazards), func(hazard chains.Hazard) bool {
		return slices.Contains(a.names, hazard.Name)
	})
}

// refuseHazards refuses hazards that neither the configuration nor the
// organization allows.
func (e *Engine) refuseHazards(ctx context.Context, organizationID string, hazards []chains.Hazard) error {
	refused := e.allowed.refused(hazards)
	if len(refused) > 0 && e.submitted.Directory != nil {
		organization, err := e.submitted.Directory.Organization(ctx, organizationID)
		switch {
		case err == nil:
			refused = allowance{names: organization.AllowHazards}.refused(refused)
		case !errors.Is(err, ErrOrganizationNotFound):
			return activity.NewError(activity.ReasonUnavailable, "", err, "the directory of organizations cannot be read: try again")
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return nameHazards(refused)
}

// nameHazards names hazards that are not allowed, and how to allow them.
func nameHazards(hazards []chains.Hazard) error {
	var details, names []string
	for _, hazard := range hazards {
		details = append(details, fmt.Sprintf("%s (%s)", hazard.Name, hazard.Detail))
		names = append(names, hazard.Name)
	}
	return activity.NewError(activity.ReasonHazardNotAllowed, fieldTransaction, nil,
		"the transaction is well-formed but hazardous: %s; to sign it all the same, allow %s by name",
		strings.Join(details, "; "), strings.Join(names, ", "))
}
