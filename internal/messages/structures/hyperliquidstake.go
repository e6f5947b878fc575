package structures

import (
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// hyperliquidAsset moves a token between accounts, or between the exchanges of one. A
// sub-account that it names is who pays.
func hyperliquidAsset(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	from := chains.SignerParty()
	if account := r.field("fromSubAccount").Text; account != "" {
		from = r.textAddress(account)
	}
	asset, amount := r.ledgerAmount(r.field("token").Text, r.field("amount").Text)
	r.add(chains.Effect{Kind: chains.KindTransfer, From: from, To: r.textAddress(r.field("destination").Text), Asset: asset, Amount: amount, Path: "message"})
}

// hyperliquidToEVM sends a token to an account on another chain. A contract there gets the data
// with it, and what it does is not known.
func hyperliquidToEVM(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	to := chains.UnknownParty()
	if r.field("addressEncoding").Text == "hex" {
		to = r.textAddress(r.field("destinationRecipient").Text)
	}
	asset, amount := r.ledgerAmount(r.field("token").Text, r.field("amount").Text)
	r.add(chains.Effect{Kind: chains.KindTransfer, From: chains.SignerParty(), To: to, Asset: asset, Amount: amount, Path: "message"})
	if len(r.field("data").Bytes) > 0 {
		r.add(chains.Effect{Kind: chains.KindCall, From: chains.SignerParty(), To: to, Undecoded: true, Path: "message/data"})
	}
}

// ledgerUSDC are the texts that name USDC on the ledger's networks.
var ledgerUSDC = []string{"USDC", "USDC:0x6d1e7cde53ba9467b783cb7c530ce054"}

// ledgerAmount returns a token of the ledger and an amount of it, which is unknown for a
// token whose decimals are not known.
func (r *reading) ledgerAmount(token, amount string) (chains.Asset, chains.Quantity) {
	if slices.Contains(ledgerUSDC, token) {
		return chains.Asset{Chain: r.ledger(), TokenID: "USDC"}, decimalAmount(amount, usdDecimals)
	}
	return chains.Asset{Chain: r.ledger(), TokenID: token}, chains.UnknownQuantity()
}

// hyperliquidStake moves HYPE to the balance that can be delegated.
func hyperliquidStake(r *reading) { r.stakeOnLedger(chains.KindStake, chains.Party{}) }

// hyperliquidUnstake moves HYPE back from it.
func hyperliquidUnstake(r *reading) { r.stakeOnLedger(chains.KindUnstake, chains.Party{}) }

// hyperliquidDelegate delegates HYPE to a validator, or ends that.
func hyperliquidDelegate(r *reading) {
	kind := chains.KindStake
	if r.field("isUndelegate").Bool {
		kind = chains.KindUnstake
	}
	r.stakeOnLedger(kind, r.party(r.field("validator")))
}

// stakeOnLedger adds a stake of HYPE, of which the message names units of 10^-8, or its
// end. It stays the signer's.
func (r *reading) stakeOnLedger(kind chains.Kind, validator chains.Party) {
	if r.onHyperliquid() {
		r.add(chains.Effect{Kind: kind, From: chains.SignerParty(), To: chains.SignerParty(), Account: validator,
			Asset: chains.Asset{Chain: r.ledger(), TokenID: "HYPE"}, Amount: chains.Exactly(r.field("wei").Int), Path: "message"})
	}
}

// hyperliquidMultiSig gives the account to several keys, of which a number must sign from
// then on. What is not the JSON that the SDK writes stays an unknown message.
func hyperliquidMultiSig(r *reading) {
	var users []string
	var threshold int
	err := strictjson.Read([]byte(r.field("signers").Text), "signers", strictjson.Required("authorizedUsers", &users), strictjson.Required("threshold", &threshold))
	if !r.onHyperliquid() || err != nil || len(users) == 0 {
		return
	}
	for i, user := range users {
		r.add(chains.Effect{Kind: chains.KindAuthority, From: chains.SignerParty(), To: r.textAddress(user), Path: "message/signers/" + strconv.Itoa(i)})
	}
}

// hyperliquidUser changes how the balances of an account are kept together.
func hyperliquidUser(r *reading) {
	if r.onHyperliquid() {
		r.add(chains.Effect{Kind: chains.KindSettings, From: chains.SignerParty(), Account: r.party(r.field("user")), Path: "message/user"})
	}
}

// builderCap is the largest fee that the exchange lets a builder take, in thousandths of a
// percent: 1 % of spot orders, a tenth of that of others.
const builderCap = 1000

// hyperliquidBuilder lets a party take a fee from each order, a share of it.
func hyperliquidBuilder(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	builder, rate := r.party(r.field("builder")), r.field("maxFeeRate").Text
	effect := chains.Effect{Kind: chains.KindApprove, From: chains.SignerParty(), To: builder, Asset: chains.UnknownAsset(r.ledger()),
		Amount: chains.UnknownQuantity(), Path: "message/builder"}
	number, isPercent := strings.CutSuffix(rate, "%")
	switch share := decimalAmount(number, 3); {
	case !isPercent || share.IsUnknown() || share.Value.Cmp(big.NewInt(builderCap)) > 0: // more than the exchange knows
		effect.Amount = chains.Unlimited(nil)
	case share.Value.Sign() == 0:
		effect.Kind, effect.Amount = chains.KindRevoke, chains.Quantity{}
	}
	r.add(effect)
}
