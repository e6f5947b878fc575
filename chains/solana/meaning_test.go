package solana_test

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestMeaning compares the sentences, without the fee's, and the hazards of transactions that
// web3.js, @solana/kit and spl-token built with what they mean.
func TestMeaning(t *testing.T) {
	content := testenv.Read(t, "testdata/meaning/transactions.json")
	var cases []struct {
		Name, Class, Input string
		Hazards, Sentences []string
	}
	testenv.JSON(t, content, &cases)
	for _, test := range cases {
		raw := testenv.Hex(t, test.Input)
		tx := parse(t, raw)
		if got := sentences(tx); !slices.Equal(got, test.Sentences) {
			t.Errorf("%s:\n%s\nwant\n%s", test.Name, strings.Join(got, "\n"), strings.Join(test.Sentences, "\n"))
		}
		if got := chaintest.Names(tx.Hazards()); !slices.Equal(got, test.Hazards) {
			t.Errorf("%s: hazards %v, want %v", test.Name, got, test.Hazards)
		}
	}
}

// sentences returns those of the effects behind the fee.
func sentences(tx chains.Transaction) (list []string) {
	list = []string{}
	for _, effect := range tx.Effects()[1:] {
		list = append(list, chains.Sentence(effect, nil))
	}
	return list
}

// TestMintEnds: what Token-2022 closes is a mint if the transaction or a list says so, and an
// account if an instruction takes tokens out of it. The program before it closes accounts only.
func TestMintEnds(t *testing.T) {
	mint, account := sdk.PublicKey(account(70)), sdk.PublicKey(account(71))
	us := sdk.PublicKey(public(0))
	closes := func(program, what sdk.PublicKey) instructionCall {
		return call(program, nil, []byte{9}).with(what, us, us)
	}
	burns := call(sdk.Token2022ProgramID, nil, []byte{8}, u64(5)).with(account, mint, us)
	harvests := call(sdk.Token2022ProgramID, nil, []byte{26, 4}).with(mint, account)
	batch := call(sdk.Token2022ProgramID, nil, []byte{255, 3, 9, 8}, u64(5), []byte{3, 1, 9}).with(account, mint, us, mint, us, us)
	for name, test := range map[string]struct {
		calls []instructionCall
		ends  bool
		asks  bool // the sentence says that it may be a mint
	}{
		"an account, or a mint":          {[]instructionCall{closes(sdk.Token2022ProgramID, account)}, false, true},
		"an account of SPL Token":        {[]instructionCall{closes(sdk.TokenProgramID, account)}, false, false},
		"what tokens were burned from":   {[]instructionCall{burns, closes(sdk.Token2022ProgramID, account)}, false, false},
		"the mint of what was burned":    {[]instructionCall{burns, closes(sdk.Token2022ProgramID, mint)}, true, false},
		"the mint, before it is named":   {[]instructionCall{closes(sdk.Token2022ProgramID, mint), harvests}, true, false},
		"the mint, in a batch":           {[]instructionCall{batch}, true, false},
		"the mint of wrapped SOL":        {[]instructionCall{closes(sdk.Token2022ProgramID, sdk.MustPublicKeyFromBase58("9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9"))}, true, false},
		"both, the mint and its account": {[]instructionCall{burns, closes(sdk.Token2022ProgramID, account), closes(sdk.Token2022ProgramID, mint)}, true, false},
	} {
		tx := parse(t, scene(solana.Version0, 1, nil, test.calls...))
		ends := slices.IndexFunc(tx.Effects(), func(e chains.Effect) bool { return e.Kind == chains.KindBurn && e.Asset.IsNone() })
		asks := strings.Contains(strings.Join(sentences(tx), "\n"), "or a mint for ever")
		if ends >= 0 != test.ends || asks != test.asks {
			t.Errorf("%s: ends %v, asks %v\n%s", name, ends >= 0, asks, strings.Join(sentences(tx), "\n"))
		}
		of := slices.IndexFunc(tx.Hazards(), func(h chains.Hazard) bool {
			index, ok := h.Effect()
			return ok && index == ends && h.Name == solana.HazardBurn && strings.Contains(h.Detail, "for ever")
		})
		if test.ends && (of < 0 || tx.Effects()[ends+1].Kind != chains.KindTransfer) {
			t.Errorf("%s: hazards %+v, effects %+v", name, tx.Hazards(), tx.Effects())
		}
	}
}
