package policy_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/policy"
)

// detail is a variable of a chain's details, the labels of its field in the summary, and a
// function that writes the field's value as a literal.
type detail struct {
	variable string
	labels   string // joined by /
	literal  func(of *chains.Field) string
}

func asText(of *chains.Field) string    { return "'" + of.Value + "'" }
func asInteger(of *chains.Field) string { return of.Value }
func asBytes(of *chains.Field) string   { return "'0x" + of.Value + "'" }
func asAddress(of *chains.Field) string { return "address('" + of.Value + "')" }
func asTime(of *chains.Field) string    { return "timestamp('" + of.Value + "')" }
func in(unit string) func(*chains.Field) string {
	return func(of *chains.Field) string { return unit + "('" + of.Value + "')" }
}

// detailsOf are the variables by chain. Those of list elements are of the first element.
var detailsOf = map[string][]detail{
	"ethereum": {
		{"eth.tx.to", "to", asAddress}, {"eth.tx.value", "value", in("wei")}, {"eth.tx.chain_id", "chain", asInteger},
		{"eth.tx.nonce", "nonce", asInteger}, {"eth.tx.gas", "gas", asInteger}, {"eth.tx.gas_price", "gas price", in("wei")},
		{"eth.tx.max_fee_per_gas", "max fee per gas", in("wei")}, {"eth.tx.max_priority_fee_per_gas", "max priority fee per gas", in("wei")},
		{"eth.tx.max_fee", "maximum fee", in("wei")},
	},
	"solana": {
		{"solana.tx.version", "version", asText}, {"solana.tx.fee_payer", "fee payer", asAddress}, {"solana.tx.recent_blockhash", "recent blockhash", asText},
		{"solana.tx.instructions[0].program_key", "instructions/instruction 0/program", asAddress},
		{"solana.tx.instructions[0].operation", "instructions/instruction 0/operation", asText},
		{"solana.tx.instructions[0].data", "instructions/instruction 0/data", asBytes},
	},
	"tron": {
		{"tron.tx.expires", "expires", asTime}, {"tron.tx.fee_limit", "fee limit", in("sun")}, {"tron.tx.memo", "memo", asText},
		{"tron.tx.contract[0].type", "type", asText}, {"tron.tx.contract[0].owner_address", "owner", asAddress},
		{"tron.tx.contract[0].to_address", "to", asAddress}, {"tron.tx.contract[0].contract_address", "contract", asAddress},
		{"tron.tx.contract[0].amount", "amount", in("sun")}, {"tron.tx.contract[0].call_value", "value", in("sun")},
		{"tron.tx.contract[0].data", "data", asBytes},
	},
	"bitcoin": {
		{"bitcoin.tx.fee", "fee", in("sats")},
		{"bitcoin.tx.inputs[0].value", "inputs/input 0/amount", in("sats")}, {"bitcoin.tx.inputs[0].script_type", "inputs/input 0/script type", asText},
		{"bitcoin.tx.inputs[0].sighash", "inputs/input 0/sighash", asText}, {"bitcoin.tx.outputs[0].value", "outputs/output 0/amount", in("sats")},
	},
	"tempo": {
		{"tempo.tx.chain_id", "chain", asInteger}, {"tempo.tx.nonce", "nonce", asInteger}, {"tempo.tx.fee_token", "fee token", asAddress},
		{"tempo.tx.gas_limit", "gas", asInteger}, {"tempo.tx.valid_before", "valid before", asTime}, {"tempo.tx.valid_after", "valid after", asTime},
	},
}

