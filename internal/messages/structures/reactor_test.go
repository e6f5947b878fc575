package structures_test

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// toReactor makes a sample one for the reactor of its order on a chain, or, if that is 0, on the
// first that has one. ok is false if the sample is no such order.
func toReactor(data map[string]any, chain uint64) (ok bool) {
	message := data["message"].(map[string]any)
	order, ok := message["witness"].(map[string]any)
	if !ok || order["info"] == nil {
		return false
	}
	var kind string
	for _, member := range data["types"].(map[string]any)["PermitWitnessTransferFrom"].([]any) {
		if member := member.(map[string]any); member["name"] == "witness" {
			kind = member["type"].(string)
		}
	}
	rows := structures.Reactors()[kind]
	if chain == 0 {
		chain = slices.Min(slices.Collect(maps.Keys(rows)))
	}
	data["domain"].(map[string]any)["chainId"] = float64(chain)
	message["spender"] = common.HexToAddress(rows[chain]).Hex()
	order["info"].(map[string]any)["reactor"] = message["spender"]
	input := inputOf(order)
	for name := range input {
		if strings.HasSuffix(strings.ToLower(name), "token") {
			input[name] = message["permitted"].(map[string]any)["token"]
		}
	}
	return true
}

// inputOf returns the structure with the members of an order's input, which may be the order.
func inputOf(order map[string]any) map[string]any {
	for _, name := range []string{"baseInput", "input"} {
		if input, ok := order[name].(map[string]any); ok {
			return input
		}
	}
	return order
}

// outputsOf returns the outputs of an order.
func outputsOf(order map[string]any) []any {
	if outputs, ok := order["outputs"].([]any); ok {
		return outputs
	}
	return order["baseOutputs"].([]any)
}

// reactorSamples calls do with an order for each reactor of a type. Its swapper is also the recipient of its
// outputs, which are in USDC.
func reactorSamples(t *testing.T, do func(name string, data map[string]any)) {
	t.Helper()
	for _, encoded := range structures.Types() {
		data := sampleOf(t, encoded)
		if !toReactor(data, 0) {
			continue
		}
		kind, _, _ := strings.Cut(strings.SplitAfter(encoded, "uint256 deadline,")[1], " ")
		for _, chain := range slices.Sorted(maps.Keys(structures.Reactors()[kind])) {
			toReactor(data, chain)
			order := data["message"].(map[string]any)["witness"].(map[string]any)
			order["info"].(map[string]any)["swapper"] = ownerOfOrders
			for _, output := range outputsOf(order) {
				output.(map[string]any)["recipient"] = ownerOfOrders
			}
			do(fmt.Sprint(kind, " on ", chain), data)
		}
	}
}

func parsed(t *testing.T, data map[string]any) chains.Transaction {
	t.Helper()
	text := testenv.Encode(t, data)
	read := read(t, text, now)
	return read
}

func kindsOf(read chains.Transaction) (kinds []chains.Kind) {
	for _, effect := range read.Effects() {
		kinds = append(kinds, effect.Kind)
	}
	return kinds
}

// TestReactors: an order is a sale at the reactor of its type on its chain, and at no other spender: with
// one byte of the address changed, on another chain, or with another permission than the order's, it
// is an allowance.
func TestReactors(t *testing.T) {
	rows := 0
	reactorSamples(t, func(name string, data map[string]any) {
		rows++
		message := data["message"].(map[string]any)
		permitted, domain := message["permitted"].(map[string]any), data["domain"].(map[string]any)
		if kinds := kindsOf(parsed(t, data)); !slices.Equal(kinds, []chains.Kind{chains.KindTransfer, chains.KindReceive}) {
			t.Fatalf("%s: %v", name, kinds)
		}
		info := message["witness"].(map[string]any)["info"].(map[string]any)
		for i := range 20 {
			other := common.HexToAddress(message["spender"].(string))
			other[i] ^= 1
			for _, changed := range []struct {
				of   map[string]any
				name string
			}{{message, "spender"}, {info, "reactor"}} {
				before := changed.of[changed.name]
				changed.of[changed.name] = other.Hex()
				if kinds := kindsOf(parsed(t, data)); !slices.Equal(kinds, []chains.Kind{chains.KindApprove}) {
					t.Errorf("%s with byte %d of the %s changed: %v", name, i, changed.name, kinds)
				}
				changed.of[changed.name] = before
			}
		}
		for _, changed := range []struct {
			of    map[string]any
			name  string
			value any
		}{{domain, "chainId", float64(5)}, {permitted, "amount", "2"}, {permitted, "token", tokenOne}} {
			before := changed.of[changed.name]
			changed.of[changed.name] = changed.value
			if kinds := kindsOf(parsed(t, data)); !slices.Equal(kinds, []chains.Kind{chains.KindApprove}) {
				t.Errorf("%s with another %s: %v", name, changed.name, kinds)
			}
			changed.of[changed.name] = before
		}
	})
	if want := 26; rows != want {
		t.Errorf("%d rows, want %d", rows, want)
	}
}

