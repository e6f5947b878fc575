// Package names supplies what a person calls tokens and addresses.
//
// Names are for display. They come from outside the transaction, so nothing that
// is signed, recorded in a digest or decided by a policy depends on them.
//
//	book := names.New()                // a dozen well-known tokens
//	err := book.AddTokenList(file)     // Uniswap token-list format
//	err = book.AddLabel("tron", "TR7N…", "exchange")
//	text := chains.Sentence(effect, book)
//
// A [Book] identifies a token by its chain and the bytes of its address, never by
// its symbol: any contract can call itself USDC.
package names

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains"
)

// Bounds of what a Book takes.
const (
	MaxSymbol   = 20 // bytes of a symbol
	MaxLabel    = 64 // bytes of a label
	MaxDecimals = 36
)

// Book is a set of names. It is safe for concurrent use once it is filled.
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

// New returns a book with the tokens that are built in.
func New() *Book {
	book := &Book{tokens: map[key]token{}, labels: map[string]string{}}
	for _, known := range wellKnown {
		if err := book.AddToken(known.chain, known.address, known.symbol, known.decimals); err != nil {
			panic("names: the built-in list: " + err.Error()) // a test builds a book
		}
	}
	return book
}

// AddToken names a token of a chain (a CAIP-2 id such as "eip155:1", or
// "solana", "tron"), by the address that the chain's tools print. A token that is
// there already is replaced.
func (b *Book) AddToken(chain, address, symbol string, decimals int) error {
	raw, err := decode(chain, address)
	switch {
	case err != nil:
		return err
	case !printable(symbol, MaxSymbol):
		return fmt.Errorf("names: symbol of %s: 1 to %d printable bytes without spaces are expected", address, MaxSymbol)
	case decimals < 0 || decimals > MaxDecimals:
		return fmt.Errorf("names: decimals of %s: %d, 0 to %d are expected", address, decimals, MaxDecimals)
	}
	b.tokens[key{chain, string(raw)}] = token{symbol, decimals}
	return nil
}

// AddLabel names an address of a chain.
func (b *Book) AddLabel(chain, address, label string) error {
	raw, err := decode(chain, address)
	switch {
	case err != nil:
		return err
	case !printable(strings.ReplaceAll(label, " ", "_"), MaxLabel):
		return fmt.Errorf("names: label of %s: 1 to %d printable bytes are expected", address, MaxLabel)
	}
	b.labels[string(raw)] = label
	return nil
}

// Token implements chains.Names.
func (b *Book) Token(asset chains.Asset) (symbol string, decimals int, ok bool) {
	known, ok := b.tokens[key{asset.Chain, string(asset.Token.Address())}]
	return known.symbol, known.decimals, ok
}

// Label implements chains.Names.
func (b *Book) Label(party chains.Party) string { return b.labels[string(party.Address())] }

// Labeled implements [Labeled].
func (b *Book) Labeled() [][]byte {
	var all [][]byte
	for _, address := range slices.Sorted(maps.Keys(b.labels)) {
		all = append(all, []byte(address))
	}
	return all
}

// decode reads an address into the chain's binary form.
func decode(chain, address string) ([]byte, error) {
	namespace, _, _ := strings.Cut(chain, ":")
	switch {
	case len(address) > 64:
		return nil, fmt.Errorf("names: an address of %d bytes: at most 64 are expected", len(address))
	case namespace == "eip155":
		return decodeEthereum(address)
	case namespace == "solana":
		if raw := base58.Decode(address); len(raw) == 32 {
			return raw, nil
		}
		return nil, fmt.Errorf("names: %q is no Solana address: base58 of 32 bytes is expected", address)
	case namespace == "tron":
		if payload, version, err := base58.CheckDecode(address); err == nil && version == 0x41 && len(payload) == 20 {
			return append([]byte{version}, payload...), nil
		}
		return nil, fmt.Errorf("names: %q is no Tron address: base58check of 21 bytes with 41 in front is expected", address)
	}
	return nil, fmt.Errorf("names: chain %q: eip155:N, solana or tron is expected", chain)
}

// decodeEthereum reads 0x and 40 hex digits; mixed case must be the EIP-55 checksum.
func decodeEthereum(address string) ([]byte, error) {
	digits, prefixed := strings.CutPrefix(address, "0x")
	raw, err := hex.DecodeString(digits)
	if !prefixed || err != nil || len(raw) != common.AddressLength {
		return nil, fmt.Errorf("names: %q is no Ethereum address: 0x and 40 hex digits are expected", address)
	}
	mixed := strings.ToLower(digits) != digits && strings.ToUpper(digits) != digits
	if want := common.BytesToAddress(raw).Hex(); mixed && want != address {
		return nil, fmt.Errorf("names: %s has a wrong checksum (EIP-55), %s is right", address, want)
	}
	return raw, nil
}

func printable(text string, most int) bool {
	return text != "" && len(text) <= most && utf8.ValidString(text) &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || unicode.IsSpace(r) }) < 0
}
