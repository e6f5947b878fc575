package structures

import (
	"encoding/hex"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// hyperliquid are the actions of Hyperliquid that are signed as structures of their own, as
// hyperliquid-dex/hyperliquid-python-sdk (hyperliquid/utils/signing.py) and nktkas/hyperliquid name
// them, and Agent and SendMultiSig, which have the hash of any other action.
var hyperliquid = []structure{
	onLedger("UsdSend", "string destination,string amount,uint64 time", hyperliquidSend),
	onLedger("Withdraw", "string destination,string amount,uint64 time", hyperliquidSend),
	onLedger("SpotSend", "string destination,string token,string amount,uint64 time", hyperliquidSpot),
	onLedger("SendAsset", "string destination,string sourceDex,string destinationDex,string token,"+
		"string amount,string fromSubAccount,uint64 nonce", hyperliquidAsset),
	onLedger("SendToEvmWithData", "string token,string amount,string sourceDex,string destinationRecipient,"+
		"string addressEncoding,uint32 destinationChainId,uint64 gasLimit,bytes data,uint64 nonce", hyperliquidToEVM),
	// HYPE goes to the balance that can be delegated, and comes back from it.
	onLedger("CDeposit", "uint64 wei,uint64 nonce",
		func(r *reading) { r.stakeOnLedger(chains.KindStake, chains.Party{}) }),
	onLedger("CWithdraw", "uint64 wei,uint64 nonce",
		func(r *reading) { r.stakeOnLedger(chains.KindUnstake, chains.Party{}) }),
	onLedger("TokenDelegate", "address validator,uint64 wei,bool isUndelegate,uint64 nonce", hyperliquidDelegate),
	onLedger("ConvertToMultiSigUser", "string signers,uint64 nonce", hyperliquidMultiSig),
	{"HyperliquidTransaction:SendMultiSig(string hyperliquidChain,bytes32 multiSigActionHash,uint64 nonce)", nil,
		hyperliquidAction},
	onLedger("UserDexAbstraction", "address user,bool enabled,uint64 nonce", hyperliquidUser),
	onLedger("UserSetAbstraction", "address user,string abstraction,uint64 nonce", hyperliquidUser),
	onLedger("UsdClassTransfer", "string amount,bool toPerp,uint64 nonce", // within one account
		func(r *reading) { r.add(chains.Effect{Kind: chains.KindSettings}) }),
	onLedger("ApproveAgent", "address agentAddress,string agentName,uint64 nonce", hyperliquidAgent),
	onLedger("ApproveBuilderFee", "string maxFeeRate,address builder,uint64 nonce", hyperliquidBuilder),
	{"Agent(string source,bytes32 connectionId)", nil, hyperliquidAction},
}

// onLedger returns an action on Hyperliquid's ledger by its name and the members after the network.
func onLedger(action, members string, read func(*reading)) structure {
	return structure{"HyperliquidTransaction:" + action + "(string hyperliquidChain," + members + ")",
		named("HyperliquidSignTransaction"), read}
}

// usdDecimals is the number of decimals of USDC on Hyperliquid's ledger.
const usdDecimals = 6

// ledger returns an id for Hyperliquid's ledger, which has no CAIP-2 id.
func (r *reading) ledger() string { return "hyperliquid:" + r.text("hyperliquidChain") }

// hyperliquidSend moves USDC on the ledger or withdraws it.
func hyperliquidSend(r *reading) {
	asset, amount := r.ledgerAmount("USDC", r.text("amount"))
	r.add(chains.Effect{Kind: chains.KindTransfer, To: r.textAddress("destination"), Asset: asset, Amount: amount})
}

// hyperliquidSpot moves a token whose decimals are not in the message.
func hyperliquidSpot(r *reading) {
	r.add(chains.Effect{Kind: chains.KindTransfer, To: r.textAddress("destination"),
		Asset: chains.Asset{Chain: r.ledger(), TokenID: r.text("token")}, Amount: chains.UnknownQuantity()})
}

// hyperliquidAgent lets another key trade for the account.
func hyperliquidAgent(r *reading) {
	r.add(chains.Effect{Kind: chains.KindAuthority, To: r.party(r.field("agentAddress")), Path: "message/agentAddress"})
}

// hyperliquidAction is the hash of any action, such as an order or a transfer.
func hyperliquidAction(r *reading) {
	index := r.undecoded()
	for i := range r.message.List {
		if m := &r.message.List[i]; m.Type == "bytes32" {
			r.danger(HazardHiddenContents, index,
				"%s is the hash of the action: the message does not contain what it does, which may be any "+
					"order or transfer", m.Name)
		}
	}
}

// textAddress returns the party at an address in a member, or an unknown party.
func (r *reading) textAddress(member string) chains.Party {
	return r.partyWritten(r.text(member))
}

func (r *reading) partyWritten(text string) chains.Party {
	digits, ok := strings.CutPrefix(text, "0x")
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil || len(raw) != 20 {
		return chains.UnknownParty()
	}
	return r.network.Party(evm.Address(raw))
}

// decimalAmount parses a decimal number, such as "12.5", to units of 10^-decimals, or
// returns an unknown quantity.
func decimalAmount(text string, decimals int) chains.Quantity {
	whole, fraction, point := strings.Cut(text, ".")
	digits := whole + fraction
	if whole == "" || point && fraction == "" || len(fraction) > decimals || len(digits) > 40 ||
		strings.Trim(digits, "0123456789") != "" {
		return chains.UnknownQuantity()
	}
	value, ok := new(big.Int).SetString(digits+strings.Repeat("0", decimals-len(fraction)), 10)
	if !ok {
		return chains.UnknownQuantity()
	}
	return chains.Exactly(value)
}

// hyperliquidAsset moves a token between accounts, or between the exchanges of one. A
// sub-account that it names is who pays.
func hyperliquidAsset(r *reading) {
	from := chains.SignerParty()
	if r.text("fromSubAccount") != "" {
		from = r.textAddress("fromSubAccount")
	}
	asset, amount := r.ledgerAmount(r.text("token"), r.text("amount"))
	r.add(chains.Effect{Kind: chains.KindTransfer, From: from, To: r.textAddress("destination"), Asset: asset,
		Amount: amount})
}

// hyperliquidToEVM sends a token to an account on another chain. A contract there gets the data
// with it, and what it does is not known.
func hyperliquidToEVM(r *reading) {
	to := chains.UnknownParty()
	if r.text("addressEncoding") == "hex" {
		to = r.textAddress("destinationRecipient")
	}
	asset, amount := r.ledgerAmount(r.text("token"), r.text("amount"))
	r.add(chains.Effect{Kind: chains.KindTransfer, To: to, Asset: asset, Amount: amount})
	if len(r.field("data").Bytes) > 0 {
		r.add(chains.Effect{Kind: chains.KindCall, To: to, Undecoded: true, Path: "message/data"})
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

// hyperliquidDelegate delegates HYPE to a validator, or ends that.
func hyperliquidDelegate(r *reading) {
	kind := chains.KindStake
	if r.field("isUndelegate").Number.Sign() != 0 {
		kind = chains.KindUnstake
	}
	r.stakeOnLedger(kind, r.party(r.field("validator")))
}

// stakeOnLedger adds a stake of HYPE, of which the message names units of 10^-8, or its
// end. It stays the signer's.
func (r *reading) stakeOnLedger(kind chains.Kind, validator chains.Party) {
	r.add(chains.Effect{Kind: kind, To: chains.SignerParty(), Account: validator,
		Asset: chains.Asset{Chain: r.ledger(), TokenID: "HYPE"}, Amount: chains.Exactly(r.field("wei").Number)})
}

// hyperliquidMultiSig gives the account to several keys, of which a number must sign from
// then on. What is not the JSON that the SDK writes stays an unknown message.
func hyperliquidMultiSig(r *reading) {
	var users []string
	var threshold int
	err := strictjson.Read([]byte(r.text("signers")), "signers",
		strictjson.Required("authorizedUsers", &users), strictjson.Required("threshold", &threshold))
	if err != nil || len(users) == 0 {
		return
	}
	for i, user := range users {
		r.add(chains.Effect{Kind: chains.KindAuthority, To: r.partyWritten(user),
			Path: "message/signers/" + strconv.Itoa(i)})
	}
}

// hyperliquidUser changes how the balances of an account are kept together.
func hyperliquidUser(r *reading) {
	r.add(chains.Effect{Kind: chains.KindSettings, Account: r.party(r.field("user")), Path: "message/user"})
}

// builderCap is the largest fee that the exchange lets a builder take, in thousandths of a
// percent: 1 % of spot orders, a tenth of that of others.
const builderCap = 1000

// hyperliquidBuilder lets a party take a fee from each order, a share of it.
func hyperliquidBuilder(r *reading) {
	builder, rate := r.party(r.field("builder")), r.text("maxFeeRate")
	effect := chains.Effect{Kind: chains.KindApprove, To: builder, Asset: chains.UnknownAsset(r.ledger()),
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
