package names_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func party(t testing.TB, address, text string) chains.Party {
	t.Helper()
	raw := testenv.Hex(t, address)
	return chains.PartyWritten(raw, text)
}

const (
	usdc     = "a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
	treasury = "08d2b0a37f869ff76bacb5bab3278e26ab7067b7"
)

// TestSentence: a known token and a labeled address are named, and not the same address
// as a token of another chain.
func TestSentence(t *testing.T) {
	book := names.New(all.Chains(all.Limits{})...)
	testenv.Must(t, book.AddLabel("eip155:1", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "treasury"))
	effect := chains.Effect{
		Kind: chains.KindTransfer, By: chains.BySigner, From: chains.SignerParty(),
		To:     party(t, treasury, "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"),
		Asset:  chains.Token("eip155:1", party(t, usdc, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), "erc20"),
		Amount: chains.Exactly(big.NewInt(250_000_000)),
	}
	if got, want := chains.Sentence(effect, book), "send 250 USDC to 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 (treasury)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	effect.Asset.Chain = "eip155:56"
	want := "send 250000000 units of token 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 to 0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7 (treasury)"
	if got := chains.Sentence(effect, book); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAddTokenList(t *testing.T) {
	book := names.New(all.Chains(all.Limits{})...)
	list := `{"name":"ours","timestamp":"2026-01-01T00:00:00Z","tokens":[
		{"chainId":56,"address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","symbol":"PEG","decimals":18,"name":"Peg","logoURI":"ipfs://x"},
		{"chainId":101,"address":"So11111111111111111111111111111111111111112","symbol":"wSOL","decimals":9,"name":"Wrapped SOL"},
		{"chainId":728126428,"address":"TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFR","symbol":"WTRX","decimals":6,"name":"Wrapped TRX"}]}`
	testenv.Must(t, book.AddTokenList([]byte(list)))
	asset := chains.Token("eip155:56", party(t, usdc, ""), "erc20")
	if symbol, decimals, ok := book.Token(asset); symbol != "PEG" || decimals != 18 || !ok {
		t.Errorf("%s %d %v", symbol, decimals, ok)
	}
}

// TestAddTokenListRefused: a refused list leaves the book unchanged, and the error names the
// invalid token.
func TestAddTokenListRefused(t *testing.T) {
	entry := func(chain, address, symbol, decimals string) string {
		return `{"name":"bad","tokens":[{"chainId":56,"address":"0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2","symbol":"OK","decimals":1},` +
			`{"chainId":` + chain + `,"address":"` + address + `","symbol":"` + symbol + `","decimals":` + decimals + `}]}`
	}
	good := "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
	for text, want := range map[string]string{
		"":                        "unexpected end of JSON input",
		"[]":                      "expected an object, not array",
		`{"name":"x"}`:            "has 0 tokens: must have 1 to 20000",
		entry("1", good, "", "6"): "tokens[1]: names: symbol",
		entry("1", good, strings.Repeat("A", 21), "6"):                     "tokens[1]: names: symbol",
		entry("1", good, `A\u202eB`, "6"):                                  "tokens[1]: names: symbol",
		entry("1", good, "A B", "6"):                                       "tokens[1]: names: symbol",
		entry("1", good, "A", "37"):                                        "tokens[1]: names: decimals",
		entry("1", good, "A", "-1"):                                        "tokens[1]: names: decimals",
		entry("1", good[:41], "A", "1"):                                    "is not an address of eip155",
		entry("1", strings.Replace(good, "b", "B", 1), "A", "1"):           "(EIP-55)",
		entry("101", strings.Repeat("1", 129), "A", "1"):                   "address of 129 bytes",
		entry("101", "So1111", "A", "1"):                                   "is not an address of solana",
		entry("728126428", "TNUC9Qb1rRpS5CbWLmNMxXBjyFoydXjWFS", "A", "1"): "is not an address of tron",
		strings.Repeat(" ", names.MaxListBytes+1):                          "of at most 8388608",
	} {
		book := names.New(all.Chains(all.Limits{})...)
		err := book.AddTokenList([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", text, err, want)
		}
		weth := chains.Token("eip155:56", party(t, "c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", ""), "erc20")
		if _, _, ok := book.Token(weth); ok {
			t.Errorf("%.80s: part of the list was added", text)
		}
	}
}

func TestAddLabelRefused(t *testing.T) {
	book := names.New(all.Chains(all.Limits{})...)
	for _, c := range [][3]string{
		{"bip122", "bc1q", "x"}, {"eip155:1", "0x12", "x"},
		{"eip155:1", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", ""},
		{"eip155:1", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "a\nb"},
		{"eip155:1", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", strings.Repeat("l", 65)},
	} {
		if err := book.AddLabel(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v is accepted", c)
		}
	}
}

func FuzzAddTokenList(f *testing.F) {
	f.Add([]byte(`{"name":"x","tokens":[{"chainId":1,"address":"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48","symbol":"A","decimals":6}]}`))
	f.Fuzz(func(t *testing.T, file []byte) { _ = names.New(all.Chains(all.Limits{})...).AddTokenList(file) })
}

// TestInvisible: a symbol or label that only looks like another one is refused.
func TestInvisible(t *testing.T) {
	const token = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	for _, mark := range []string{"\u3164", "\u200b", "\u034f", "\ufe0f", "\u2800", "\u00a0", "\u202e"} {
		if err := names.New(all.Chains(all.Limits{})...).AddToken("eip155:1", token, "USDC"+mark, 6); err == nil {
			t.Errorf("a symbol with %+q", mark)
		}
		if err := names.New(all.Chains(all.Limits{})...).AddLabel("eip155:1", token, "Treasury"+mark); err == nil {
			t.Errorf("a label with %+q", mark)
		}
	}
}
