package chains

import (
	"math/big"
	"math/bits"
	"strconv"
	"time"
)

// Asset is the asset of an amount: none, unknown, or the native asset or a token of a chain.
type Asset struct {
	// Chain is the CAIP-2 id of the chain, such as "eip155:1", or its namespace ("solana", "tron",
	// "bip122") where the bytes name no network. It is empty if there is no asset.
	Chain string

	// Token is the contract or mint, none for the native asset, unknown where the bytes
	// do not name the token.
	Token Party

	// TokenID is the id of a token without an address (TRC-10), otherwise empty.
	TokenID string

	// NFT is the id of one token of a collection; nil if there is none.
	NFT *big.Int

	// Standard is the token standard, such as "erc20", "erc721",
	// "erc20-or-721", "spl-token", "trc10"; empty for the native asset.
	Standard string
}

// Native is the native asset of a chain.
func Native(chain string) Asset { return Asset{Chain: chain} }

// Token is the token at a contract or mint.
func Token(chain string, token Party, standard string) Asset {
	return Asset{Chain: chain, Token: token, Standard: standard}
}

// UnknownAsset is an asset of a chain that the bytes do not name.
func UnknownAsset(chain string) Asset { return Asset{Chain: chain, Token: UnknownParty()} }

// IsNone reports whether there is no asset.
func (a Asset) IsNone() bool { return a.Chain == "" }

// IsUnknown reports whether there is an asset that the bytes do not name.
func (a Asset) IsUnknown() bool { return a.Chain != "" && a.Token.IsUnknown() }

// IsNative reports whether it is the chain's native asset.
func (a Asset) IsNative() bool { return a.Chain != "" && a.Token.IsNone() && a.TokenID == "" }

// Equal reports whether both are known and the same asset of the same chain. An NFT is
// not the same asset as its collection. The standard is not compared.
func (a Asset) Equal(other Asset) bool {
	if a.IsNone() || other.IsNone() || a.IsUnknown() || other.IsUnknown() {
		return false
	}
	sameToken := a.Token.IsNone() && other.Token.IsNone() || a.Token.Equal(other.Token)
	sameNFT := a.NFT == nil && other.NFT == nil || a.NFT != nil && other.NFT != nil && a.NFT.Cmp(other.NFT) == 0
	return a.Chain == other.Chain && sameToken && a.TokenID == other.TokenID && sameNFT
}

// Text returns the chain of a native asset, otherwise chain/token; empty for none.
func (a Asset) Text() string {
	switch {
	case a.IsNone() || a.IsNative():
		return a.Chain
	case a.TokenID != "":
		return a.Chain + "/" + a.TokenID
	case a.NFT != nil:
		return a.Chain + "/" + a.Token.String() + "/" + a.NFT.String()
	}
	return a.Chain + "/" + a.Token.String()
}

// Bound is how an amount bounds what leaves From.
type Bound string

// The bounds.
const (
	BoundExact     Bound = "exact"
	BoundMost      Bound = "most"      // at most the value
	BoundLeast     Bound = "least"     // at least the value
	BoundAll       Bound = "all"       // the whole balance, which the bytes do not say
	BoundAdded     Bound = "added"     // added to an existing amount: increaseAllowance, fees on top
	BoundUnlimited Bound = "unlimited" // of approvals: without a limit
)

// Quantity is the amount that leaves From, in the asset's smallest unit: none (the zero
// value), unknown, or a value with a bound.
type Quantity struct {
	Bound Bound // empty if there is no amount

	// Value is nil if there is no amount, if the amount is unknown, and with BoundAll.
	// It must not be changed.
	Value *big.Int
}

// Exactly is a quantity of a value, no more and no less.
func Exactly(value *big.Int) Quantity { return Quantity{Bound: BoundExact, Value: value} }

// ExactlyUint is Exactly for 64 bits.
func ExactlyUint(value uint64) Quantity { return Exactly(bigUint(value)) }

// bigUint is new(big.Int).SetUint64 in one allocation.
func bigUint(value uint64) *big.Int {
	var room struct {
		number big.Int
		words  [64 / bits.UintSize]big.Word
	}
	return room.number.SetBits(room.words[:0]).SetUint64(value)
}

// AtMost is a quantity of up to a value.
func AtMost(value *big.Int) Quantity { return Quantity{Bound: BoundMost, Value: value} }

