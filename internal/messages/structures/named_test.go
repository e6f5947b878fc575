package structures_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// unnamed are the members of structures that no effect and no hazard names, by the primary
// type and the member, or the member alone, with the reason.
var unnamed = map[string]string{
	"nonce": "orders signatures", "salt": "orders signatures", "counter": "orders signatures", "time": "orders signatures", "timestamp": "orders signatures",
	"validAfter": "it cannot be used before", "startTime": "it cannot be used before", "nonce of Vote": "orders signatures",
	"maxPriorityFeePerGas":                  "at most the highest price, which the fee is for",
	"gas":                                   "of the account that submits it",
	"gasPerPubdataByteLimit":                "a part of the gas limit, which the fee is for",
	"PermitTransfer version":                "of the structure",
	"OrderComponents conduitKey":            "where the owner has allowed what is offered",
	"OrderComponents zone":                  "may refuse to have the order filled",
	"PermitWitnessTransferFrom to":          "binds only spenders that are known to check it (TestWitnessPayee): any other may pay anyone",
	"PermitWitnessTransferFrom facilitator": "who may submit it, if the spender checks that",
	"OrderComponents orderType":             "who may fill the order",
	"OrderComponents startAmount":           "of what comes back, the smaller of two amounts counts",
	"OrderComponents endAmount":             "of what comes back, the smaller of two amounts counts",
	"OrderComponents identifierOrCriteria":  "of an item that has no number",
	"Order signer":                          "a foreign owner, unless it signs: that depends on the key",
	"Order signatureType":                   "how the owner signs",
	"choice":                                "of a vote, which moves nothing",
	"support":                               "of a vote, which moves nothing",
	"proposalId":                            "of a vote, which moves nothing",
	"Delegation expiry":                     "until when the signature can be used: what it gives does not end",
	"reactor":                               "the spender, or the order is none of the spender's (TestReactors)",
	"inputToken":                            "the token that is permitted, or the order is none of the spender's",
	"PermitWitnessTransferFrom token":       "the token that is permitted, or the order is none of the spender's",
	"baseInputToken":                        "the token that is permitted, or the order is none of the spender's",
	"inputStartAmount":                      "at most the amount that is permitted",
	"baseInputStartAmount":                  "at most the amount that is permitted",
	"decayStartTime":                        "between two amounts, of which the smaller one counts",
	"decayEndTime":                          "between two amounts, of which the smaller one counts",
	"PermitWitnessTransferFrom startAmount": "of what comes back, the smaller of two amounts counts",
	"PermitWitnessTransferFrom endAmount":   "of what comes back, the smaller of two amounts counts",
	"relativeBlocks":                        "how an amount falls to the least, which counts",
	"relativeAmounts":                       "how an amount falls to the least, which counts",
	"adjustmentPerGweiBaseFee":              "how an amount falls to the least, which counts",
	"startingBaseFee":                       "how an amount falls to the least, which counts",
	"maxAmount":                             "the amount that is permitted, or the order is none of the spender's",
	"mpsPerPriorityFeeWei":                  "what more comes back",
	"baselinePriorityFeeWei":                "what more comes back",
	"exclusivityOverrideBps":                "what more comes back",
	"exclusiveFiller":                       "who may fill the order",
	"cosigner":                              "who may make more come back",
	"auctionStartBlock":                     "it cannot be used before",
	"additionalValidationContract":          "may refuse to have the order filled",
	"PermitWitnessTransferFrom deadline":    "of the order: that of the transfer is before, or it fails",
	"OrderComponents token":                 "of a native item",
}

// places are the numbers and addresses of a message, each with the name of the member and a
// function that replaces it.
func places(value any, name string, set func(any), do func(name string, old any, set func(any))) {
	switch value := value.(type) {
	case map[string]any:
		for member, inner := range value {
			places(inner, member, func(by any) { value[member] = by }, do)
		}
	case []any:
		for i := range value {
			places(value[i], name, func(by any) { value[i] = by }, do)
		}
	case float64:
		do(name, value, set)
	case string:
		if len(value) == 42 {
			do(name, value, set)
		}
	}
}

// said returns what the effects and hazards of a message say, without their arguments.
func said(t *testing.T, data map[string]any) (text string, ok bool) {
	t.Helper()
	message := testenv.Encode(t, data)
	read, err := parse(message, now)
	if err != nil {
		return "", false
	}
	for _, e := range read.Effects() {
		text += fmt.Sprintln(e.Kind, e.From, e.By, e.To, e.Account, e.Asset, e.Amount.Bound, e.Amount.Value, e.Until, e.Undecoded)
	}
	for _, hazard := range read.Hazards() {
		text += hazard.Name + " " + hazard.Detail + "\n"
	}
	return text, true
}

