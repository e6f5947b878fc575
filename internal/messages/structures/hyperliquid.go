package structures

import (
	"encoding/hex"
	"math/big"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/evm"
)

// hyperliquid are the actions of Hyperliquid that are signed as structures of their
// own, as hyperliquid-dex/hyperliquid-python-sdk (hyperliquid/utils/signing.py) and
// nktkas/hyperliquid name them, and Agent and SendMultiSig, which have the hash of any other
// action.
var hyperliquid = []structure{
	{"HyperliquidTransaction:UsdSend(string hyperliquidChain,string destination,string amount,uint64 time)", hyperliquidSend},
	{"HyperliquidTransaction:Withdraw(string hyperliquidChain,string destination,string amount,uint64 time)", hyperliquidSend},
	{"HyperliquidTransaction:SpotSend(string hyperliquidChain,string destination,string token,string amount,uint64 time)", hyperliquidSpot},
	{"HyperliquidTransaction:SendAsset(string hyperliquidChain,string destination,string sourceDex,string destinationDex,string token," +
		"string amount,string fromSubAccount,uint64 nonce)", hyperliquidAsset},
	{"HyperliquidTransaction:SendToEvmWithData(string hyperliquidChain,string token,string amount,string sourceDex,string destinationRecipient," +
		"string addressEncoding,uint32 destinationChainId,uint64 gasLimit,bytes data,uint64 nonce)", hyperliquidToEVM},
	{"HyperliquidTransaction:CDeposit(string hyperliquidChain,uint64 wei,uint64 nonce)", hyperliquidStake},
	{"HyperliquidTransaction:CWithdraw(string hyperliquidChain,uint64 wei,uint64 nonce)", hyperliquidUnstake},
	{"HyperliquidTransaction:TokenDelegate(string hyperliquidChain,address validator,uint64 wei,bool isUndelegate,uint64 nonce)", hyperliquidDelegate},
	{"HyperliquidTransaction:ConvertToMultiSigUser(string hyperliquidChain,string signers,uint64 nonce)", hyperliquidMultiSig},
	{"HyperliquidTransaction:SendMultiSig(string hyperliquidChain,bytes32 multiSigActionHash,uint64 nonce)", hyperliquidAction},
	{"HyperliquidTransaction:UserDexAbstraction(string hyperliquidChain,address user,bool enabled,uint64 nonce)", hyperliquidUser},
	{"HyperliquidTransaction:UserSetAbstraction(string hyperliquidChain,address user,string abstraction,uint64 nonce)", hyperliquidUser},
	{"HyperliquidTransaction:UsdClassTransfer(string hyperliquidChain,string amount,bool toPerp,uint64 nonce)", hyperliquidSettings},
	{"HyperliquidTransaction:ApproveAgent(string hyperliquidChain,address agentAddress,string agentName,uint64 nonce)", hyperliquidAgent},
	{"HyperliquidTransaction:ApproveBuilderFee(string hyperliquidChain,string maxFeeRate,address builder,uint64 nonce)", hyperliquidBuilder},
	{"Agent(string source,bytes32 connectionId)", hyperliquidAction},
}

// usdDecimals is the number of decimals of USDC on Hyperliquid's ledger.
const usdDecimals = 6

// ledger returns an id for Hyperliquid's ledger, which has no CAIP-2 id.
func (r *reading) ledger() string { return "hyperliquid:" + r.field("hyperliquidChain").Text }

func (r *reading) onHyperliquid() bool { return r.domain.name == "HyperliquidSignTransaction" }

// hyperliquidSend moves USDC on the ledger or withdraws it.
func hyperliquidSend(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	r.add(chains.Effect{Kind: chains.KindTransfer, From: chains.SignerParty(), To: r.textAddress(r.field("destination").Text),
		Asset: chains.Asset{Chain: r.ledger(), TokenID: "USDC"}, Amount: decimalAmount(r.field("amount").Text, usdDecimals), Path: "message"})
}

// hyperliquidSpot moves a token whose decimals are not in the message.
func hyperliquidSpot(r *reading) {
	if !r.onHyperliquid() {
		return
	}
	r.add(chains.Effect{Kind: chains.KindTransfer, From: chains.SignerParty(), To: r.textAddress(r.field("destination").Text),
		Asset: chains.Asset{Chain: r.ledger(), TokenID: r.field("token").Text}, Amount: chains.UnknownQuantity(), Path: "message"})
}

// hyperliquidSettings moves USDC within one account.
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
	r.add(chains.Effect{Kind: chains.KindAuthority, From: chains.SignerParty(), To: r.party(r.field("agentAddress")), Path: "message/agentAddress"})
}

// hyperliquidAction is the hash of any action, such as an order or a transfer.
func hyperliquidAction(r *reading) {
	index := r.undecoded()
	for i := range r.message.Members {
		if m := &r.message.Members[i]; m.Value.Type == "bytes32" {
			r.danger(HazardHiddenContents, index, "%s is the hash of the action: the message does not contain what it does, which may be any order or transfer", m.Name)
		}
	}
}

// textAddress parses an address, or returns an unknown party.
func (r *reading) textAddress(text string) chains.Party {
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
	if whole == "" || point && fraction == "" || len(fraction) > decimals || len(digits) > 40 || strings.Trim(digits, "0123456789") != "" {
		return chains.UnknownQuantity()
	}
	value, ok := new(big.Int).SetString(digits+strings.Repeat("0", decimals-len(fraction)), 10)
	if !ok {
		return chains.UnknownQuantity()
	}
	return chains.Exactly(value)
}
