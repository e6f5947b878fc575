package policy

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// vocabulary is what a file knows of its chains, as the chains say it.
type vocabulary struct {
	table      intents.Table
	chains     map[string]*chains.Words // by name of the chain
	order      []*chains.Words          // as the chains are listed
	namespaces map[string]*chains.Words // the first with each namespace
	roots      map[string]root          // variables of details
	units      map[string]unitName
	networks   *plaintext.Pattern // ids of networks
}

// root is the variable of a chain's details.
type root struct {
	chain string // its name
	words *chains.Words
	kind  *types.Type
}

// unitName is a constructor of amounts.
type unitName struct {
	chains.Unit
	namespace string // whose native asset it counts; empty: any asset
}

// anyUnits is the constructor of amounts in the smallest units of whatever they are
// compared with.
const anyUnits = "units"

// newVocabulary asks the chains. It returns an error if two of them have one name or contradict
// each other, or if one says too little for policies about it.
func newVocabulary(list []chains.Chain) (*vocabulary, error) {
	table, err := intents.New(list)
	if err != nil {
		return nil, err
	}
	if len(table) == 0 {
		return nil, errors.New("none is listed: list those that the engine signs for")
	}
	v := &vocabulary{
		table: table, chains: map[string]*chains.Words{}, namespaces: map[string]*chains.Words{},
		roots: map[string]root{}, units: map[string]unitName{anyUnits: {Unit: chains.Unit{Name: anyUnits}}},
	}
	var networks []string
	for _, chain := range table {
		name, said := chain.Name(), chain.Words()
		if problem := v.problem(&said); problem != "" {
			return nil, fmt.Errorf("chain %s: %s", name, problem)
		}
		v.chains[name] = &said
		v.roots[said.Variable] = root{name, &said, types.NewObjectType(said.Variable + " details")}
		v.order = append(v.order, &said)
		for _, unit := range said.Units {
			v.units[unit.Name] = unitName{unit, said.Namespace}
		}
		if _, twice := v.namespaces[said.Namespace]; !twice {
			v.namespaces[said.Namespace] = &said
			ids := regexp.QuoteMeta(said.Namespace)
			if said.Numbered {
				ids += ":[1-9][0-9]{0,19}"
			}
			networks = append(networks, ids)
		}
	}
	v.networks = plaintext.NewPattern("^(" + strings.Join(networks, "|") + ")$")
	return v, nil
}

// problem returns what is missing in a chain's words, or contradicts those of another.
func (v *vocabulary) problem(said *chains.Words) string {
	if said.Namespace == "" || said.Variable == "" || said.ReadAddress == nil || len(said.Units) == 0 {
		return "its words have no namespace, no variable, no units or no way to read addresses"
	}
	if of, taken := v.roots[said.Variable]; taken {
		return "the variable " + said.Variable + " is that of " + of.chain
	}
	for _, unit := range said.Units {
		if other, taken := v.units[unit.Name]; taken && other != (unitName{unit, said.Namespace}) {
			return "the unit " + unit.Name + " is another one of " + other.namespace
		}
	}
	form := func(w *chains.Words) [3]any { return [3]any{w.Decimals, w.Numbered, w.AddressSize} }
	if same, taken := v.namespaces[said.Namespace]; taken && form(same) != form(said) {
		return "another chain has the namespace " + said.Namespace + " with other decimals, networks or addresses"
	}
	return ""
}

func (v *vocabulary) names() []string { return sortedKeys(v.chains) }

// chain returns the words of a chain by name: none if it is not known.
func (v *vocabulary) chain(name string) *chains.Words {
	if said, known := v.chains[name]; known {
		return said
	}
	return new(chains.Words)
}

// ofNetwork returns the words of a network's namespace, by the network's id: if no chain has that,
// its name alone.
func (v *vocabulary) ofNetwork(id string) *chains.Words {
	namespace := namespaceOf(id)
	if said, known := v.namespaces[namespace]; known {
		return said
	}
	return &chains.Words{Namespace: namespace}
}

// ofSize returns the words of the namespace whose addresses have a size, which are empty if
// there is none or several.
func (v *vocabulary) ofSize(size int) *chains.Words {
	found := new(chains.Words)
	for _, said := range v.namespaces {
		if said.AddressSize != size || size == 0 {
			continue
		}
		if found.Namespace != "" {
			return new(chains.Words)
		}
		found = said
	}
	return found
}

// hasNamespace reports whether one of the chains with these names has a namespace.
func (v *vocabulary) hasNamespace(names []string, namespace string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return v.chain(name).Namespace == namespace })
}

// readAddress reads an address of any chain, which its form determines.
func (v *vocabulary) readAddress(text string) (*address, error) {
	for _, said := range v.order {
		bytes, ok, err := said.ReadAddress(text)
		if err != nil {
			return nil, fmt.Errorf("address %q: %w", shorten(text), err)
		}
		if ok {
			return &address{words: said, bytes: string(bytes), text: text}, nil
		}
	}
	return nil, fmt.Errorf("address %q: not an address of %s", shorten(text), either(v.names()))
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
	return either(ids)
}

// either joins names for a sentence: a, b or c.
func either(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}

// newAmount returns the amount of a constructor, such as ether and "0.5".
func (v *vocabulary) newAmount(name, text string) (*amount, error) {
	of := v.units[name]
	value, err := parseUnits(text, of.Decimals)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &amount{value: value, unit: unit{native: of.namespace, symbol: of.Symbol, any: name == anyUnits}}, nil
}
