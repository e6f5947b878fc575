package docs_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
)

// cowMembers are the members of an order of CoW Protocol that the sample of messages.md
// allows, and what a thief would write in their place. buyAmount is 0.1 WETH.
var cowMembers = []struct{ name, kind, value, robbed string }{
	{"sellToken", "address", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"},
	{"buyToken", "address", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "0x1111111111111111111111111111111111111111"},
	{"receiver", "address", "0x0000000000000000000000000000000000000000", "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"},
	{"sellAmount", "uint256", "999000000", "1000000000"},
	{"buyAmount", "uint256", "100000000000000000", "1"},
	{"validTo", "uint32", "1795700000", "4294967295"},
	{"appData", "bytes32", "0x" + strings.Repeat("0", 64), ""},
	{"feeAmount", "uint256", "0", "999000000"},
	{"kind", "string", "sell", "give"},
	{"partiallyFillable", "bool", "false", ""},
	{"sellTokenBalance", "string", "erc20", "vault"},
	{"buyTokenBalance", "string", "erc20", "external"},
}

// cowOrder returns an order with one member replaced, in a domain with a chain and a
// contract.
func cowOrder(t *testing.T, replaced, by, chain, contract string) activity.Intent {
	t.Helper()
	order, types := map[string]any{}, []map[string]string{}
	for _, member := range cowMembers {
		order[member.name] = member.value
		types = append(types, map[string]string{"name": member.name, "type": member.kind})
	}
	if replaced != "" {
		order[replaced] = by
	}
	order["partiallyFillable"] = order["partiallyFillable"] == "true"
	text, err := json.Marshal(map[string]any{
		"types": map[string]any{"Order": types, "EIP712Domain": []map[string]string{{"name": "name", "type": "string"}, {"name": "version", "type": "string"},
			{"name": "chainId", "type": "uint256"}, {"name": "verifyingContract", "type": "address"}}},
		"primaryType": "Order", "message": order,
		"domain": map[string]any{"name": "Gnosis Protocol", "version": "v2", "chainId": chain, "verifyingContract": contract},
	})
	testenv.Must(t, err)
	return activity.SignRawPayloadIntent{SignWith: "k", Payload: string(text), Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone}
}

// TestOrderSample robs the sample of messages.md for orders of CoW Protocol: an order that
// differs in any member from one that it is for is refused.
func TestOrderSample(t *testing.T) {
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(read(t, "messages.md"))
	file := engines.Policy(t, block[1], nil)
	decide := func(intent activity.Intent) error {
		read, err := all.InspectIntent(intent, all.Limits{})
		testenv.Must(t, err)
		_, err = file.Decide(t.Context(), access.Authorization{Intent: intent, Chain: read.Summary.Chain, Summary: func() *chains.Summary { return &read.Summary }, Effects: read.Effects, Hazards: read.Hazards})
		return err
	}
	const settlement, thief = "0x9008D19f58AAbD9eD0D60971565AA8510560ab41", "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af"
	if err := decide(cowOrder(t, "", "", "1", settlement)); err != nil {
		t.Errorf("an order that the sample is for: %v", err)
	}
	for _, member := range cowMembers {
		if member.robbed == "" {
			continue
		}
		if err := decide(cowOrder(t, member.name, member.robbed, "1", settlement)); err == nil {
			t.Errorf("an order whose %s is %s is signed", member.name, member.robbed)
		}
	}
	for _, domain := range [][2]string{{"10", settlement}, {"1", thief}} {
		if err := decide(cowOrder(t, "", "", domain[0], domain[1])); err == nil {
			t.Errorf("an order in the domain %v is signed", domain)
		}
	}
}
