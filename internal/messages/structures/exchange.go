package structures

import (
	"math/big"
	"slices"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// ctfVersion is one of the exchanges' generations that Polymarket has run on Polygon.
type ctfVersion struct {
	exchanges  []evm.Address
	collateral evm.Address
}

// verifies reports whether an exchange of the generation verifies an order.
func (v ctfVersion) verifies(d *document) bool {
	return verifiedBy(v.exchanges...)(d) && d.network.ChainID == polygon && d.field("side").Number.Uint64() <= sideSell
}

// The generations, and the conditional tokens that all of them trade. The second, of April 2026,
// is that of Polymarket/ctf-exchange-v2.
var (
	ctfV1 = ctfVersion{[]evm.Address{
		contract("4bFb41d5B3570DeFd03C39a9A4D8dE6Bd8B8982E"),
		contract("C5d563A36AE78145C45a50134d48A1215220f80a"),
	}, contract("2791Bca1f2de4661ED88A30C99A7a9449Aa84174")} // USDC.e
	ctfV2 = ctfVersion{[]evm.Address{
		contract("E111180000d2663C0091e4f400237545B87B996B"),
		contract("e2222d279d744050d28e00520010520000310F59"),
	}, contract("C011a7E12a19f7B1f670d46F03B03f3342E82DFB")} // pUSD
	ctfTokens = contract("4D97DCd97eC945f40cF65F87097ACe5EA0476045")
)

// isCollateral reports whether an asset is what conditional tokens are paid in.
func isCollateral(asset chains.Asset) bool {
	return asset.Chain == evm.NetworkID(polygon) && (asset.Token.Is(ctfV1.collateral[:]) ||
		asset.Token.Is(ctfV2.collateral[:]))
}

const polygon = 137

// exchanges are orders and sign-ins of exchanges.
var exchanges = []structure{
	{"Order(uint256 salt,address maker,address signer,address taker,uint256 tokenId,uint256 makerAmount," +
		"uint256 takerAmount," +
		"uint256 expiration,uint256 nonce,uint256 feeRateBps,uint8 side," +
		"uint8 signatureType)", ctfV1.verifies, ctfOrder},
	{"Order(uint256 salt,address maker,address signer,uint256 tokenId,uint256 makerAmount,uint256 takerAmount," +
		"uint8 side,uint8 signatureType," +
		"uint256 timestamp,bytes32 metadata,bytes32 builder)", ctfV2.verifies, ctfOrderV2},
	{"Order(address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo," +
		"bytes32 appData," +
		"uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance," +
		"string buyTokenBalance)", onCow, cowOrder},
	{"Order(uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,uint256 makingAmount," +
		"uint256 takingAmount," +
		"uint256 makerTraits)", onOneInch, oneInchOrder},
	{"OrderCancellations(bytes[] orderUids)", onCow, cowCancel},
	// A sign-in to an order book gets an API key that can list and cancel orders; each new order
	// still needs a signature.
	{"ClobAuth(address address,string timestamp,uint256 nonce,string message)", named("ClobAuthDomain"),
		saidBy("address")},
}

// The sides of an order for conditional tokens.
const (
	sideBuy = iota
	sideSell
)

// ctfOrder adds what the maker of an order of the first generation gives and gets. The fee is at
// most its rate of what the maker gets (ctf-exchange, CalculatorHelper.sol).
func ctfOrder(r *reading) {
	to := chains.UnknownParty()
	if taker := r.field("taker"); [20]byte(taker.Bytes) != [20]byte{} {
		to = r.party(taker)
	}
	least := r.field("takerAmount").Number
	fee := new(big.Int).Mul(least, r.field("feeRateBps").Number)
	fee.Add(fee, big.NewInt(basisPoints-1)).Quo(fee, big.NewInt(basisPoints))
	index := r.trades(ctfV1, to, r.field("makerAmount").Number, evm.Less(least, fee))
	if expiration := r.field("expiration"); expiration.Number.Sign() != 0 {
		r.effects[index].Until = r.deadline(expiration, index)
	}
}

// ctfV2Fee is the highest fee of the second generation, of the collateral that a trade moves
// (ctf-exchange-v2, Fees.sol). The operator sets the fee of each trade, and the contract's owner can
// change the highest.
const ctfV2Fee = 500

// ctfOrderV2 adds what the maker of an order of the second generation gives and gets. A buyer pays
// the fee in addition, and a seller from what the sale brings (ctf-exchange-v2, Trading.sol).
func ctfOrderV2(r *reading) {
	most, least := r.field("makerAmount").Number, r.field("takerAmount").Number
	if r.field("side").Number.Uint64() == sideBuy {
		most = new(big.Int).Add(most, share(most, ctfV2Fee))
	} else {
		least = evm.Less(least, share(least, ctfV2Fee))
	}
	r.trades(ctfV2, chains.UnknownParty(), most, least)
}

// trades adds what an order gives, collateral or tokens, and gets, tokens or collateral, and
// returns the index of the first.
func (r *reading) trades(version ctfVersion, to chains.Party, most, least *big.Int) int {
	given := chains.Token(r.network.ID, r.network.Party(version.collateral), evm.ERC20)
	got := chains.Token(r.network.ID, r.network.Party(ctfTokens), evm.ERC1155)
	got.NFT = r.field("tokenId").Number
	if r.field("side").Number.Uint64() == sideSell {
		given, got = got, given
	}
	maker := r.party(r.field("maker"))
	index := r.gives(maker, to, given, most, "message/makerAmount")
	r.owners[0].Party = r.party(r.field("signer"))
	r.gets(maker, maker, got, least, true, "message/takerAmount")
	return index
}

// share returns a number of basis points of an amount, rounded down.
func share(amount *big.Int, points int64) *big.Int {
	product := new(big.Int).Mul(amount, big.NewInt(points))
	return product.Quo(product, big.NewInt(basisPoints))
}

const basisPoints = 10_000

// cowSettlement settles the orders of CoW Protocol, at the same address on every chain.
var cowSettlement = contract("9008D19f58AAbD9eD0D60971565AA8510560ab41")

// cowNative stands for the native asset in an order that buys it.
var cowNative = contract("EeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")

// cowOrder adds what an order of CoW Protocol sells and buys (GPv2Order.sol). Its owner is the
// signer, who gets what is bought unless the order names a receiver. An order to sell gives exactly
// sellAmount and gets at least buyAmount; one to buy gives at most sellAmount. The fee is on top.
func cowOrder(r *reading) {
	places := []string{"erc20", "internal"}
	switch {
	case !slices.Contains([]string{"sell", "buy"}, r.text("kind")),
		!slices.Contains(append(places, "external"), r.text("sellTokenBalance")),
		!slices.Contains(places, r.text("buyTokenBalance")):
		return // the contract has no such order
	}
	most := new(big.Int).Add(r.field("sellAmount").Number, r.field("feeAmount").Number)
	index := r.gives(chains.SignerParty(), chains.UnknownParty(), r.token(r.field("sellToken"), evm.ERC20Or721), most,
		"message/sellAmount")
	r.effects[index].Until = r.deadline(r.field("validTo"), index)
	bought := r.coin(r.field("buyToken"), cowNative)
	to := chains.SignerParty()
	if receiver := r.field("receiver"); [20]byte(receiver.Bytes) != [20]byte{} {
		to = r.party(receiver)
	}
	r.gets(chains.SignerParty(), to, bought, r.field("buyAmount").Number, true, "message/buyAmount")
	r.own = func(effects []chains.Effect, own func(chains.Party) bool) {
		for i := range effects { // the receiver that the order names may be the signer
			if paid := &effects[i]; paid.Path == "message/buyAmount" && paid.By == chains.BySigner && own(paid.To) {
				received(paid)
			}
		}
	}
}

func onCow(d *document) bool {
	return verifiedBy(cowSettlement)(d) && d.domain.name == "Gnosis Protocol"
}

// cowCancel takes orders back that are not filled yet.
func cowCancel(r *reading) {
	r.add(chains.Effect{Kind: chains.KindRevoke, Account: r.network.Party(cowSettlement),
		Path: "message/orderUids"})
}

// oneInchRouter settles the limit orders of 1inch (limit-order-protocol 4, in Aggregation Router 6), at
// the same address on every chain but ZKsync.
var oneInchRouter = contract("111111125421cA6dc452d289314280a0f8842A65")

// The traits of a limit order (MakerTraitsLib.sol): bits, and where the 40 bits of its expiration are.
const (
	oneInchUnwraps    = 247
	oneInchExtended   = 249
	oneInchExpiration = 80
)

// onOneInch reports whether a limit order is known. The price of one with an extension, as those of
// Fusion are, is in the extension, of which the message has a hash only.
func onOneInch(d *document) bool {
	return verifiedBy(oneInchRouter)(d) && d.domain.name == "1inch Aggregation Router" &&
		d.field("makerTraits").Number.Bit(oneInchExtended) == 0
}

func oneInchOrder(r *reading) {
	traits := r.field("makerTraits").Number
	maker := r.party(r.field("maker"))
	sold := r.token(r.field("makerAsset"), evm.ERC20Or721)
	index := r.gives(maker, chains.UnknownParty(), sold, r.field("makingAmount").Number, "message/makingAmount")
	expiration := new(big.Int).Rsh(traits, oneInchExpiration)
	if expiration.And(expiration, big.NewInt(1<<40-1)).Sign() == 0 {
		r.ends(chains.Until{}, index)
	} else {
		r.effects[index].Until = evm.TimeOf(expiration)
		r.ends(r.effects[index].Until, index)
	}
	bought, to := r.token(r.field("takerAsset"), evm.ERC20Or721), maker
	if traits.Bit(oneInchUnwraps) != 0 && evm.Wraps(bought) {
		bought = chains.Native(r.network.ID)
	}
	if receiver := r.field("receiver"); [20]byte(receiver.Bytes) != [20]byte{} {
		to = r.party(receiver)
	}
	r.gets(maker, to, bought, r.field("takingAmount").Number, true, "message/takingAmount")
}
