package structures

import (
	"math/big"
	"slices"

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
	{"Order(address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData," +
		"uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance)", cowOrder},
	{"ClobAuth(address address,string timestamp,uint256 nonce,string message)", clobAuth},
}

// The sides of an order for conditional tokens.
const (
	sideBuy = iota
	sideSell
)

// ctfOrder adds what the maker of an order gives, collateral or tokens, and gets, tokens or
// collateral. The fee is at most its rate of what the maker gets (ctf-exchange,
// CalculatorHelper.sol).
func ctfOrder(r *reading) {
	side := r.field("side").Int.Uint64()
	if !r.verifiedBy(ctfExchanges...) || r.network.ChainID != polygon || side > sideSell {
		return
	}
	given := chains.Token(r.network.ID, r.network.Party(ctfCollateral), evm.ERC20)
	got := chains.Token(r.network.ID, r.network.Party(ctfTokens), evm.ERC1155)
	got.NFT = r.field("tokenId").Int
	if side == sideSell {
		given, got = got, given
	}
	to := chains.UnknownParty()
	if taker := r.field("taker"); [20]byte(taker.Bytes) != [20]byte{} {
		to = r.party(taker)
	}
	maker, least := r.party(r.field("maker")), r.field("takerAmount").Int
	index := r.gives(maker, to, given, r.field("makerAmount").Int, "message/makerAmount")
	r.owners[0].party = r.party(r.field("signer"))
	if expiration := r.field("expiration"); expiration.Int.Sign() != 0 {
		r.effects[index].Until = r.deadline(expiration, index)
	}
	fee := new(big.Int).Mul(least, r.field("feeRateBps").Int)
	fee.Add(fee, big.NewInt(basisPoints-1)).Quo(fee, big.NewInt(basisPoints))
	if least = new(big.Int).Sub(least, fee); least.Sign() < 0 {
		least.SetUint64(0)
	}
	r.gets(maker, maker, got, least, true, "message/takerAmount")
}

const basisPoints = 10_000

// cowSettlement settles the orders of CoW Protocol, at the same address on every chain.
var cowSettlement = contract("9008D19f58AAbD9eD0D60971565AA8510560ab41")

// cowNative stands for the native asset in an order that buys it.
var cowNative = contract("EeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")

// cowOrder adds what an order of CoW Protocol sells and buys (GPv2Order.sol). Its owner is the
// signer, who gets what is bought unless the order names a receiver. An order to sell gives
// exactly sellAmount and gets at least buyAmount; one to buy gives at most sellAmount. The fee
// is on top.
func cowOrder(r *reading) {
	places := []string{"erc20", "internal"}
	switch {
	case !r.verifiedBy(cowSettlement) || r.domain.name != "Gnosis Protocol",
		!slices.Contains([]string{"sell", "buy"}, r.field("kind").Text),
		!slices.Contains(append(places, "external"), r.field("sellTokenBalance").Text),
		!slices.Contains(places, r.field("buyTokenBalance").Text):
		return // the contract has no such order
	}
	most := new(big.Int).Add(r.field("sellAmount").Int, r.field("feeAmount").Int)
	index := r.gives(chains.SignerParty(), chains.UnknownParty(), r.token(r.field("sellToken"), evm.ERC20Or721), most, "message/sellAmount")
	r.effects[index].Until = r.deadline(r.field("validTo"), index)
	bought := r.token(r.field("buyToken"), evm.ERC20Or721)
	if bought.Token.Is(cowNative[:]) {
		bought = chains.Native(r.network.ID)
	}
	to := chains.SignerParty()
	if receiver := r.field("receiver"); [20]byte(receiver.Bytes) != [20]byte{} {
		to = r.party(receiver)
	}
	r.gets(chains.SignerParty(), to, bought, r.field("buyAmount").Int, true, "message/buyAmount")
	r.own = func(effects []chains.Effect, own func(chains.Party) bool) {
		for i := range effects { // the receiver that the order names may be the signer
			if paid := &effects[i]; paid.Path == "message/buyAmount" && paid.By == chains.BySigner && own(paid.To) {
				received(paid)
			}
		}
	}
}

// clobAuth signs in to an order book. It gets an API key that can list and cancel
// orders; each new order still needs a signature.
func clobAuth(r *reading) {
	if r.domain.name == "ClobAuthDomain" {
		r.addFrom(chains.Effect{Kind: chains.KindMessage, From: r.party(r.field("address")), Path: "message"})
	}
}
