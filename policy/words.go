package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// vocabulary is what policies know of the chains, as the chains say it.
type vocabulary struct {
	chains     map[string]chains.Words // by name of the chain
	order      []chains.Words          // as the chains are listed
	namespaces map[string]chains.Words // the first with each namespace
	roots      map[string]string       // variables of details, with the name of the chain
	units      map[string]unitName
	networks   *plaintext.Pattern // ids of networks
	literals   map[string]literalFunction
	details    map[*types.Type]map[string]field
	types      map[string]*types.Type // of details, by name
}

// unitName is a constructor of amounts.
type unitName struct {
	chains.Unit
	namespace string // whose native asset it counts; empty: any asset
}

// anyUnits is the constructor of amounts in the smallest units of whatever they are
// compared with.
const anyUnits = "units"

// words is the vocabulary of all chains, once it is asked for.
var words = sync.OnceValue(func() *vocabulary { return newVocabulary(all.Chains(all.Limits{})) })

// newVocabulary asks the chains. It panics if two of them contradict each other, or if one
// says too little for policies about it: a program is built with its chains.
func newVocabulary(list []chains.Chain) *vocabulary {
	v := &vocabulary{chains: map[string]chains.Words{}, namespaces: map[string]chains.Words{}, roots: map[string]string{},
		units: map[string]unitName{anyUnits: {Unit: chains.Unit{Name: anyUnits}}}, details: map[*types.Type]map[string]field{}, types: map[string]*types.Type{}}
	var networks []string
	for _, chain := range list {
		name, said := chain.Name(), chain.Words()
		if problem := v.problem(said); problem != "" {
			panic(fmt.Sprintf("policy: chain %s: %s", name, problem))
		}
		v.chains[name], v.roots[said.Variable] = said, name
		v.order = append(v.order, said)
		for _, unit := range said.Units {
			v.units[unit.Name] = unitName{unit, said.Namespace}
		}
		if _, twice := v.namespaces[said.Namespace]; !twice {
			v.namespaces[said.Namespace] = said
			networks = append(networks, networkPattern(said))
		}
		v.addDetails(said)
	}
	v.networks = plaintext.NewPattern("^(" + strings.Join(networks, "|") + ")$")
	v.literals = literalFunctions(v)
	return v
}

// networkPattern matches the ids of a chain's networks.
func networkPattern(said chains.Words) string {
	if said.Numbered {
		return regexp.QuoteMeta(said.Namespace) + ":[1-9][0-9]{0,19}"
	}
	return regexp.QuoteMeta(said.Namespace)
}

// problem returns what is missing in a chain's words, or contradicts those of another.
func (v *vocabulary) problem(said chains.Words) string {
	if said.Namespace == "" || said.Variable == "" || said.ReadAddress == nil || len(said.Units) == 0 {
		return "its words have no namespace, no variable, no units or no way to read addresses"
	}
	if of, taken := v.roots[said.Variable]; taken {
		return "the variable " + said.Variable + " is that of " + of
	}
	for _, unit := range said.Units {
		if other, taken := v.units[unit.Name]; taken && other != (unitName{unit, said.Namespace}) {
			return "the unit " + unit.Name + " is another one of " + other.namespace
		}
	}
	if same, taken := v.namespaces[said.Namespace]; taken && (same.Decimals != said.Decimals || same.Numbered != said.Numbered || same.AddressSize != said.AddressSize) {
		return "another chain has the namespace " + said.Namespace + " with other decimals, networks or addresses"
	}
	return ""
}

// names returns the names of the chains, sorted.
func (v *vocabulary) names() []string { return sortedKeys(v.chains) }

// ofSize returns the namespace whose addresses have a size, empty if there is none or
// several.
func (v *vocabulary) ofSize(size int) (namespace string) {
	for name, said := range v.namespaces {
		if said.AddressSize != size || size == 0 {
			continue
		}
		if namespace != "" {
			return ""
		}
		namespace = name
	}
	return namespace
}

// readAddress reads an address of any chain, which its form determines.
func (v *vocabulary) readAddress(text string) (*address, error) {
	for _, said := range v.order {
		bytes, ok, err := said.ReadAddress(text)
		if err != nil {
			return nil, fmt.Errorf("address %q: %w", shorten(text), err)
		}
		if ok {
			return &address{namespace: said.Namespace, bytes: string(bytes), text: text}, nil
		}
	}
	names := v.names()
	return nil, fmt.Errorf("address %q: not an address of %s or %s", shorten(text), strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}

// examples returns the ids that networks can have, for an error.
func (v *vocabulary) examples() string {
	var ids []string
	for _, name := range sortedKeys(v.namespaces) {
		if v.namespaces[name].Numbered {
			name += ": and a chain id"
		}
		ids = append(ids, name)
	}
	return strings.Join(ids[:len(ids)-1], ", ") + " or " + ids[len(ids)-1]
}

// holdsTokensApart reports whether the tokens of an address's chain are held in accounts of
// their own.
func (v *vocabulary) holdsTokensApart(namespace string) bool {
	return v.namespaces[namespace].TokenAccounts != nil
}

// belong reports whether an account is one of those that hold a wallet's tokens of a mint.
func (v *vocabulary) belong(namespace, account, wallet, mint string) bool {
	said := v.namespaces[namespace]
	return said.TokenAccounts != nil && len(wallet) == said.AddressSize && slices.Contains(said.TokenAccounts(wallet, mint), account)
}
