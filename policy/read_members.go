package policy

import (
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
)

func (r *rule) readOf(n source.Node) {
	values := []string{ofTransactions, ofMessages}
	if r.of = n.Text("of"); !slices.Contains(values, r.of) {
		n.Fail("%s", source.Meant("of: "+shorten(r.of)+" is neither transactions nor messages", r.of, values))
	}
}

func (r *rule) readNetworks(words *vocabulary, n source.Node) {
	for _, item := range n.Texts("chains") {
		network := words.readNetwork(item)
		if len(r.on) > 0 && !words.hasNamespace(r.on, namespaceOf(network)) {
			item.Fail("%s is no network of %s, which this rule is on", network, strings.Join(r.on, ", "))
		}
		r.networks = append(r.networks, network)
	}
}

// checkPrice requires a rule that asks for what is received to say what that pays for: with
// each: 1 one effect of a payload, with bundle: true all that it decides.
func (r *rule) checkPrice(n source.Node, each bool) {
	switch {
	case r.deny && (each || r.bundle || r.alone):
		n.Fail("a deny has no each, bundle or alone")
	case each && r.bundle:
		n.Fail("each: 1 and bundle: true exclude each other")
	case !r.priced && (each || r.bundle):
		n.Fail("each and bundle are of rules that ask for what is received, as in effects.exists(e, e.kind == 'receive' && …)")
	case !r.deny && r.priced && !each && !r.bundle:
		n.Fail("what is received is counted once: add 'each: 1' if it is the price of one effect, " +
			"'bundle: true' if of all that this rule decides together")
	case r.alone && !r.request && !slices.Contains(r.kinds, chains.KindFee):
		n.Fail("alone: true is of rules on fee: it lets a fee be all that a request is for")
	case r.alone && len(r.limits) == 0:
		n.Fail("alone: true pays for whatever is sent, any number of times: add a limit, such as 'limit: gas-day'")
	}
}

// chainless are the hazards of what is valid on every chain, and so names none.
var chainless = []string{"no-chain-id", "any-chain-authorization", "empty-domain"}

// checkHazards requires a rule that allows hazards to say whether it is of transactions or
// messages and, where networks have numbers, on which of them. One that lists what names no
// network is of nothing else then.
func (r *rule) checkHazards(words *vocabulary, n source.Node) {
	if len(r.hazards) > 0 && r.of == "" {
		n.Fail("a rule with hazards says what it is of: add 'of: transactions' or 'of: messages'")
	}
	numbered := func(chain string) bool { return words.chain(chain).Numbered }
	if len(r.networks) > 0 || len(r.on) > 0 && !slices.ContainsFunc(r.on, numbered) {
		return
	}
	isChainless := func(hazard string) bool {
		_, what, _ := strings.Cut(hazard, "/")
		return slices.Contains(chainless, what)
	}
	at := slices.IndexFunc(r.hazards, func(hazard string) bool {
		whose, _, _ := strings.Cut(hazard, "/")
		return (hazard == blindCall || whose == "eip712" || numbered(whose)) && !isChainless(hazard)
	})
	switch {
	case at >= 0 && slices.ContainsFunc(r.hazards, isChainless):
		r.networks = []string{""}
	case at >= 0:
		n.Fail("%s is another danger on each network: add the networks, such as 'chains: [eip155:1]'", r.hazards[at])
	}
}