// TestEveryMemberIsNamed puts the largest number that its type holds, and the address of a
// stranger, in the place of each member of each structure: an effect or a hazard must say so.
func TestEveryMemberIsNamed(t *testing.T) {
	const alien = "0x7788990000000000000000000000000000000000"
	checked := 0
	for _, encoded := range structures.Types() {
		data := sampleOf(t, encoded)
		before, ok := said(t, data)
		if !ok {
			t.Fatalf("the sample of %s is refused", encoded)
		}
		primary := data["primaryType"].(string)
		places(data["message"], "", nil, func(name string, old any, set func(any)) {
			checked++
			named := false
			if _, isText := old.(string); isText {
				set(alien)
				after, ok := said(t, data)
				named = !ok || after != before && (strings.Contains(after, alien) || strings.Contains(after, structures.HazardUnknownType))
			} else {
				for bits := 256; bits >= 8 && !named; bits -= 8 { // the largest that the type holds
					set("0x" + strings.Repeat("f", bits/4))
					if after, ok := said(t, data); ok {
						named = after != before
						break
					}
				}
			}
			set(old)
			if !named && unnamed[name] == "" && unnamed[primary+" "+name] == "" && !strings.Contains(before, structures.HazardUnknownType) {
				t.Errorf("%s: nothing names %s\n%s", primary, name, before)
			}
		})
	}
	t.Logf("%d members", checked)
}

// sampleOf returns a message of a structure with ones and addresses, of the contract that reads it.
func sampleOf(t *testing.T, encoded string) map[string]any {
	t.Helper()
	contract := tokenOne
	for prefix, at := range map[string]string{"Permit": permit2Address, "OrderComponents": seaportAddress, "PackedUserOperation": entryPoint8,
		"Order(uint256 salt,address maker,address signer": "0x4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E", "Order(address sell": "0x9008D19f58AAbD9eD0D60971565AA8510560ab41",
		"Order(uint256 salt,address maker,address receiver": "0x111111125421cA6dc452d289314280a0f8842A65"} {
		if strings.HasPrefix(encoded, prefix) && !strings.HasPrefix(encoded, "Permit(") {
			contract = at
		}
	}
	var data map[string]any
	testenv.JSON(t, []byte(zeroMessage(encoded, contract)), &data)
	primary, number := data["primaryType"].(string), 0
	domain := data["domain"].(map[string]any)
	name := domainNames[primary]
	switch {
	case strings.HasPrefix(encoded, "Order(uint256 salt,address maker,address receiver"):
		name = "1inch Aggregation Router"
	case strings.HasPrefix(encoded, "Order(uint256 salt"):
		domain["chainId"] = float64(137)
	case strings.HasPrefix(encoded, "Order(address sell"):
		name = "Gnosis Protocol"
	}
	if name != "" {
		domain["name"] = name
		types := data["types"].(map[string]any)
		types["EIP712Domain"] = append(types["EIP712Domain"].([]any), map[string]any{"name": "name", "type": "string"})
	}
	places(data["message"], "", nil, func(name string, old any, set func(any)) {
		number++
		if _, isText := old.(string); isText {
			set(fmt.Sprintf("0x11%038x", number))
			if name == "entryPoint" {
				set(map[bool]string{true: entryPoint7, false: entryPoint6}[strings.Contains(encoded, "uint128")])
			}
			return
		}
		if name != "txType" {
			set(float64(1))
		}
	})
	message := data["message"].(map[string]any)
	for member, value := range map[string]string{"kind": "sell", "sellTokenBalance": "erc20", "buyTokenBalance": "erc20"} {
		if _, ok := message[member].(string); ok && name == "Gnosis Protocol" {
			message[member] = value
		}
	}
	for member, value := range map[string]any{"operation": float64(0), "takerAmount": float64(10_000), "allowed": true} {
		if _, ok := message[member]; ok {
			message[member] = value
		}
	}
	for _, member := range []string{"accountGasLimits", "gasFees"} {
		if _, ok := message[member]; ok {
			message[member] = "0x" + strings.Repeat("00", 15) + "01" + strings.Repeat("00", 15) + "01"
		}
	}
	toReactor(data, 0)
	return data
}