// TestReactorPrice: what comes back is the least of an output to the swapper. An order that gives
// nothing back, or only to others, has no price.
func TestReactorPrice(t *testing.T) {
	reactorSamples(t, func(name string, data map[string]any) {
		outputs := outputsOf(data["message"].(map[string]any)["witness"].(map[string]any))
		output := outputs[0].(map[string]any)
		for _, member := range []string{"startAmount", "endAmount", "minAmount", "amount"} {
			if _, ok := output[member]; ok {
				output[member] = "7"
			}
		}
		if _, ok := output["startAmount"]; ok {
			output["startAmount"] = "9"
		}
		received := parsed(t, data).Effects()[1]
		if received.Amount.Bound != chains.BoundLeast || received.Amount.Value.String() != "7" {
			t.Errorf("%s: %s %v, want at least 7", name, received.Amount.Bound, received.Amount.Value)
		}
		output["recipient"] = payee
		if names := chaintest.Names(parsed(t, data).Hazards()); !slices.Contains(names, structures.HazardOrderWithoutPrice) {
			t.Errorf("%s, to a stranger: %v", name, names)
		}
		output["recipient"] = ownerOfOrders
		for _, member := range []string{"endAmount", "minAmount", "amount"} {
			if _, ok := output[member]; ok {
				output[member] = "0"
			}
		}
		if names := chaintest.Names(parsed(t, data).Hazards()); !slices.Contains(names, structures.HazardOrderWithoutPrice) {
			t.Errorf("%s, for nothing: %v", name, names)
		}
	})
}

// TestRelayedWitnesses: who pays on another chain, or is deployed anew all the time, takes all that is
// permitted. What its order says comes back is an argument.
func TestRelayedWitnesses(t *testing.T) {
	const order = "address recipient,address outputToken,uint256 outputAmount"
	const settler = "0x70bf6634eE8Cb27D04478f184b9b8BB13E5f4710"
	open := []string{settler, "0xcA11bde05977b3631167028862bE2a173976CA11", "0x9641d764fc13c8B624c04430C7356C1C7C8102e2",
		"0x5BA1e12693Dc8F9c48aAD8770482f4739bEeD696", "0x924a9f036260DdD5808007E1AA95f08eD08aA569"}
	for _, kind := range []string{"DepositData", "SwapAndDepositData", "GaslessCrossChainOrder", "LiFiCall", "Slippage", "SlippageAndActions"} {
		for _, spender := range append(open, payee) {
			encoded := "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline," + kind + " witness)" +
				kind + "(" + order + ")TokenPermissions(address token,uint256 amount)"
			var data map[string]any
			testenv.JSON(t, []byte(zeroMessage(encoded, permit2Address)), &data)
			message := data["message"].(map[string]any)
			message["spender"], message["permitted"].(map[string]any)["amount"] = spender, "1000"
			message["deadline"] = fmt.Sprint(now.Unix() + 600)
			effect := parsed(t, data).Effects()[0]
			relayed := spender == payee || spender == settler && strings.HasPrefix(kind, "Slippage")
			switch {
			case !relayed:
				if effect.Kind != chains.KindApprove {
					t.Errorf("%s at a contract that anyone drives: %s", kind, effect.Kind)
				}
			case effect.Kind != chains.KindTransfer || effect.To.String() != spender || effect.Amount.Bound != chains.BoundMost || effect.Amount.Value.Cmp(big.NewInt(1000)) != 0:
				t.Errorf("%s: %+v", kind, effect)
			case !slices.ContainsFunc(effect.Args, func(arg chains.Arg) bool { return arg.Name == "witness.outputAmount" }):
				t.Errorf("%s: %v", kind, effect.Args)
			}
			message["permitted"].(map[string]any)["amount"] = "0x" + strings.Repeat("f", 64)
			want := structures.HazardUnlimitedApproval
			if !relayed {
				want = "ethereum/burn"
			}
			if names := chaintest.Names(parsed(t, data).Hazards()); !slices.Contains(names, want) {
				t.Errorf("all of it by %s: %v", kind, names)
			}
		}
	}
}
