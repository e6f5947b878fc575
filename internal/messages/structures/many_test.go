package structures_test

import (
	"encoding/hex"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestMany: messages with more effects than a transaction may have show the first, and one
// that is not decoded for the rest. It gets their hazards.
func TestMany(t *testing.T) {
	const (
		permit2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
		seaport = "0x0000000000000068F116a894984e2DB1123eB395"
		thief   = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	)
	encodedTypes := structures.Types()
	message := func(name, contract string, set func(message map[string]any)) []byte {
		i := slices.IndexFunc(encodedTypes, func(encoded string) bool { return strings.HasPrefix(encoded, name+"(") })
		if i < 0 {
			t.Fatalf("there is no %s", name)
		}
		var data map[string]any
		testenv.JSON(t, []byte(zeroMessage(encodedTypes[i], contract)), &data)
		set(data["message"].(map[string]any))
		text := testenv.Encode(t, data)
		return text
	}
	// list repeats the only element of a list. The last entry has an amount that nothing limits.
	list := func(element any, n int, amount string) []any {
		all := make([]any, n)
		for i := range all {
			all[i] = element
		}
		last := map[string]any{}
		maps.Copy(last, element.(map[string]any))
		last[amount] = "0x" + strings.Repeat("f", 40)
		all[n-1] = last
		return all
	}
	for name, test := range map[string]struct {
		of    func(n int) []byte // n effects
		extra string             // the hazard of the last
	}{
		"PermitBatch": {func(n int) []byte {
			return message("PermitBatch", permit2, func(m map[string]any) {
				m["details"] = list(m["details"].([]any)[0], n, "amount")
			})
		}, structures.HazardUnlimitedApproval},
		"PermitBatchTransferFrom": {func(n int) []byte {
			return message("PermitBatchTransferFrom", permit2, func(m map[string]any) {
				m["permitted"] = list(m["permitted"].([]any)[0], n, "amount")
			})
		}, structures.HazardUnlimitedApproval},
		"OrderComponents": {func(n int) []byte {
			return message("OrderComponents", seaport, func(m map[string]any) {
				m["offer"], m["consideration"] = list(m["offer"].([]any)[0], n, "startAmount"), []any{}
			})
		}, ""},
		"SafeTx with a refund": {func(n int) []byte {
			return message("SafeTx", thief, func(m map[string]any) {
				m["to"], m["data"], m["gasPrice"] = permit2, "0x"+hex.EncodeToString(lockdown(t, n-1)), 1
			})
		}, ""},
	} {
		for _, n := range []int{2, chains.MaxEffects - 1, chains.MaxEffects, chains.MaxEffects + 1, chains.MaxEffects + 20} {
			read := read(t, test.of(n), now)
			effects, names := read.Effects(), []string{}
			last := len(effects) - 1
			for _, hazard := range read.Hazards() {
				if index, ok := hazard.Effect(); ok && index == last {
					names = append(names, hazard.Name)
				}
			}
			more := n > chains.MaxEffects
			if len(effects) != min(n, chains.MaxEffects) || effects[last].Undecoded != more || more != slices.Contains(names, "ethereum/blind-call") {
				t.Errorf("%s of %d: %d effects, the last %+v with %v", name, n, len(effects), effects[last], names)
			}
			if test.extra != "" && !more && !slices.Contains(names, test.extra) {
				t.Errorf("%s of %d: the last has the hazards %v, want %s among them", name, n, names, test.extra)
			}
			for _, hazard := range read.Hazards() {
				if index, ok := hazard.Effect(); ok && index > last {
					t.Errorf("%s of %d: hazard %s is of effect %d", name, n, hazard.Name, index)
				}
			}
		}
	}
}

// lockdown returns a call of Permit2 that ends n allowances.
func lockdown(t *testing.T, n int) []byte {
	t.Helper()
	parsed, err := abi.JSON(strings.NewReader(`[{"type":"function","name":"lockdown","inputs":[{"name":"approvals","type":"tuple[]","components":[{"name":"token","type":"address"},{"name":"spender","type":"address"}]}]}]`))
	testenv.Must(t, err)
	pairs := make([]struct{ Token, Spender common.Address }, n)
	for i := range pairs {
		pairs[i].Spender = common.BigToAddress(big.NewInt(int64(i + 1)))
	}
	data, err := parsed.Pack("lockdown", pairs)
	testenv.Must(t, err)
	return data
}
