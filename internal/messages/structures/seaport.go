package structures

import (
	"math/big"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// seaportContracts are Seaport 1.5 and 1.6, at the same addresses on every chain.
var seaportContracts = []evm.Address{
	contract("00000000000000ADc04C56Bf30aC9d3c0aAF14dC"),
	contract("0000000000000068F116a894984e2DB1123eB395"),
}

var seaport = []structure{
	{"OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType," +
		"uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)" +
		"ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)" +
		"OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)", seaportOrder},
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
	if !r.verifiedBy(seaportContracts...) {
		return
	}
	offerer := r.party(r.field("offerer"))
	offer := r.field("offer").List
	for i := range offer {
		asset, most, ok := r.item(&offer[i], true)
		if !ok {
			r.refuse()
			return
		}
		index := r.gives(offerer, chains.UnknownParty(), asset, most, "message/offer/"+strconv.Itoa(i))
		r.effects[index].Until = evm.TimeOf(r.field("endTime").Int)
	}
	if len(r.effects) == 0 { // such an order takes nothing from the offerer
		r.addFrom(chains.Effect{Kind: chains.KindMessage, From: offerer, Path: "message"})
	}
	consideration := r.field("consideration").List
	for i := range consideration {
		item := &consideration[i]
		asset, least, ok := r.item(item, false)
		if !ok {
			r.refuse()
			return
		}
		r.gets(offerer, r.party(at(item, "recipient")), asset, least, false, "message/consideration/"+strconv.Itoa(i))
	}
	r.deadline(r.field("endTime"), whole)
}

// refuse forgets what was read of a message that is not what its type says.
func (r *reading) refuse() { r.effects, r.hazards, r.owners, r.order = nil, nil, nil, false }

// item returns the asset of an item, and the most that it may be if it is offered, otherwise the
// least. An item with criteria may be any token of the collection.
//
// For an item of ERC-20, and for one of ERC-721 alike, Seaport calls transferFrom of whatever
// contract the item names (seaport-core, TokenTransferrer.sol), with the amount or the number. An
// ERC-20 takes the number for its amount.
func (r *reading) item(v *eip712.Value, offered bool) (asset chains.Asset, amount *big.Int, ok bool) {
	amount = smaller(v)
	if offered {
		amount = larger(v)
	}
	number := at(v, "identifierOrCriteria").Int
	switch kind := at(v, "itemType").Int.Uint64(); kind {
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

// anyNumber is the largest number that the taker of an order may choose for an item with
// criteria.
var anyNumber = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

// larger returns the larger of an item's amounts, between which it changes over time.
func larger(item *eip712.Value) *big.Int {
	start, end := at(item, "startAmount").Int, at(item, "endAmount").Int
	if start.Cmp(end) > 0 {
		return start
	}
	return end
}
