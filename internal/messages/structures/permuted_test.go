package structures_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// listMember is the list of a structure, and the members of its items that are drawn.
type listMember struct {
	prefix, contract, list string
	drawn                  map[string][]any
}

var lists = []listMember{
	{"PermitBatch(", permit2Address, "details", map[string][]any{
		"token": {tokenOne, tokenTwo}, "amount": {"0", "1", "0x" + strings.Repeat("f", 40)}, "expiration": {0, 1, int64(281474976710655)}}},
	{"PermitBatchTransferFrom(", permit2Address, "permitted", map[string][]any{
		"token": {tokenOne, tokenTwo}, "amount": {"0", "1", "0x" + strings.Repeat("f", 40)}}},
	{"OrderComponents(", seaportAddress, "offer", map[string][]any{
		"token": {tokenOne, tokenTwo}, "startAmount": {"1", "7"}, "endAmount": {"1", "9"}, "itemType": {1}}},
}

const (
	permit2Address = "0x000000000022D473030F116dDEE9F6B43aC78BA3"
	seaportAddress = "0x0000000000000068F116a894984e2DB1123eB395"
	tokenOne       = "0x1111111111111111111111111111111111111111"
	tokenTwo       = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
)

// TestOrderOfEffects: an item before the others, such as a unit of a worthless token,
// neither takes a hazard from another effect nor gets one that belongs to the whole
// message, and the order of the items does not matter.
func TestOrderOfEffects(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 9))
	whole := map[string]bool{}
	for range 300 {
		for _, of := range lists {
			i := slices.IndexFunc(structures.Types(), func(encoded string) bool { return strings.HasPrefix(encoded, of.prefix) })
			var data map[string]any
			testenv.JSON(t, []byte(zeroMessage(structures.Types()[i], of.contract)), &data)
			message := data["message"].(map[string]any)
			sample := message[of.list].([]any)[0].(map[string]any)
			for _, name := range []string{"sigDeadline", "deadline", "endTime"} {
				if _, ok := message[name]; ok && random.IntN(2) == 0 {
					message[name] = "9999999999"
				}
			}
			if random.IntN(2) == 0 {
				delete(data["domain"].(map[string]any), "chainId")
				data["types"].(map[string]any)["EIP712Domain"] = []any{map[string]any{"name": "verifyingContract", "type": "address"}}
				data["domain"] = map[string]any{"verifyingContract": of.contract}
			}
			var items []any
			for range 1 + random.IntN(4) {
				item := maps.Clone(sample)
				for name, values := range of.drawn {
					item[name] = values[random.IntN(len(values))]
				}
				items = append(items, item)
			}
			if _, ok := message["consideration"]; ok {
				message["consideration"] = []any{}
			}
			message[of.list] = items
			want := hazardsByItem(t, data, items)
			for _, name := range want["the message"] {
				whole[name] = true
			}
			random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
			if got := hazardsByItem(t, data, items); !maps.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%s in another order: %v, want %v", of.prefix, got, want)
			}
			alone := slices.Clone(items[:1])
			message[of.list] = alone
			for whose, names := range hazardsByItem(t, data, alone) {
				if !slices.Equal(names, want[whose]) {
					t.Fatalf("%s: %s alone has %v, among others %v", of.prefix, whose, names, want[whose])
				}
			}
		}
	}
	for _, name := range []string{structures.HazardNoChainID, structures.HazardFarDeadline, structures.HazardOrderWithoutPrice} {
		if !whole[name] {
			t.Errorf("no message had %s as a whole", name)
		}
	}
}

// hazardsByItem returns the hazards of a message as a whole and those of each item of its
// list, by the item's content.
func hazardsByItem(t *testing.T, data map[string]any, items []any) map[string][]string {
	t.Helper()
	text := testenv.Encode(t, data)
	read := read(t, text, now)
	if len(read.Effects()) != len(items) {
		t.Fatalf("%d effects of %d items: %s", len(read.Effects()), len(items), text)
	}
	found := map[string][]string{}
	for _, hazard := range read.Hazards() {
		whose := "the message"
		if index, ok := hazard.Effect(); ok {
			whose = fmt.Sprint(items[index])
		}
		if !slices.Contains(found[whose], hazard.Name) {
			found[whose] = append(found[whose], hazard.Name)
		}
	}
	for _, names := range found {
		slices.Sort(names)
	}
	return found
}
