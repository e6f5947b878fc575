// Package names supplies names of tokens and addresses.
//
// Names are for display only. They come from outside the transaction, so no signature,
// digest or policy decision depends on them.
//
//	book := names.New(all.Chains(all.Limits{})...) // a dozen well-known tokens
//	err := book.AddTokenList(file)     // Uniswap token-list format
//	err = book.AddLabel("tron", "TR7N…", "exchange")
//	text := chains.Sentence(effect, book)
//
// A [Book] identifies a token by its chain and the bytes of its address, never by its
// symbol: any contract can call itself USDC.
package names

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Bounds of a Book's entries.
const (
	maxSymbol   = 20 // bytes of a symbol
	maxLabel    = 64 // bytes of a label
	maxDecimals = 36
	maxAddress  = 128 // bytes of an address as text
)

// Book is a set of names. It is safe for concurrent use after the last Add call.
type Book struct {
	tokens map[key]token
	labels map[string]string       // by address in binary form
	chains map[string]chains.Words // by namespace: those whose addresses have names
}

type key struct{ chain, address string }

type token struct {
	symbol   string
	decimals int
}

var _ chains.Names = (*Book)(nil)

// New returns a book of names for some chains, with the built-in tokens of those. It knows the
// form of their addresses and no other.
func New(known ...chains.Chain) *Book {
	book := &Book{tokens: map[key]token{}, labels: map[string]string{}, chains: map[string]chains.Words{}}
	for _, chain := range known {
		if words := chain.Words(); book.chains[words.Namespace].ReadAddress == nil {
			book.chains[words.Namespace] = words
		}
	}
	for _, t := range chains.ListedTokens() {
		if namespace, _, _ := strings.Cut(t.Chain, ":"); book.chains[namespace].ReadAddress == nil {
			continue
		}
		if err := book.AddToken(t.Chain, t.Address, t.Symbol, t.Decimals); err != nil {
			panic("names: the built-in list: " + err.Error())
		}
	}
	return book
}

// AddToken adds or replaces the token at an address of a chain. The chain is the CAIP-2 id of
// a network, such as "eip155:1", or the namespace alone of a chain whose networks have no
// numbers, such as "tron". The address is in the form of the chain's tools.
func (b *Book) AddToken(chain, address, symbol string, decimals int) error {
	raw, err := b.decode(chain, address)
	switch {
	case err != nil:
		return err
	case !isWord(symbol, maxSymbol):
		return fmt.Errorf("names: symbol of %s: must be 1 to %d printable bytes without spaces", address, maxSymbol)
	case decimals < 0 || decimals > maxDecimals:
		return fmt.Errorf("names: decimals of %s: %d is not between 0 and %d", address, decimals, maxDecimals)
	}
	b.tokens[key{chain, string(raw)}] = token{symbol, decimals}
	return nil
}

// AddLabel adds or replaces the label of an address. The label applies to the address on
// every chain of the same format.
func (b *Book) AddLabel(chain, address, label string) error {
	raw, err := b.decode(chain, address)
	switch {
	case err != nil:
		return err
	case !isWord(strings.ReplaceAll(label, " ", "_"), maxLabel):
		return fmt.Errorf("names: label of %s: must be 1 to %d printable bytes", address, maxLabel)
	}
	b.labels[string(raw)] = label
	return nil
}

func (b *Book) Token(asset chains.Asset) (symbol string, decimals int, ok bool) {
	t, ok := b.tokens[key{asset.Chain, string(asset.Token.Address())}]
	return t.symbol, t.decimals, ok
}

func (b *Book) Label(party chains.Party) string { return b.labels[string(party.Address())] }

func (b *Book) Labeled() [][]byte {
	var addresses [][]byte
	for _, address := range slices.Sorted(maps.Keys(b.labels)) {
		addresses = append(addresses, []byte(address))
	}
	return addresses
}

func (b *Book) decode(chain, address string) ([]byte, error) {
	namespace, number, numbered := strings.Cut(chain, ":")
	words, known := b.chains[namespace]
	switch {
	case !known:
		return nil, fmt.Errorf("names: chain %.32q: must be one of %s", chain, b.chainIDs())
	case words.ReadAddress == nil:
		return nil, fmt.Errorf("names: chain %.32q does not say how its addresses are written", chain)
	case numbered != words.Numbered:
		return nil, fmt.Errorf("names: chain %.32q: must be %s", chain, idForm(words))
	case len(address) > maxAddress:
		return nil, fmt.Errorf("names: address of %d bytes: must have at most %d", len(address), maxAddress)
	}
	if _, err := strconv.ParseUint(number, 10, 64); numbered && err != nil {
		return nil, fmt.Errorf("names: chain %.32q: must be %s", chain, idForm(words))
	}
	raw, ok, err := words.ReadAddress(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("names: %q is not an address of %s: %w", address, namespace, err)
	case !ok:
		return nil, fmt.Errorf("names: %q is not an address of %s", address, namespace)
	}
	return raw, nil
}

// chainIDs lists the forms of ids of the known networks, for an error.
func (b *Book) chainIDs() string {
	forms := []string{}
	for _, namespace := range slices.Sorted(maps.Keys(b.chains)) {
		forms = append(forms, idForm(b.chains[namespace]))
	}
	return strings.Join(forms, ", ")
}

func idForm(words chains.Words) string {
	if words.Numbered {
		return words.Namespace + ":N"
	}
	return words.Namespace
}

// isWord reports whether a text is one word of 1 to most bytes of visible UTF-8.
func isWord(text string, most int) bool {
	return text != "" && len(text) <= most && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || !plaintext.Visible(r) })
}
