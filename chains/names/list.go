package names

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Bounds of a token list.
const (
	MaxListBytes  = 8 << 20
	MaxListTokens = 20_000
)

// Chain ids that token lists use for chains without an EIP-155 id.
const (
	solanaListID = 101       // the Solana token list's id of mainnet
	tronListID   = 728126428 // Tron's, from its genesis block
)

// tokenList is what is read of a list in Uniswap's format, version 1
// (https://uniswap.org/tokenlist.schema.json). The format allows other members.
type tokenList struct {
	Name   string `json:"name"`
	Tokens []struct {
		ChainID  uint64 `json:"chainId"`
		Address  string `json:"address"`
		Symbol   string `json:"symbol"`
		Decimals int    `json:"decimals"`
	} `json:"tokens"`
}

// AddTokenList adds the tokens of a list in Uniswap's token-list format: all of
// them, or none and an error that says which token is wrong.
func (b *Book) AddTokenList(file []byte) error {
	if len(file) > MaxListBytes {
		return fmt.Errorf("names: a token list of %d bytes: at most %d are read", len(file), MaxListBytes)
	}
	var list tokenList
	if err := json.Unmarshal(file, &list); err != nil {
		return fmt.Errorf("names: token list: %w", err)
	}
	if len(list.Tokens) == 0 || len(list.Tokens) > MaxListTokens {
		return fmt.Errorf("names: token list %q: 1 to %d tokens are expected, it has %d", list.Name, MaxListTokens, len(list.Tokens))
	}
	added := Book{tokens: map[key]token{}}
	for i, entry := range list.Tokens {
		if err := added.AddToken(listChain(entry.ChainID), entry.Address, entry.Symbol, entry.Decimals); err != nil {
			return fmt.Errorf("names: token list %q: tokens[%d]: %w", list.Name, i, err)
		}
	}
	for at, token := range added.tokens {
		b.tokens[at] = token
	}
	return nil
}

func listChain(id uint64) string {
	switch id {
	case solanaListID:
		return "solana"
	case tronListID:
		return "tron"
	}
	return "eip155:" + strconv.FormatUint(id, 10)
}
