package structures_test

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// bulkOf returns a tree of copies of a listing, each changed by its number, with leaves that
// fill it up.
func bulkOf(t *testing.T, height, orders int, change func(i int, order map[string]any)) map[string]any {
	t.Helper()
	copied := func() map[string]any {
		var data map[string]any
		testenv.JSON(t, []byte(compact(t, "OpenSea listing (Seaport 1.6)")), &data)
		return data
	}
	var leaves []any
	for i := range 1 << height {
		order := copied()["message"].(map[string]any)
		if i >= orders {
			order["offerer"], order["offer"], order["consideration"] = "0x0000000000000000000000000000000000000000", []any{}, []any{}
		} else if change != nil {
			change(i, order)
		}
		leaves = append(leaves, order)
	}
	for len(leaves) > 1 {
		var pairs []any
		for i := 0; i < len(leaves); i += 2 {
			pairs = append(pairs, []any{leaves[i], leaves[i+1]})
		}
		leaves = pairs
	}
	data := copied()
	data["primaryType"], data["message"] = "BulkOrder", map[string]any{"tree": leaves[0]}
	data["types"].(map[string]any)["BulkOrder"] = []any{map[string]any{"name": "tree", "type": "OrderComponents" + strings.Repeat("[2]", height)}}
	return data
}

// TestBulkOrders: a tree of orders does what each of its leaves does, and has the hazards of each.
func TestBulkOrders(t *testing.T) {
	one := read(t, []byte(compact(t, "OpenSea listing (Seaport 1.6)")), now)
	for height, orders := range map[int]int{1: 1, 2: 3, 5: 32} {
		read := parsed(t, bulkOf(t, height, orders, nil))
		if effects := read.Effects(); len(effects) != orders*len(one.Effects()) || len(read.Hazards()) != 0 {
			t.Errorf("%d orders: %d effects, hazards %v", orders, len(effects), read.Hazards())
		}
		given := new(big.Int)
		for _, effect := range read.Effects() {
			if effect.By == chains.BySigner && effect.Amount.Bound == chains.BoundMost {
				given.Add(given, effect.Amount.Value)
			}
		}
		if given.Int64() != int64(orders) {
			t.Errorf("%d orders give %s", orders, given)
		}
	}
}

// TestOneOfABulk: one leaf that is dangerous by itself makes the tree dangerous, wherever it is, and whatever
// the others get.
func TestOneOfABulk(t *testing.T) {
	evil := map[string]func(order map[string]any){
		structures.HazardOrderWithoutPrice: func(order map[string]any) { order["consideration"] = []any{} },
		structures.HazardFarDeadline:       func(order map[string]any) { order["endTime"] = "9999999999" },
		structures.HazardForeignOwner:      func(order map[string]any) { order["offerer"] = tokenOne },
		structures.HazardUnlimitedApproval: func(order map[string]any) {
			offered := order["offer"].([]any)[0].(map[string]any)
			offered["itemType"], offered["token"], offered["identifierOrCriteria"] = "1", wrappedEther, "0"
			offered["startAmount"], offered["endAmount"] = "0x"+strings.Repeat("f", 64), "0x"+strings.Repeat("f", 64)
		},
	}
	for name, change := range evil {
		for at := range 4 {
			read := parsed(t, bulkOf(t, 2, 4, func(i int, order map[string]any) {
				if i == at {
					change(order)
				}
			}))
			names := chaintest.Names(read.Hazards())
			if name == structures.HazardForeignOwner { // which depends on the signer
				owners := map[string]bool{}
				for _, effect := range read.Effects() {
					owners[effect.From.String()] = true
				}
				if !owners[tokenOne] {
					t.Errorf("leaf %d: %v", at, slices.Collect(maps.Keys(owners)))
				}
				continue
			}
			if !slices.Contains(names, name) {
				t.Errorf("leaf %d, %s: %v", at, name, names)
			}
		}
	}
	unread := parsed(t, bulkOf(t, 1, 2, func(i int, order map[string]any) {
		order["offer"].([]any)[0].(map[string]any)["itemType"] = "9"
	}))
	if names := chaintest.Names(unread.Hazards()); !slices.Contains(names, structures.HazardHiddenContents) {
		t.Errorf("an item of an unknown kind: %v", names)
	}
	large := parsed(t, bulkOf(t, 8, 256, func(i int, order map[string]any) {
		if back := order["consideration"].([]any); i == 0 {
			order["consideration"] = append(back, back[0])
		}
	}))
	if effects := large.Effects(); len(effects) != chains.MaxEffects || !effects[chains.MaxEffects-1].Undecoded {
		t.Errorf("256 orders: %d effects", len(effects))
	}
}

// TestSafeTexts: a message of a Safe that is a text is judged as any other text is, and one that is none is
// not known.
func TestSafeTexts(t *testing.T) {
	const encoded = "SafeMessage(bytes message)"
	for name, c := range map[string]struct {
		message string
		hazards []string
	}{
		"a text":     {"0x68656c6c6f2c20776f726c6421", []string{chains.HazardFreeText}},
		"a hash":     {"0x" + strings.Repeat("ab", 32), []string{structures.HazardHiddenContents, structures.HazardUnknownType}},
		"bytes":      {"0x00ff", []string{structures.HazardUnknownType}},
		"no message": {"0x", []string{structures.HazardUnknownType}},
	} {
		var data map[string]any
		testenv.JSON(t, []byte(zeroMessage(encoded, tokenOne)), &data)
		data["message"].(map[string]any)["message"] = c.message
		names := chaintest.Names(parsed(t, data).Hazards())
		if slices.Sort(names); !slices.Equal(names, c.hazards) {
			t.Errorf("%s: %v, want %v", name, names, c.hazards)
		}
	}
}