// vectorSummaries returns the summaries of the transactions in a chain's vectors, by file and
// number.
func vectorSummaries(t *testing.T, chain string) map[string]*chains.Summary {
	t.Helper()
	found := map[string]*chains.Summary{}
	err := filepath.WalkDir(filepath.Join("..", "chains", chain, "testdata"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".json" {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, text := range textsIn(content) {
			read, err := all.Inspect(activity.TransactionType("TRANSACTION_TYPE_"+strings.ToUpper(chain)), text, all.Limits{})
			if err == nil && read.Summary.Chain == chain {
				found[fmt.Sprintf("%s %d", filepath.Base(path), len(found))] = &read.Summary
			}
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("no vectors of %s: %v", chain, err)
	}
	return found
}

// textsIn returns the long texts in JSON, wherever they are.
func textsIn(content []byte) (texts []string) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	for {
		token, err := decoder.Token()
		if err != nil {
			return texts
		}
		if text, ok := token.(string); ok && len(text) > 80 {
			texts = append(texts, text)
		}
	}
}

// fieldsAt returns all fields at a path of labels.
func fieldsAt(fields []chains.Field, labels string) (matches []*chains.Field) {
	label, rest, deeper := strings.Cut(labels, "/")
	for i := range fields {
		switch {
		case fields[i].Label != label:
		case deeper:
			matches = append(matches, fieldsAt(fields[i].Fields, rest)...)
		default:
			matches = append(matches, &fields[i])
		}
	}
	return matches
}

// TestDetails: for the vectors of all chains, a variable of the details equals the summary's
// field, and is an error if the summary has no such field or a value of another type. Each
// variable occurs at least once. No label occurs twice: people would see a value that rules
// do not.
func TestDetails(t *testing.T) {
	for chain, table := range detailsOf {
		summaries := vectorSummaries(t, chain)
		for _, one := range table {
			occurrences := 0
			for name, summary := range summaries {
				if summary.Chain != chain {
					continue
				}
				shown := fieldsAt(summary.Fields, one.labels)
				if len(shown) > 1 {
					t.Errorf("%s: %s occurs %d times", name, one.labels, len(shown))
				}
				got := equals(t, chain, summary, one, shown)
				if got == "equal" {
					occurrences++
				}
				if got == "other" {
					t.Errorf("%s: %s is not %s, which the summary shows", name, one.variable, shown[0].Value)
				}
			}
			if occurrences == 0 {
				t.Errorf("%s is in no summary of %d", one.variable, len(summaries))
			}
		}
	}
}

// equals evaluates whether a variable equals the summary's field: "equal", "other" or
// "error".
func equals(t *testing.T, chain string, summary *chains.Summary, one detail, shown []*chains.Field) string {
	t.Helper()
	of := &chains.Field{}
	if len(shown) > 0 {
		of = shown[0]
	} else {
		of.Value = someValue(one)
	}
	literal := one.literal(of)
	text := "schema: countersign.policy/2\nrules:\n  - {name: is, deny: request, on: " + chain + ", when: " + quoted(one.variable+" == "+literal) + "}\n  - {name: all, allow: request}\n"
	if len(shown) > 0 && !loads(text) {
		return "error" // the field's value is not of the type, such as ANY
	}
	asked := ask(chains.Effect{Kind: chains.KindFee, By: chains.BySigner})
	about(&asked, summary.Chain, summary.Fields...)
	got, _ := decide(t, text, asked)
	switch {
	case strings.Contains(got, "could not be decided"):
		if len(shown) > 0 && shown[0].Length == 0 && !otherAsset(shown[0], literal) {
			t.Errorf("%s is shown as %s, and cannot be used: %s", one.variable, shown[0].Value, got)
		}
		return "error"
	case strings.Contains(got, "rule is denies"):
		if len(shown) > 0 && otherAsset(shown[0], literal) {
			t.Errorf("%s is taken for the native asset, and is shown as %s %s", one.variable, shown[0].Value, shown[0].Symbol)
		}
		if len(shown) == 0 {
			t.Errorf("%s has a value where the summary has none", one.variable)
		}
		return "equal"
	case len(shown) == 0:
		t.Errorf("%s is decided where the summary has none: %s", one.variable, got)
	}
	return "other"
}

// otherAsset reports whether a literal in a native unit stands for a field with an amount
// of another asset, such as a number of TRC-10 tokens.
func otherAsset(shown *chains.Field, literal string) bool {
	native := map[string]string{"sun": "TRX", "sats": "BTC"}
	unit, _, _ := strings.Cut(literal, "(")
	symbol, known := native[unit]
	return known && (shown.Type != chains.TypeAmount || shown.Symbol != symbol)
}

// someValue returns a value that a literal accepts, for a missing field.
func someValue(one detail) string {
	for value := range strings.FieldsSeq("1 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 11111111111111111111111111111111 TPoqpax8MrHNhHhfCaCycnWeC4tUgvtBwn 2026-11-23T09:00:00Z") {
		chain := map[string]string{"eth": "ethereum"}[strings.SplitN(one.variable, ".", 2)[0]]
		if chain == "" {
			chain = strings.SplitN(one.variable, ".", 2)[0]
		}
		if loads(fmt.Sprintf("schema: countersign.policy/2\nrules:\n  - {name: is, deny: request, on: %s, when: %s}\n", chain,
			quoted(one.variable+" == "+one.literal(&chains.Field{Value: value})))) {
			return value
		}
	}
	return ""
}

func loads(text string) bool {
	_, err := policy.Parse("p.yaml", []byte(text), options())
	return err == nil
}

// TestBitcoinTotals: for the vectors of Bitcoin, rules and limits count exactly the sum of
// the inputs, fee included: no input is spent without an effect, and no output is counted
// that no input pays. If signatures leave outputs open, no sum can be decided.
func TestBitcoinTotals(t *testing.T) {
	counted := 0
	for name, summary := range vectorSummaries(t, "bitcoin") {
		worth, known := inputsOf(summary)
		if !known || len(fieldsAt(summary.Fields, "fee")) != 1 {
			continue // the amounts are not known
		}
		unknown := slices.ContainsFunc(summary.Effects, func(one chains.Effect) bool { return one.Amount.IsUnknown() })
		if !unknown {
			counted++
		}
		asked := ask(summary.Effects...)
		about(&asked, summary.Chain, summary.Fields...)
		for off, want := range map[int64]bool{-1: false, 0: true, 1: false} {
			sum := new(big.Int).Add(worth, big.NewInt(off))
			text := "schema: countersign.policy/2\nassets: {coin: {chain: bip122, token: native}}\nrules:\n  - {name: is, deny: request, when: \"request.total(coin) == sats('" + sum.String() + "')\"}\n  - {name: all, allow: request}\n"
			got, _ := decide(t, text, asked)
			if unknown && strings.Contains(got, "could not be decided") {
				continue // signatures leave outputs open
			}
			if unknown || strings.Contains(got, "rule is denies") != want {
				t.Errorf("%s: the inputs are worth %s sat; asked about %s: %s", name, worth, sum, got)
			}
		}
	}
	if counted < 3 {
		t.Errorf("%d vectors with a known fee", counted)
	}
}

// inputsOf returns the sum of a PSBT's inputs, if all amounts are known.
func inputsOf(summary *chains.Summary) (*big.Int, bool) {
	sum := new(big.Int)
	for _, inputs := range fieldsAt(summary.Fields, "inputs") {
		for i := range inputs.Fields {
			amounts := fieldsAt(inputs.Fields[i].Fields, "amount")
			if len(amounts) != 1 || amounts[0].Type != chains.TypeAmount {
				return nil, false
			}
			one, ok := new(big.Int).SetString(amounts[0].Value, 10)
			if !ok {
				return nil, false
			}
			sum.Add(sum, one)
		}
	}
	return sum, sum.Sign() > 0
}
