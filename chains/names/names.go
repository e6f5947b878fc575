// Package names supplies names of tokens and addresses.
//
// Names are for display only. They come from outside the transaction, so no signature,
// digest or policy decision depends on them.
//
//	book := names.New()                // a dozen well-known tokens
//	err := book.AddTokenList(file)     // Uniswap token-list format
//	err = book.AddLabel("tron", "TR7N…", "exchange")
//	text := chains.Sentence(effect, book)
//
// A [Book] identifies a token by its chain and the bytes of its address, never by its
// symbol: any contract can call itself USDC.
package names

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Bounds of a Book's entries.
const (
	MaxSymbol   = 20 // bytes of a symbol
	MaxLabel    = 64 // bytes of a label
	MaxDecimals = 36
)

// Book is a set of names. It is safe for concurrent use after the last Add call.
type Book struct {
	tokens map[key]token
	labels map[string]string // by address in binary form
}

type key struct{ chain, address string }

type token struct {
	symbol   string
	decimals int
}

var _ chains.Names = (*Book)(nil)

// New returns a book with the built-in tokens.
func New() *Book {
	book := &Book{tokens: map[key]token{}, labels: map[string]string{}}
	for _, t := range chains.ListedTokens() {
		if err := book.AddToken(t.Chain, t.Address, t.Symbol, t.Decimals); err != nil {
			panic("names: the built-in list: " + err.Error())
		}
	}
	return book
}

// AddToken adds or replaces the token at an address of a chain. The chain is a CAIP-2 id
// such as "eip155:1", or "solana" or "tron"; the address is in the form of the chain's
// tools.
func (b *Book) AddToken(chain, address, symbol string, decimals int) error {
	raw, err := decode(chain, address)
	switch {
	case err != nil:
		return err
	case !isWord(symbol, MaxSymbol):
		return fmt.Errorf("names: symbol of %s: must be 1 to %d printable bytes without spaces", address, MaxSymbol)
	case decimals < 0 || decimals > MaxDecimals:
		return fmt.Errorf("names: decimals of %s: %d is not between 0 and %d", address, decimals, MaxDecimals)
	}
	b.tokens[key{chain, string(raw)}] = token{symbol, decimals}
	return nil
}

// AddLabel adds or replaces the label of an address. The label applies to the address on
// every chain of the same format.
func (b *Book) AddLabel(chain, address, label string) error {
	raw, err := decode(chain, address)
	switch {
	case err != nil:
		return err
	case !isWord(strings.ReplaceAll(label, " ", "_"), MaxLabel):
		return fmt.Errorf("names: label of %s: must be 1 to %d printable bytes", address, MaxLabel)
	}
	b.labels[string(raw)] = label
	return nil
}

// Token implements chains.Names.
func (b *Book) Token(asset chains.Asset) (symbol string, decimals int, ok bool) {
	t, ok := b.tokens[key{asset.Chain, string(asset.Token.Address())}]
	return t.symbol, t.decimals, ok
}

// Label implements chains.Names.
func (b *Book) Label(party chains.Party) string { return b.labels[string(party.Address())] }

// Labeled implements [Labeled].
func (b *Book) Labeled() [][]byte {
	var addresses [][]byte
	for _, address := range slices.Sorted(maps.Keys(b.labels)) {
		addresses = append(addresses, []byte(address))
	}
	return addresses
}

// decode decodes an address to the chain's binary form.
func decode(chain, address string) ([]byte, error) {
	namespace, _, _ := strings.Cut(chain, ":")
	switch {
	case len(address) > 64:
		return nil, fmt.Errorf("names: address of %d bytes: must have at most 64", len(address))
	case namespace == "eip155":
		return decodeEthereum(address)
	case namespace == "solana":
		if raw := base58.Decode(address); len(raw) == 32 {
			return raw, nil
		}
		return nil, fmt.Errorf("names: %q is not a Solana address: must be base58 of 32 bytes", address)
	case namespace == "tron":
		if payload, version, err := base58.CheckDecode(address); err == nil && version == 0x41 && len(payload) == 20 {
			return append([]byte{version}, payload...), nil
		}
		return nil, fmt.Errorf("names: %q is not a Tron address: must be base58check of 21 bytes that begin with 0x41", address)
	}
	return nil, fmt.Errorf("names: chain %q: must be eip155:N, solana or tron", chain)
}

// decodeEthereum decodes 0x and 40 hex digits. Mixed case must be the EIP-55 checksum.
func decodeEthereum(address string) ([]byte, error) {
	digits, prefixed := strings.CutPrefix(address, "0x")
	raw, err := hex.DecodeString(digits)
	if !prefixed || err != nil || len(raw) != common.AddressLength {
		return nil, fmt.Errorf("names: %q is not an Ethereum address: must be 0x and 40 hex digits", address)
	}
	mixed := strings.ToLower(digits) != digits && strings.ToUpper(digits) != digits
	if want := common.BytesToAddress(raw).Hex(); mixed && want != address {
		return nil, fmt.Errorf("names: %s has a wrong EIP-55 checksum: should be %s", address, want)
	}
	return raw, nil
}

// isWord reports whether a text is one word of 1 to most bytes of visible UTF-8.
func isWord(text string, most int) bool {
	return text != "" && len(text) <= most && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !plaintext.Visible(r) })
}
