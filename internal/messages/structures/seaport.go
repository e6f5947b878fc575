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
	if !r.domain.is(seaportContracts...) {
		return
	}
	offerer := party(r.field("offerer"))
	offer := r.field("offer").List
	for i := range offer {
		asset, ok := r.item(&offer[i])
		if !ok {
			r.refuse()
			return
		}
		index := r.gives(offerer, chains.UnknownParty(), asset, larger(&offer[i]), "message/offer/"+strconv.Itoa(i))
		r.effects[index].Until = evm.TimeOf(r.field("endTime").Int)
	}
	if len(r.effects) == 0 { // such an order takes nothing from the offerer
		r.addFrom(chains.Effect{Kind: chains.KindMessage, From: offerer, Path: "message"})
	}
	consideration := r.field("consideration").List
	for i := range consideration {
		item := &consideration[i]
		asset, ok := r.item(item)
		if !ok {
			r.refuse()
			return
		}
		r.gets(offerer, party(at(item, "recipient")), asset, smaller(item), false, "message/consideration/"+strconv.Itoa(i))
	}
	r.deadline(r.field("endTime"), whole)
}

// refuse forgets what was read of a message that is not what its type says.
func (r *reading) refuse() { r.effects, r.hazards, r.owners, r.order = nil, nil, nil, false }

// larger returns the larger of an item's amounts, between which it changes over time.
func larger(item *eip712.Value) *big.Int {
	start, end := at(item, "startAmount").Int, at(item, "endAmount").Int
	if start.Cmp(end) > 0 {
		return start
	}
	return end
}

// item returns the asset of an item. An item with criteria may be any token of the
// collection.
func (r *reading) item(v *eip712.Value) (asset chains.Asset, ok bool) {
	var standard string
	switch kind := at(v, "itemType").Int.Uint64(); kind {
	case itemNative:
		return chains.Native(r.domain.network()), true
	case itemERC20:
		return r.token(at(v, "token"), evm.ERC20), true
	case itemERC721, itemERC721Criteria:
		standard = evm.ERC721
	case itemERC1155, itemERC1155Criteria:
		standard = evm.ERC1155
	default:
		return asset, false
	}
	asset = r.token(at(v, "token"), standard)
	if kind := at(v, "itemType").Int.Uint64(); kind == itemERC721 || kind == itemERC1155 {
		asset.NFT = at(v, "identifierOrCriteria").Int
	}
	return asset, true
}
