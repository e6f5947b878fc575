package structures_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/structures"
)

// item is an item of a Seaport order: its kind, token, id and amount.
type item struct {
	kind      int // 0: ether, 1: ERC-20, 2: ERC-721, 3: ERC-1155
	token, id string
	amount    string
}

// form returns the item as a message has it, with a recipient if it is one of the consideration.
func (i item) form(recipient string) map[string]any {
	form := map[string]any{
		"itemType": fmt.Sprint(i.kind), "token": i.token, "identifierOrCriteria": i.id, "startAmount": i.amount, "endAmount": i.amount,
	}
	if recipient != "" {
		form["recipient"] = recipient
	}
	return form
}

// TestPriceInTheAssetSold checks that what an order takes from its owner is no price for itself:
// only more of an asset than is taken of it, in all items together, comes back.
func TestPriceInTheAssetSold(t *testing.T) {
	const (
		owner = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
		other = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	)
	usdc := func(amount string) item { return item{1, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0", amount} }
	dai := func(amount string) item { return item{1, "0x6B175474E89094C44Da98b954EedeAC495271d0F", "0", amount} }
	ether := func(amount string) item { return item{0, "0x0000000000000000000000000000000000000000", "0", amount} }
	ape := func(id string) item { return item{2, "0xBC4CA0EdA7647A8aB7C2061c2E118A18a936f13D", id, "1"} }
	const thousand, hundred = "1000000000", "100000000"
	for name, test := range map[string]struct {
		offer, back []item
		priced      bool
	}{
		"a unit of the same":              {[]item{usdc(thousand)}, []item{usdc("1")}, false},
		"as much of the same":             {[]item{usdc(thousand)}, []item{usdc(thousand)}, false},
		"more of the same":                {[]item{usdc(thousand)}, []item{usdc("1000000001")}, true},
		"less, in two items":              {[]item{usdc(thousand), usdc(thousand)}, []item{usdc(thousand), usdc("999999999")}, false},
		"more, in two items":              {[]item{usdc(thousand)}, []item{usdc(thousand), usdc("1")}, true},
		"an NFT for less than what is in": {[]item{ape("42"), usdc(thousand)}, []item{usdc(hundred)}, false},
		"the NFT itself":                  {[]item{ape("42")}, []item{ape("42")}, false},
		"the NFT itself, and money":       {[]item{ape("42")}, []item{ape("42"), ether("1")}, true},
		"money for the NFT and the same":  {[]item{ape("42"), usdc(thousand)}, []item{ape("42")}, false},
		"another asset":                   {[]item{usdc(thousand)}, []item{dai("1")}, true},
		"the same and another":            {[]item{usdc(thousand)}, []item{usdc("1"), ether("1")}, true},
		"an NFT of the same collection":   {[]item{ape("42")}, []item{ape("43")}, false},
		"ether for WETH and money":        {[]item{usdc(thousand), {1, wrappedEther, "0", "7"}}, []item{ether("7")}, false},
		"more ether for WETH and money":   {[]item{usdc(thousand), {1, wrappedEther, "0", "7"}}, []item{ether("8")}, true},
		"an NFT for money":                {[]item{ape("42")}, []item{usdc("1")}, true},
		"money for an NFT":                {[]item{usdc(thousand)}, []item{ape("42")}, true},
	} {
		for _, recipient := range []string{owner, other} {
			t.Run(fmt.Sprintf("%s/to the owner %v", name, recipient == owner), func(t *testing.T) {
				read := orderOf(t, test.offer, test.back, recipient)
				priced := !slices.Contains(chaintest.Names(read.Hazards()), structures.HazardOrderWithoutPrice)
				if want := test.priced && recipient == owner; priced != want {
					t.Errorf("priced: %v, want %v: %v", priced, want, read.Hazards())
				}
			})
		}
	}
}

func forms(items []item, recipient string) []any {
	forms := make([]any, len(items))
	for i := range items {
		forms[i] = items[i].form(recipient)
	}
	return forms
}
