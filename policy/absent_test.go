package policy_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
)

// undecided evaluates a deny, and returns its error; "" if there is none.
func undecided(t *testing.T, on, when string, asked access.Authorization) string {
	t.Helper()
	rule := "  - {name: no, deny: [transfer, call, message], when: " + quoted(when) + "}\n"
	if on != "" {
		rule = "  - {name: no, deny: request, on: " + on + ", when: " + quoted(when) + "}\n"
	}
	got, _ := decide(t, "schema: countersign.policy/2\nrules:\n"+rule+"  - {name: all, allow: request}\n", asked)
	if !strings.Contains(got, "could not be decided") {
		return ""
	}
	return got
}

// TestAbsentMembers: using a member that an effect, an asset, a key or a reading does not
// have is an error that names it, even in a comparison with an empty text. has() is not.
func TestAbsentMembers(t *testing.T) {
	transfer := func(change func(*chains.Effect)) access.Authorization {
		effect := ether(t, treasury, 1)
		change(&effect)
		return ask(effect)
	}
	plain := transfer(func(*chains.Effect) {})
	read := transfer(func(e *chains.Effect) { e.Kind, e.Path = chains.KindCall, "call" })
	read.Readings = chains.Readings{{Path: "call", Function: "f()"}}
	noKey := transfer(func(*chains.Effect) {})
	noKey.Keys = []access.SigningKey{{ID: "k-1", Addresses: []string{"no address"}}}
	message := func(size int) access.Authorization {
		asked := ask(chains.Effect{Kind: chains.KindMessage, By: chains.BySigner, To: chains.PartyWritten(make([]byte, size), "party")})
		about(&asked, "")
		return asked
	}
	for _, test := range []struct {
		when  string
		asked access.Authorization
		want  string // empty: decided
	}{
		{"effect.until == timestamp('2026-11-23T09:00:00Z')", plain, "effect.until is absent"},
		{"effect.until == timestamp('2026-11-23T09:00:00Z')", transfer(func(e *chains.Effect) { e.Until = chains.Until{Height: 5} }), "effect.until is unknown"},
		{"effect.function == ''", plain, "effect.function is absent"},
		{"effect.arg('memo') == ''", plain, "effect.arg('memo') is absent"},
		{"effect.arg('to') == 'a'", transfer(func(e *chains.Effect) { e.Args = []chains.Arg{{Name: "to", Value: "a"}, {Name: "to", Value: "b"}} }), "two arguments have this name"},
		{"effect.number('memo') == 0", plain, "effect.arg('memo') is absent"},
		{"effect.number('memo') == 0", transfer(func(e *chains.Effect) { e.Args = []chains.Arg{{Name: "memo", Value: "1.5"}} }), `is "1.5", which is no integer`},
		{"effect.number('memo') == 0", transfer(func(e *chains.Effect) { e.Args = []chains.Arg{{Name: "memo", Value: "5, 6"}} }), `is "5, 6", which is no integer`},
		{"effect.number('memo') == 0", transfer(func(e *chains.Effect) { e.Args = []chains.Arg{{Name: "memo", Value: "9223372036854775808"}} }), "which is no integer"},
		{"effect.number('memo') == -5", transfer(func(e *chains.Effect) { e.Args = []chains.Arg{{Name: "memo", Value: "-5"}} }), ""},
		{"effect.arg('memo') != 'a'", transfer(func(e *chains.Effect) {
			e.Args, e.Unresolved = []chains.Arg{{Name: "memo", Value: "unknown"}}, []string{"memo"}
		}), "effect.arg('memo') is unknown"},
		{"effect.from == address('" + thief + "')", plain, "effect.from is absent"},
		{"effect.account == address('" + thief + "')", plain, "effect.account is absent"},
		{"effect.to == address('" + thief + "')", transfer(func(e *chains.Effect) { e.To = chains.Party{} }), "effect.to is absent"},
		{"effect.asset.token == address('" + thief + "')", plain, "asset.token is absent"},
		{"effect.asset.id == ''", plain, "asset.id is absent"},
		{"effect.asset.native", transfer(func(e *chains.Effect) { e.Asset = chains.Asset{} }), "effect.asset is absent"},
		{"effect.asset.native", transfer(func(e *chains.Effect) { e.Asset = chains.UnknownAsset("eip155:1") }), "effect.asset is unknown"},
		{"effect.amount > wei('1')", transfer(func(e *chains.Effect) { e.Amount = chains.Quantity{} }), "effect.amount is absent"},
		{"effect.amount > wei('1')", transfer(func(e *chains.Effect) { e.Asset = chains.UnknownAsset("eip155:1") }), "effect.amount is unknown"},
		{"key.wallet == ''", plain, "key.wallet is absent"},
		{"key.wallet_name == ''", plain, "key.wallet_name is absent"},
		{"key.path == ''", plain, "key.path is absent"},
		{"key.name == ''", noKey, "key.name is absent"},
		{"address('" + thief + "') in key.addresses", noKey, "key.addresses is unknown"},
		{"effect.reading.intent == ''", read, "effect.reading.intent is absent"},
		{"effect.reading.owner == ''", read, "effect.reading.owner is absent"},
		{"effect.reading.digest == ''", read, "effect.reading.digest is absent"},
		{"effect.to == address('" + thief + "')", message(19), "effect.to is unknown"},
		{"effect.to == address('" + thief + "')", message(20), ""},
		{"effect.to == address('" + thief + "')", message(32), ""},
		{"has(effect.until) || has(effect.function) || has(effect.account) || has(effect.asset.token) || has(effect.asset.id) || has(key.wallet)", plain, ""},
	} {
		if got := undecided(t, "", test.when, test.asked); !strings.Contains(got, test.want) || (test.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", test.when, got, test.want)
		}
	}
}

