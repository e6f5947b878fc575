package names

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
)

// Bounds of a token list.
const (
	MaxListBytes  = 8 << 20
	maxListTokens = 20_000
)

// tokenList is a list in version 1 of Uniswap's format
// (https://uniswap.org/tokenlist.schema.json). Other members are allowed and ignored.
type tokenList struct {
	Name   string `json:"name"`
	Tokens []struct {
		ChainID  uint64 `json:"chainId"`
		Address  string `json:"address"`
		Symbol   string `json:"symbol"`
		Decimals int    `json:"decimals"`
	} `json:"tokens"`
}

// AddTokenList adds the tokens of a list in Uniswap's token-list format. It adds all of
// them, or none and returns an error that names the invalid token.
func (b *Book) AddTokenList(file []byte) error {
	if len(file) > MaxListBytes {
		return fmt.Errorf("names: token list of %d bytes, of at most %d", len(file), MaxListBytes)
	}
	var list tokenList
	if err := json.Unmarshal(file, &list); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return fmt.Errorf("names: token list: byte %d: %s: expected %s, not %s", wrong.Offset,
				cmp.Or(strings.TrimPrefix(wrong.Field, "."), "the file"),
				cmp.Or(expected[wrong.Type.Kind()], "a natural number"), wrong.Value)
		}
		return fmt.Errorf("names: token list: %w", err)
	}
	if len(list.Tokens) == 0 || len(list.Tokens) > maxListTokens {
		return fmt.Errorf("names: token list %q has %d tokens: must have 1 to %d", list.Name, len(list.Tokens),
			maxListTokens)
	}
	added := Book{tokens: map[key]token{}, chains: b.chains}
	for i, entry := range list.Tokens {
		if err := added.AddToken(b.listChain(entry.ChainID), entry.Address, entry.Symbol, entry.Decimals); err != nil {
			return fmt.Errorf("names: token list %q: tokens[%d]: %w", list.Name, i, err)
		}
	}
	maps.Copy(b.tokens, added.tokens)
	return nil
}

// expected is what JSON calls a type of Go.
var expected = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Slice: "an array", reflect.Struct: "an object",
}

// listChain returns the id of the network that has a number in lists: a chain's own, or else
// that of EIP-155.
func (b *Book) listChain(id uint64) string {
	for namespace, words := range b.chains {
		if words.ListID == id && id != 0 {
			return namespace
		}
	}
	return "eip155:" + strconv.FormatUint(id, 10)
}