// AtMostUint is AtMost for 64 bits.
func AtMostUint(value uint64) Quantity { return AtMost(bigUint(value)) }

// AtLeast is a quantity of a value or more.
func AtLeast(value *big.Int) Quantity { return Quantity{Bound: BoundLeast, Value: value} }

// All is a whole balance.
func All() Quantity { return Quantity{Bound: BoundAll} }

// Unlimited is the quantity of an approval without a limit. Value is the amount in the
// bytes, nil if there is none.
func Unlimited(value *big.Int) Quantity { return Quantity{Bound: BoundUnlimited, Value: value} }

// UnknownQuantity is an amount that the bytes do not say.
func UnknownQuantity() Quantity { return Quantity{Bound: BoundExact} }

// IsNone reports whether there is no amount.
func (q Quantity) IsNone() bool { return q.Bound == "" }

// IsUnknown reports whether no value bounds the amount from above.
func (q Quantity) IsUnknown() bool {
	return q.Bound == BoundAll || q.Bound == BoundLeast || q.Bound == BoundUnlimited || q.Bound != "" && q.Value == nil
}

// Text returns the amount in the smallest unit, or the word for one that has no number.
func (q Quantity) Text() string {
	switch {
	case q.Bound == BoundAll, q.Bound == BoundUnlimited:
		return string(q.Bound)
	case q.Value == nil:
		return "unknown"
	case q.Bound == BoundExact:
		return q.Value.String()
	}
	return string(q.Bound) + " " + q.Value.String()
}

// Until is when something expires: never (the zero value), at a time, at a height, or at
// an event of the chain.
type Until struct {
	Time   time.Time // zero if it is not a time
	Height uint64    // block or slot height; 0 if it is not a height
	Text   string    // an event, such as "blockhash": about 150 blocks after it, on Solana
}

// IsNone reports whether it never expires.
func (u Until) IsNone() bool { return u == Until{} }

// String returns the canonical form: RFC 3339, "height N", or the text.
func (u Until) String() string {
	switch {
	case !u.Time.IsZero():
		return u.Time.UTC().Format(time.RFC3339)
	case u.Height != 0:
		return "height " + strconv.FormatUint(u.Height, 10)
	}
	return u.Text
}

// ListedToken is a built-in token.
type ListedToken struct {
	Chain    string // CAIP-2, or its namespace where the bytes name no network
	Address  string // in the canonical form of the chain
	Symbol   string
	Decimals int
}

// listed are the built-in tokens, with the addresses that their issuers publish.
var listed = []ListedToken{
	{"eip155:1", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USDC", 6},
	{"eip155:1", "0xdAC17F958D2ee523a2206206994597C13D831ec7", "USDT", 6},
	{"eip155:1", "0x6B175474E89094C44Da98b954EedeAC495271d0F", "DAI", 18},
	{"eip155:1", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "WETH", 18},
	{"eip155:1", "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599", "WBTC", 8},
	{"eip155:10", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", "USDC", 6},
	{"eip155:137", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "USDC", 6},
	{"eip155:8453", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USDC", 6},
	{"eip155:42161", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "USDC", 6},
	{"solana", "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "USDC", 6},
	{"solana", "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB", "USDT", 6},
	{"tron", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "USDT", 6},
}

// ListedTokens returns the built-in tokens.
func ListedTokens() []ListedToken { return append([]ListedToken(nil), listed...) }

// Listed returns the built-in token that an asset is. ok is false if it is none of them:
// what it is worth, and how many decimals it has, is then not known from the bytes.
func Listed(asset Asset) (token ListedToken, ok bool) {
	for i := range listed {
		if listed[i].Chain == asset.Chain && asset.NFT == nil && listed[i].Address == asset.Token.String() {
			return listed[i], true
		}
	}
	return ListedToken{}, false
}

// mostListed is more than there is of any built-in token, in whole units.
const mostListed = 1e12

// ExceedsSupply reports whether an amount is more than there is of a built-in token.
func ExceedsSupply(asset Asset, amount *big.Int) bool {
	token, ok := Listed(asset)
	if !ok {
		return false
	}
	most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(token.Decimals)), nil)
	return amount.Cmp(most.Mul(most, big.NewInt(mostListed))) > 0
}