// TestAbsentDetails: using a detail that a transaction does not have is an error, and so is
// one whose value is not of its type: a chain that is ANY, an entry of a lookup table,
// bytes of which the summary has only the beginning.
func TestAbsentDetails(t *testing.T) {
	field := func(label string, kind chains.FieldType, value string) chains.Field {
		return chains.Field{Label: label, Type: kind, Value: value}
	}
	cut := field("data", chains.TypeBytes, "0011")
	cut.Length = 99
	for _, test := range []struct {
		on, when string
		fields   []chains.Field
		want     string
	}{
		{"ethereum", "eth.tx.nonce == 5", nil, "nonce is absent"},
		{"ethereum", "eth.tx.chain_id == 1", []chains.Field{field("chain", chains.TypeText, "ANY").As("chain_id")}, "chain_id is unknown"},
		{"ethereum", "eth.tx.value == wei('1')", []chains.Field{field("value", chains.TypeText, "1")}, "value is unknown"},
		{"ethereum", "eth.tx.value == wei('1')", []chains.Field{field("value", chains.TypeAmount, "none")}, "value is unknown"},
		{"ethereum", "eth.tx.to == address('" + thief + "')", []chains.Field{field("to", chains.TypeText, thief)}, "to is unknown"},
		{"ethereum", "eth.tx.function_signature == '0xa9059cbb'", nil, "function_signature is absent"},
		{"ethereum", "eth.tx.function_name == ''", []chains.Field{chains.List("call")}, "function_name is absent"},
		{"solana", "solana.tx.instructions[0].data == '0x0011'", []chains.Field{chains.List("instructions", chains.List("instruction 0", cut))}, "data is absent"},
		{"solana", "solana.tx.instructions[0].program_key == address('11111111111111111111111111111111')",
			[]chains.Field{chains.List("instructions", chains.List("instruction 0", field("program", chains.TypeText, "entry 5 of table T").As("program_key")))}, "is unknown"},
		{"solana", "address('11111111111111111111111111111111') in solana.tx.program_keys", nil, "program_keys is absent"},
		{"solana", "address('11111111111111111111111111111111') in solana.tx.program_keys",
			[]chains.Field{chains.List("instructions", chains.List("instruction 0", field("program", chains.TypeText, "entry 5 of table T").As("program_key")))}, "is unknown"},
		{"solana", "solana.tx.instructions[0].data == '0x0011'", nil, "index out of bounds"},
		{"tempo", "tempo.tx.valid_before <= timestamp('2026-11-23T09:00:00Z')", []chains.Field{field("valid before", chains.TypeText, "no limit")}, "valid_before is absent"},
		{"tempo", "tempo.tx.valid_before <= timestamp('2026-11-23T09:00:00Z')", []chains.Field{field("valid before", chains.TypeTime, "noon")}, "valid_before is absent"},
		{"bitcoin", "bitcoin.tx.inputs[0].vout == 1", []chains.Field{chains.List("inputs", chains.List("input 0", field("outpoint", chains.TypeText, "00:x")))}, "vout is absent"},
		{"bitcoin", "bitcoin.tx.outputs[0].address == address('bc1q0xcqpzrky6eff2g52qdye53xkk9jxkvrh6yhyw')",
			[]chains.Field{chains.List("outputs", chains.List("output 0", field("address", chains.TypeAddress, "not hex")))}, "encoding/hex"},
	} {
		asked := ask(ether(t, treasury, 1))
		about(&asked, test.on, test.fields...)
		if got := undecided(t, test.on, test.when, asked); !strings.Contains(got, test.want) || got == "" {
			t.Errorf("%s: %q, want %q", test.when, got, test.want)
		}
	}
}

// TestAddressesOfOtherChains: an address belongs to one chain. A Bitcoin script with the
// bytes of a listed Ethereum or Solana account is not that account: anyone may be able to
// spend from it.
func TestAddressesOfOtherChains(t *testing.T) {
	const wallet = "Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz"
	text := "schema: countersign.policy/2\nlists: {mine: [\"" + treasury + "\", " + wallet + "]}\nrules:\n" +
		"  - {name: pays, allow: transfer, when: \"effect.to in mine || effect.to == address('" + treasury + "')\"}\n"
	for chain, test := range map[string]struct {
		to      []byte
		allowed bool
	}{
		"eip155:1": {party(t, treasury).Address(), true},
		"solana":   {base58.Decode(wallet), true},
		"bip122":   {party(t, treasury).Address(), false},
		"tron":     {append([]byte{0x41}, party(t, treasury).Address()...), false},
	} {
		names := map[string]string{"eip155:1": "ethereum", "bip122": "bitcoin"}
		for _, to := range [][]byte{test.to, base58.Decode(wallet)} {
			if test.allowed && string(to) != string(test.to) {
				continue
			}
			asked := ask(chains.Effect{Kind: chains.KindTransfer, By: chains.BySigner, To: chains.PartyWritten(to, "written"),
				Asset: chains.Native(chain), Amount: chains.Exactly(big.NewInt(1))})
			about(&asked, chain)
			if name := names[chain]; name != "" {
				asked.Chain = name
			}
			if got, _ := decide(t, text, asked); strings.HasPrefix(got, "allowed") != test.allowed {
				t.Errorf("%s: %s", chain, got)
			}
		}
	}
}
