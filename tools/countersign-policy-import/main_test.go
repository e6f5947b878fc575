package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
)

// TestConvert: the output is a policy file that loads, and the notes say what was left out.
func TestConvert(t *testing.T) {
	for _, test := range []struct{ in, notes, has string }{
		{`{"policies": [
  {"policyName": "Pay one", "effect": "EFFECT_ALLOW", "condition": "solana.tx.transfers.all(t, t.to == 'Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz')", "notes": ""},
  {"policyName": "Secrets", "effect": "EFFECT_DENY", "condition": "secret.static_properties['kind'] == 'creditCard'", "notes": ""}
]}`, "1 of 2 policies converted\n", "    allow: transfer\n"},
		{`{"policies": [{"policyName": "Secrets", "effect": "EFFECT_DENY", "condition": "secret.id == 'y'"}]}`,
			"0 of 1 policies converted\n", "# not carried over: secrets"},
		{`[{"policyName": "allow eth", "effect": "EFFECT_ALLOW", "consensus": "true", "condition": "eth.tx.to == '0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7'"},
 {"policyName": "deny big gas", "effect": "EFFECT_DENY", "condition": "eth.tx.gas * eth.tx.gas_price > 1000000", "consensus": "true"}]`,
			"1 of 2 policies converted\nThese may deny and were not converted, so their rules deny all that they may have named: deny-big-gas\n",
			"    deny: request\n"},
	} {
		var out, notes bytes.Buffer
		if err := convert(strings.NewReader(test.in), &out, &notes); err != nil {
			t.Errorf("%s: %v", test.in, err)
		}
		if !strings.HasPrefix(notes.String(), test.notes) || !strings.Contains(out.String(), test.has) {
			t.Errorf("%s:\n%s\n%s", test.in, &notes, &out)
		}
		if _, err := policy.Parse("imported.yaml", out.Bytes(), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames()}); err != nil {
			t.Errorf("%v\n%s", err, &out)
		}
	}
}

// TestConvertRefuses: without policies there is an error and no output.
func TestConvertRefuses(t *testing.T) {
	for in, want := range map[string]string{
		" \n":                             "standard input is empty: expected the list of policies there",
		"{}":                              "expected a list of policies, or an object with policies",
		"policies":                        "expected policies of the hosted service in JSON: ",
		strings.Repeat("x", maxInput+100): "the list of policies is longer than 8388608 bytes",
	} {
		var out, notes bytes.Buffer
		if err := convert(strings.NewReader(in), &out, &notes); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.20s: %v, want %s", in, err, want)
		}
		if out.Len()+notes.Len() > 0 {
			t.Errorf("%.20s: %s%s", in, &out, &notes)
		}
	}
}
