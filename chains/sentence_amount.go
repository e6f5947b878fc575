package chains

import (
	"fmt"
	"strings"
)

func (s sentence) party(p Party) string {
	text := p.Shown()
	switch {
	case p.IsSigner():
		return "the signer"
	case p.IsUnknown() && text != unknown:
		return text
	case p.IsUnknown():
		return "an address that the transaction does not contain"
	case p.IsNone():
		return "no one"
	}
	if s.names != nil {
		if label := s.names.Label(p); label != "" {
			text += " (" + label + ")"
		}
	}
	return text
}

var boundWords = map[Bound]string{BoundMost: "at most ", BoundLeast: "at least ", BoundAdded: "an additional "}

// amount returns the amount and its asset: "at most 0.0013 ETH".
func (s sentence) amount() string {
	before := boundWords[s.Amount.Bound]
	switch {
	case s.Asset.NFT != nil && s.several():
		return before + s.Amount.Value.String() + " of token number " + s.Asset.NFT.String() + " of " + s.asset()
	case s.Asset.NFT != nil:
		return "token number " + s.Asset.NFT.String() + " of " + s.asset()
	case s.Amount.IsNone():
		return s.asset()
	case s.Amount.Bound == BoundAll:
		return "all of " + s.asset()
	case s.Amount.Bound == BoundUnlimited:
		return "UNLIMITED " + s.asset()
	case s.Amount.Value == nil:
		return "an unknown amount of " + s.asset()
	}
	symbol, decimals, ok := s.token()
	switch {
	case ok:
		return before + Decimal(s.Amount.Value.String(), decimals) + " " + symbol
	case s.Asset.Standard == "tip20" && !s.Asset.IsUnknown():
		return before + Decimal(s.Amount.Value.String(), 6) + " of " + s.asset() // as every TIP-20 token has
	}
	if _, fungible := Listed(s.Asset); !fungible && strings.HasSuffix(s.Asset.Standard, "20-or-721") {
		return fmt.Sprintf("%s%s units, or token number %s, of %s", before, s.Amount.Value, s.Amount.Value, s.asset())
	}
	return fmt.Sprintf("%s%s units of %s", before, s.Amount.Value, s.asset())
}

// several reports whether the amount of a numbered token is another than one. A number of
// ERC-1155 or ERC-6909 can have many.
func (s sentence) several() bool {
	return s.Amount.Bound != BoundUnlimited && s.Amount.Value != nil &&
		(!s.Amount.Value.IsUint64() || s.Amount.Value.Uint64() != 1)
}

// AssetText describes an asset as sentences do.
func AssetText(asset Asset) string { return sentence{Effect{Asset: asset}, nil}.asset() }

// asset returns the asset's symbol if it has one, otherwise its address.
func (s sentence) asset() string {
	symbol, _, ok := s.token()
	switch {
	case ok:
		return symbol
	case s.Asset.IsUnknown():
		return "an unknown token"
	case s.Asset.IsNone():
		return "nothing"
	case s.Asset.TokenID != "":
		return "token " + foreign(s.Asset.TokenID)
	}
	return "token " + s.party(s.Asset.Token)
}

func (s sentence) token() (symbol string, decimals int, ok bool) { return TokenOf(s.Asset, s.names) }

// TokenOf returns the symbol and decimals of an asset: of a chain's own, or as names, which
// may be nil, knows it. ok is false if it is not known.
func TokenOf(asset Asset, names Names) (symbol string, decimals int, ok bool) {
	if asset.IsNative() {
		network := NetworkOf(asset.Chain)
		return network.Symbol, network.Decimals, true
	}
	if ledger, ok := strings.CutPrefix(asset.Chain, "hyperliquid:"); ok && asset.TokenID == "USDC" &&
		(ledger == "Mainnet" || ledger == "Testnet") {
		return "USDC on Hyperliquid " + ledger, 6, true
	}
	if names == nil || asset.IsUnknown() || asset.IsNone() {
		return "", 0, false
	}
	return names.Token(asset)
}
