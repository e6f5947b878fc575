package structures

import (
	"encoding/hex"
	"math/big"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
)

// hyperliquid are the actions of Hyperliquid that are signed as themselves, and the
// one that stands for all others: the Agent, whose connectionId is a hash.
var hyperliquid = []structure{
	{"HyperliquidTransaction:UsdSend(string hyperliquidChain,string destination,string amount,uint64 time)", hyperliquidSend},
	{"HyperliquidTransaction:Withdraw(string hyperliquidChain,string destination,string amount,uint64 time)", hyperliquidSend},
	{"HyperliquidTransaction:SpotSend(string hyperliquidChain,string destination,string token,string amount,uint64 time)", hyperliquidSpot},
	{"HyperliquidTransaction:UsdClassTransfer(string hyperliquidChain,string amount,bool toPerp,uint64 nonce)", hyperliquidSettings},
	{"HyperliquidTransaction:ApproveAgent(string hyperliquidChain,address agentAddress,string agentName,uint64 nonce)", hyperliquidAgent},
	{"HyperliquidTransaction:ApproveBuilderFee(string hyperliquidChain,string maxFeeRate,address builder,uint64 nonce)", hyperliquidBuilder},
	{"Agent(string source,bytes32 connectionId)", hyperliquidAction},
}

// usdDecimals are those of USDC on Hyperliquid's own ledger.
const usdDecimals = 6

// ledger returns Hyperliquid's own ledger as a chain. It has no CAIP-2 id of its own.
func (r *reading) ledger() string { return "hyperliquid:" + r.field("hyperliquidChain").Text }

func (r *reading) onHyperliquid() bool { return r.domain.name == "HyperliquidSignTransaction" }

// hyperliquidSend moves USDC on the ledger, or withdraws it from there.
func hyperliquidSend(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	r.add(chains.Effect{Kind: chains.KindTransfer, From: chains.SignerParty(), To: textAddress(r.field("destination").Text),
		Asset: chains.Asset{Chain: r.ledger(), TokenID: "USDC"}, Amount: decimalAmount(r.field("amount").Text, usdDecimals), Path: "message"})
}

// hyperliquidSpot moves a token, whose decimals the message does not say.
func hyperliquidSpot(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	r.add(chains.Effect{Kind: chains.KindTransfer, From: chains.SignerParty(), To: textAddress(r.field("destination").Text),
		Asset: chains.Asset{Chain: r.ledger(), TokenID: r.field("token").Text}, Amount: chains.UnknownQuantity(), Path: "message"})
}

// hyperliquidSettings moves USDC between the parts of one account.
func hyperliquidSettings(r *reading) {
	if r.onHyperliquid() {
		r.add(chains.Effect{Kind: chains.KindSettings, From: chains.SignerParty(), Path: "message"})
	}
}

// hyperliquidAgent lets another key trade for the account.
func hyperliquidAgent(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	agent := party(r.field("agentAddress"))
	index := r.add(chains.Effect{Kind: chains.KindAuthority, From: chains.SignerParty(), To: agent, Path: "message/agentAddress"})
	r.danger(HazardAgentApproval, index, "%s may trade for the account from then on", agent)
}

// hyperliquidBuilder lets a party take a fee from each order.
func hyperliquidBuilder(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	r.add(chains.Effect{Kind: chains.KindApprove, From: chains.SignerParty(), To: party(r.field("builder")),
		Asset: chains.UnknownAsset(r.ledger()), Amount: chains.UnknownQuantity(), Path: "message/builder"})
}

// hyperliquidAction is an order, a transfer or whatever else, hashed.
func hyperliquidAction(r *reading) {
	r.undecoded("an action of Hyperliquid of which only the hash is signed: it may be any order or transfer")
	r.danger(HazardHiddenContents, 0, "connectionId is the hash of the action: what it does is not in the message")
}

// textAddress is an address that stands in a text; unknown if there is none.
func textAddress(text string) chains.Party {
	digits, ok := strings.CutPrefix(text, "0x")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != 20 {
		return chains.UnknownParty()
	}
	return ethereum.PartyAt([20]byte(raw))
}

// decimalAmount reads a decimal number, such as "12.5", in units of 10^-decimals;
// unknown if it is none.
func decimalAmount(text string, decimals int) chains.Quantity {
	whole, fraction, point := strings.Cut(text, ".")
	digits := whole + fraction
	if whole == "" || point && fraction == "" || len(fraction) > decimals || len(digits) > 40 || strings.Trim(digits, "0123456789") != "" {
		return chains.UnknownQuantity()
	}
	value, ok := new(big.Int).SetString(digits+strings.Repeat("0", decimals-len(fraction)), 10)
	if !ok {
		return chains.UnknownQuantity()
	}
	return chains.Exactly(value)
}
