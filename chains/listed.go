package chains

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
