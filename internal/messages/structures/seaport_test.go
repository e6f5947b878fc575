package structures_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/internal/messages/structures"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const (
	ownerOfOrders = "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"
	wrappedEther  = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
)

// orderOf reads a listing with other items, of which those that come back go to a recipient.
func orderOf(t *testing.T, offer, back []item, recipient string) chains.Transaction {
	t.Helper()
	var message map[string]any
	testenv.JSON(t, []byte(compact(t, "OpenSea listing (Seaport 1.6)")), &message)
	order := message["message"].(map[string]any)
	order["offer"], order["consideration"] = forms(offer, ""), forms(back, recipient)
	text := testenv.Encode(t, message)
	read := read(t, text, now)
	return read
}

// movedOfERC20 is what an ERC-20 moves of an item, as Seaport calls transferFrom: the amount of an
// item of ERC-20, the number of one of ERC-721, and whatever number its taker chooses if that has
// criteria.
func movedOfERC20(i item, most bool) *big.Int {
	number := i.amount
	switch {
	case i.kind == 2:
		number = i.id
	case i.kind == 4 && most:
		return new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	case i.kind == 4:
		return new(big.Int)
	}
	moved, _ := new(big.Int).SetString(number, 10)
	return moved
}

// TestItemsAsTheyAreMoved: Seaport does not ask what kind of contract an item's token is. Of a token
// that is known to be an ERC-20, an effect is what transferFrom moves of it, by whichever kind of item,
// so that it counts, is compared with what comes back, and is unlimited if its taker chooses.
func TestItemsAsTheyAreMoved(t *testing.T) {
	ether := item{0, "0x0000000000000000000000000000000000000000", "0", "1"}
	numbers := []string{"0", "1", "1000000", "1000000000000000000"}
	for _, token := range []string{tokenTwo, wrappedEther} {
		for _, kind := range []int{1, 2, 4} {
			for _, number := range numbers {
				of := item{kind, token, number, "1"}
				if kind == 1 {
					of = item{kind, token, "0", number}
				}
				name := fmt.Sprintf("%d of %s, %s", kind, token, number)
				read := orderOf(t, []item{of}, []item{ether}, ownerOfOrders)
				given, most := read.Effects()[0], movedOfERC20(of, true)
				if given.Asset.NFT != nil || given.Amount.Value.Cmp(most) != 0 || given.Amount.Bound != chains.BoundMost {
					t.Errorf("%s: gives %s %v of number %v, want at most %v", name, given.Amount.Bound, given.Amount.Value, given.Asset.NFT, most)
				}
				if unlimited := slices.Contains(chaintest.Names(read.Hazards()), structures.HazardUnlimitedApproval); unlimited != (kind == 4) {
					t.Errorf("%s: unlimited %v: %v", name, unlimited, read.Hazards())
				}
				got := orderOf(t, []item{ether}, []item{of}, ownerOfOrders).Effects()[1]
				if least := movedOfERC20(of, false); got.Asset.NFT != nil || got.Amount.Value.Cmp(least) != 0 {
					t.Errorf("%s: comes back as %v of number %v, want %v", name, got.Amount.Value, got.Asset.NFT, least)
				}
				for _, back := range []int{1, 2} { // a unit less of the same is no price
					less := new(big.Int).Sub(most, big.NewInt(1))
					if less.Sign() < 0 {
						continue
					}
					price := item{back, token, less.String(), "1"}
					if back == 1 {
						price = item{back, token, "0", less.String()}
					}
					if hazards := chaintest.Names(orderOf(t, []item{of}, []item{price}, ownerOfOrders).Hazards()); !slices.Contains(hazards, structures.HazardOrderWithoutPrice) {
						t.Errorf("%s for a unit less by an item of kind %d: %v", name, back, hazards)
					}
				}
			}
		}
	}
}

// TestItemsOfUnknownTokens: of another contract it is not known whether a number is an amount. The
// standard says so, and an offer of any number is one of any amount.
func TestItemsOfUnknownTokens(t *testing.T) {
	ether := item{0, "0x0000000000000000000000000000000000000000", "0", "1"}
	for kind, want := range map[int]string{1: "7 <nil>", 2: "1 5", 4: movedOfERC20(item{kind: 4}, true).String() + " <nil>"} {
		read := orderOf(t, []item{{kind, tokenOne, "5", map[int]string{1: "7"}[kind] + map[int]string{2: "1", 4: "1"}[kind]}}, []item{ether}, ownerOfOrders)
		given := read.Effects()[0]
		if got := fmt.Sprint(given.Amount.Value, " ", given.Asset.NFT); got != want || given.Asset.Standard != "erc20-or-721" {
			t.Errorf("an item of kind %d: %s of %s, want %s", kind, got, given.Asset.Standard, want)
		}
		if unlimited := slices.Contains(chaintest.Names(read.Hazards()), structures.HazardUnlimitedApproval); unlimited != (kind == 4) {
			t.Errorf("an item of kind %d: %v", kind, read.Hazards())
		}
	}
	bid := orderOf(t, []item{{1, wrappedEther, "0", "1"}}, []item{{4, tokenOne, "0", "1"}}, ownerOfOrders) // any NFT of a collection
	if hazards := bid.Hazards(); len(hazards) > 0 {
		t.Errorf("a bid for a collection: %v", hazards)
	}
}
