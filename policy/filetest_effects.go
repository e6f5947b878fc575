package policy

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
)

// readEffects reads the effects of a test that has no transaction, and their readings.
func (d *draft) readEffects(n source.Node) (effects []chains.Effect, readings chains.Readings) {
	for i, item := range n.Items("effects") {
		effect := chains.Effect{By: chains.BySigner, Controlled: chains.ControlledNo, Path: fmt.Sprintf("effect %d", i)}
		var decimals int
		var amount source.Node
		item.Fields("an effect", map[string]func(source.Node){
			"kind": func(n source.Node) {
				effect.Kind = chains.Kind(oneOf(n, "kind", "%s is not a kind of effect", kindNames()))
			},
			"from":    func(n source.Node) { effect.From = d.words.readParty(n) },
			"to":      func(n source.Node) { effect.To = d.words.readParty(n) },
			"account": func(n source.Node) { effect.Account = d.words.readParty(n) },
			"asset":   func(n source.Node) { effect.Asset, decimals = d.testAsset(n) },
			"amount":  func(n source.Node) { amount = n },
			"by": func(n source.Node) {
				values := d.closedValues(effectType, "by")
				effect.By = chains.By(oneOf(n, "by", "by: %s is none of "+strings.Join(values, ", "), values))
			},
			"function":  func(n source.Node) { effect.Function = n.Text("function") },
			"undecoded": func(n source.Node) { effect.Undecoded = n.Boolean("undecoded") },
			"change":    func(n source.Node) { effect.Change = n.Boolean("change") },
			"domain":    func(n source.Node) { effect.Domain = n.Text("domain") },
			"owners": func(n source.Node) {
				for _, owner := range n.Texts("owners") {
					effect.Owners = append(effect.Owners, d.words.readParty(owner))
				}
			},
			"reached": func(n source.Node) { effect.Reached = n.Boolean("reached") },
			"mine": func(n source.Node) {
				if n.Boolean("mine") {
					effect.Controlled = chains.ControlledYes
				}
			},
			"reading": func(n source.Node) { readings = append(readings, readTestReading(n, effect.Path)) },
		})
		if effect.To.IsUnknown() {
			effect.Controlled = chains.ControlledUnknown
		}
		if amount.Node != nil {
			effect.Amount = readTestAmount(amount, decimals)
		}
		if effect.Kind == "" {
			item.Fail("an effect needs a kind")
		}
		effects = append(effects, effect)
	}
	return effects, readings
}

func (v *vocabulary) readParty(n source.Node) chains.Party {
	text := n.Text("address")
	if text == "unknown" {
		return chains.UnknownParty()
	}
	address, err := v.readAddress(text)
	if err != nil {
		n.Fail("%v", err)
		return chains.Party{}
	}
	return address.party()
}

// testAsset reads an asset: one of the file by name, the native asset of a chain, or
// "token", a chain and an address. It returns the asset with its decimals.
func (d *draft) testAsset(n source.Node) (chains.Asset, int) {
	name := n.Text("asset")
	if asset, ok := d.assets[name]; ok {
		return asset.Asset, max(asset.decimals, 0)
	}
	if d.words.networks.MatchString(name) {
		return chains.Native(name), d.words.ofNetwork(name).Decimals
	}
	if token, ok := strings.CutPrefix(name, "token "); ok {
		chain, text, _ := strings.Cut(token, " ")
		if address, err := d.words.readAddress(text); err == nil {
			return chains.Token(chain, address.party(), ""), 0
		}
	}
	n.Fail("%s", source.Meant("there is no asset "+shorten(name), name, sortedKeys(d.assets)))
	return chains.Asset{}, 0
}

func readTestAmount(n source.Node, decimals int) chains.Quantity {
	switch text := n.Text("amount"); text {
	case "unlimited":
		return chains.Unlimited(nil)
	case "unknown":
		return chains.UnknownQuantity()
	case "all":
		return chains.All()
	default:
		value, err := parseUnits(text, decimals)
		if err != nil {
			n.Fail("amount: %v", err)
			return chains.Quantity{}
		}
		return chains.Exactly(value)
	}
}

// readTestReading reads what descriptors say about the call of an effect:
//
//	reading: {function: "swap(uint256)", complete: true, args: {amount: "5"}}
func readTestReading(n source.Node, path string) chains.Reading {
	reading := chains.Reading{Path: path}
	n.Fields("a reading", map[string]func(source.Node){
		"function": func(n source.Node) { reading.Function = n.Text("function") },
		"intent":   func(n source.Node) { reading.Intent = n.Text("intent") },
		"owner":    func(n source.Node) { reading.Owner = n.Text("owner") },
		"digest":   func(n source.Node) { reading.Digest = n.Text("digest") },
		"complete": func(n source.Node) { reading.Complete = n.Boolean("complete") },
		"args": func(n source.Node) {
			for _, arg := range n.Pairs("args") {
				reading.Args = append(reading.Args, chains.Arg{Name: arg.Name, Value: arg.Text("an argument")})
			}
		},
	})
	if reading.Function == "" {
		n.Fail("a reading needs a function")
	}
	return reading
}
