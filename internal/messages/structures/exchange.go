package structures

import (
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// The contracts of Polymarket on Polygon: two exchanges, and the collateral and the
// conditional tokens that they trade.
var (
	ctfExchanges = []evm.Address{
		contract("4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E"),
		contract("C5d563A36AE78145C45a50134d48A1215220f80a"),
	}
	ctfCollateral = contract("2791Bca1f2de4661ED88A30C99A7a9449Aa84174")
	ctfTokens     = contract("4D97DCd97eC945f40cF65F87097ACe5EA0476045")
)

const polygon = 137

// exchanges are orders and sign-ins of exchanges.
var exchanges = []structure{
	{"Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,uint256 makerAmount,uint256 takerAmount," +
		"uint256 expiration,uint256 nonce,uint256 feeRateBps,uint8 side,uint8 signatureType)", ctfOrder},
	{"ClobAuth(address address,string timestamp,uint256 nonce,string message)", clobAuth},
}

// The sides of an order for conditional tokens.
const (
	sideBuy = iota
	sideSell
)

// ctfOrder adds what the maker of an order gives: collateral or tokens.
func ctfOrder(r *reading) {
	side := r.field("side").Int.Uint64()
	if !r.domain.is(ctfExchanges...) || r.domain.id() != polygon || side > sideSell {
		return
	}
	asset := chains.Token(r.domain.network(), evm.PartyAt(ctfCollateral), evm.ERC20)
	if side == sideSell {
		asset = chains.Token(r.domain.network(), evm.PartyAt(ctfTokens), evm.ERC1155)
		asset.NFT = r.field("tokenId").Int
	}
	to := chains.UnknownParty()
	if taker := r.field("taker"); [20]byte(taker.Bytes) != [20]byte{} {
		to = party(taker)
	}
	index := r.add(chains.Effect{Kind: chains.KindTransfer, From: party(r.field("maker")), To: to, Asset: asset,
		Amount: chains.AtMost(r.field("makerAmount").Int), Path: "message/makerAmount"})
	r.owners = append(r.owners, owner{party(r.field("signer")), index})
	if r.field("takerAmount").Int.Sign() == 0 {
		r.danger(HazardOrderWithoutPrice, index, "takerAmount is 0: the maker gets nothing for what the order gives")
	}
	if expiration := r.field("expiration"); expiration.Int.Sign() != 0 {
		r.effects[index].Until = r.deadline(expiration, index)
	}
}

// clobAuth signs in to an order book. It gets an API key that can list and cancel
// orders; each new order still needs a signature.
func clobAuth(r *reading) {
	if r.domain.name == "ClobAuthDomain" {
		r.addFrom(chains.Effect{Kind: chains.KindMessage, From: party(r.field("address")), Path: "message"})
	}
}
