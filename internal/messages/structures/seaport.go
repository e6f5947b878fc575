package structures

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// seaportContracts are Seaport 1.5 and 1.6, at the same addresses on every chain.
var seaportContracts = []evm.Address{
	contract("00000000000000ADc04C56Bf30aC9d3c0aAF14dC"),
	contract("0000000000000068F116a894984e2DB1123eB395"),
}

const (
	orderComponents = "OrderComponents(address offerer,address zone,OfferItem[] offer," +
		"ConsiderationItem[] consideration,uint8 orderType," +
		"uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)"
	orderItems = "ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount," +
		"uint256 endAmount,address recipient)" +
		"OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)"
)

var seaport = []structure{
	{orderComponents + orderItems, verifiedBy(seaportContracts...), seaportOrder},
	{bulkOrder + " tree)" + orderItems + orderComponents, verifiedBy(seaportContracts...), seaportBulk},
}

// bulkOrder begins the type of a tree of orders, without how high it is: its leaves are in a pair
// of pairs, up to 24 deep (seaport-core, Verifiers.sol).
const bulkOrder = "BulkOrder(OrderComponents"

// leafType returns the encoded type of a message, of which that of a tree names its leaf alone.
func leafType(encoded string) string {
	if rest, ok := strings.CutPrefix(encoded, bulkOrder+"[2]"); ok {
		const highest = 24
		for i := 1; i < highest && strings.HasPrefix(rest, "[2]"); i++ {
			rest = rest[len("[2]"):]
		}
		return bulkOrder + rest
	}
	return encoded
}

// Seaport's item types.
const (
	itemNative = iota
	itemERC20
	itemERC721
	itemERC1155
	itemERC721Criteria
	itemERC1155Criteria
)

// seaportOrder adds what the order offers, which anyone who provides the consideration may
// take, and the consideration.
func seaportOrder(r *reading) {
	if !r.components(r.message, "message") {
		r.refuse()
	}
}

// seaportBulk adds what each order in a tree does: a signature over its root is one over each of
// them. The tree is hashed from the leaves in the message, so that there are no others.
func seaportBulk(r *reading) {
	if !r.leaves(r.field("tree"), "message/tree") {
		r.refuse()
	}
}

// leaves adds the orders in a tree. A leaf that only fills it is no order of anyone's.
func (r *reading) leaves(tree *chains.TypedValue, path string) bool {
	if tree.Kind == chains.TypedList {
		for i := range tree.List {
			if !r.leaves(&tree.List[i], path+"/"+strconv.Itoa(i)) {
				return false
			}
		}
		return true
	}
	first := len(r.effects)
	switch {
	case len(r.effects) > chains.MaxEffects:
		return true
	case evm.Address(at(tree, "offerer").Bytes) == evm.Address{} && len(at(tree, "offer").List)+len(at(tree, "consideration").List) == 0:
		return true
	}
	ok := r.components(tree, path)
	r.sold(first)
	return ok
}

// components adds what an order does. ok is false if it is not what its type says.
func (r *reading) components(order *chains.TypedValue, path string) (ok bool) {
	offerer, offer := r.party(at(order, "offerer")), at(order, "offer").List
	for i := range offer {
		asset, most, ok := r.item(&offer[i], true)
		if !ok {
			return false
		}
		index := r.gives(offerer, chains.UnknownParty(), asset, most, path+"/offer/"+strconv.Itoa(i))
		r.effects[index].Until = evm.TimeOf(at(order, "endTime").Number)
	}
	if len(offer) == 0 { // such an order takes nothing from the offerer
		r.addFrom(chains.Effect{Kind: chains.KindMessage, From: offerer, Path: path})
	}
	consideration := at(order, "consideration").List
	for i := range consideration {
		item := &consideration[i]
		asset, least, ok := r.item(item, false)
		if !ok {
			return false
		}
		r.gets(offerer, r.party(at(item, "recipient")), asset, least, false, path+"/consideration/"+strconv.Itoa(i))
	}
	r.deadline(at(order, "endTime"), whole)
	return true
}

// refuse forgets what was read of a message that is not what its type says.
func (r *reading) refuse() {
	r.effects, r.hazards, r.owners, r.order, r.orders = nil, nil, nil, false, nil
}

// item returns the asset of an item, and the most that it may be if it is offered, otherwise the
// least. An item with criteria may be any token of the collection.
//
// For an item of ERC-20, and for one of ERC-721 alike, Seaport calls transferFrom of whatever
// contract the item names (seaport-core, TokenTransferrer.sol), with the amount or the number. An
// ERC-20 takes the number for its amount.
func (r *reading) item(v *chains.TypedValue, offered bool) (asset chains.Asset, amount *big.Int, ok bool) {
	amounts := []*big.Int{at(v, "startAmount").Number, at(v, "endAmount").Number} // between which it changes over time
	amount = slices.MinFunc(amounts, (*big.Int).Cmp)
	if offered {
		amount = slices.MaxFunc(amounts, (*big.Int).Cmp)
	}
	number := at(v, "identifierOrCriteria").Number
	switch kind := at(v, "itemType").Number.Uint64(); kind {
	case itemNative:
		return chains.Native(r.network.ID), amount, true
	case itemERC20:
		return r.token(at(v, "token"), evm.ERC20Or721), amount, true
	case itemERC721, itemERC721Criteria:
		asset = r.token(at(v, "token"), evm.ERC20Or721)
		fungible := listed(asset)
		switch {
		case kind == itemERC721Criteria && offered:
			return asset, anyNumber, true
		case kind == itemERC721Criteria && fungible:
			return asset, new(big.Int), true
		case kind == itemERC721 && fungible:
			return asset, number, true
		case kind == itemERC721:
			asset.NFT = number
		}
		return asset, amount, true
	case itemERC1155, itemERC1155Criteria:
		asset = r.token(at(v, "token"), evm.ERC1155)
		if kind == itemERC1155 {
			asset.NFT = number
		}
		return asset, amount, true
	}
	return asset, nil, false
}

// anyNumber is the largest number that the taker of an order may choose for an item with criteria.
var anyNumber = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
