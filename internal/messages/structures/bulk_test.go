package structures_test

import (
	"fmt"
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

// TestDelegatecallsInside: code that is not a Safe's own runs as the Safe however deep in MultiSends the
// delegatecall is, and perhaps wherever what a MultiSend is told cannot be read.
func TestDelegatecallsInside(t *testing.T) {
	const multiSend, stranger = "38869bf66a61cF6bDB996A6aE40D5853Fd43B526", "08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	packed := func(operation int, to, data string) string {
		return fmt.Sprintf("%02x%s%064x%064x%s", operation, to, 0, len(data)/2, data)
	}
	sent := func(offset int, transactions string) string {
		padded := transactions + strings.Repeat("0", (64-len(transactions)%64)%64)
		return fmt.Sprintf("8d80ff0a%064x%s%064x%s", offset, strings.Repeat("0", 2*(offset-32)), len(transactions)/2, padded)
	}
	const payment = "a9059cbb00000000000000000000000008d2b0a37f869ff76bacb5bab3278e26ab7067b70000000000000000000000000000000000000000000000000000000000000007"
	pays, runs := packed(0, tokenTwo[2:], payment), packed(1, stranger, "12345678")
	deep := func(transactions string, depth int) string {
		for range depth {
			transactions = pays + packed(1, multiSend, sent(32, transactions))
		}
		return sent(32, transactions)
	}
	for name, c := range map[string]struct {
		data string
		runs bool
	}{
		"payments":              {sent(32, pays+pays), false},
		"payments, deeper":      {deep(pays, 3), false},
		"a delegatecall":        {sent(32, runs), true},
		"behind a payment":      {sent(32, pays+runs+pays), true},
		"deeper":                {deep(runs, 1), true},
		"deeper still":          {deep(runs, 5), true},
		"too deep to be read":   {deep(runs, 12), true},
		"at another offset":     {sent(64, runs), true},
		"with its end cut off":  {sent(32, pays+runs[:len(runs)-2]), true},
		"another function's":    {"12345678", true},
		"an operation of none":  {sent(32, packed(2, stranger, "")), true},
		"a call of an unknown":  {sent(32, packed(0, stranger, "12345678")), false},
		"a call of a MultiSend": {sent(32, packed(0, multiSend, sent(32, runs))), false},
	} {
		var data map[string]any
		testenv.JSON(t, []byte(compact(t, "Safe transaction: delegatecall")), &data)
		message := data["message"].(map[string]any)
		message["to"], message["data"] = "0x"+multiSend, "0x"+c.data
		names := chaintest.Names(parsed(t, data).Hazards())
		if slices.Contains(names, structures.HazardDelegatecall) != c.runs {
			t.Errorf("%s: %v", name, names)
		}
	}
}
