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

// seaportOrder adds what the order offers: anyone who provides the consideration may
// take it.
func seaportOrder(r *reading) {
	if !r.domain.is(seaportContracts...) {
		return
	}
	offerer := party(r.field("offerer"))
	offer := r.field("offer").List
	for i := range offer {
		asset, ok := r.item(&offer[i])
		if !ok {
			r.effects, r.hazards, r.owners = nil, nil, nil
			return
		}
		index := r.addFrom(chains.Effect{Kind: chains.KindTransfer, From: offerer, To: chains.UnknownParty(), Asset: asset,
			Amount: chains.AtMost(larger(&offer[i])), Path: "message/offer/" + strconv.Itoa(i)})
		r.effects[index].Until = evm.TimeOf(r.field("endTime").Int)
	}
	if len(r.effects) == 0 { // such an order takes nothing from the offerer
		r.addFrom(chains.Effect{Kind: chains.KindMessage, From: offerer, Path: "message"})
	} else if !r.paid() {
		r.danger(HazardOrderWithoutPrice, whole, "%s gets nothing for what the order offers", offerer)
	}
	r.deadline(r.field("endTime"), whole)
}

// paid reports whether an item of the consideration goes to the offerer.
func (r *reading) paid() bool {
	consideration := r.field("consideration").List
	for i := range consideration {
		item := &consideration[i]
		always := at(item, "startAmount").Int.Sign() > 0 && at(item, "endAmount").Int.Sign() > 0
		if always && party(at(item, "recipient")).Equal(party(r.field("offerer"))) {
			return true
		}
	}
	return false
}

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
