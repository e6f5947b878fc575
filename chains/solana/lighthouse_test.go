package solana_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/solana"
)

var lighthouseProgram = sdk.MustPublicKeyFromBase58("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95")

// TestLighthouse has each number of an instruction: assertions do nothing and are shown,
// the others stay blind, also where the account does not sign.
func TestLighthouse(t *testing.T) {
	for number := range 256 {
		asserts := number >= 2 && number <= 15 || number == 17
		for _, accounts := range [][]byte{{0, 2}, {2, 3}, {0, 1, 2, 3}} {
			raw := scene(solana.Version0, 2, nil, call(lighthouseProgram, accounts, []byte{byte(number), 0, 1, 2, 3}))
			tx := parse(t, raw)
			want := []string{solana.HazardBlindCall}
			if asserts {
				want = nil
			}
			if got := chaintest.Names(ready(t, raw, ed25519Key(t, 0)).Hazards()); !slices.Equal(got, want) {
				t.Errorf("instruction %d with %v: %v, want %v", number, accounts, got, want)
			}
			if asserts && len(tx.Effects()) != 1 {
				t.Errorf("instruction %d: %+v", number, tx.Effects())
			}
			if shown := fmt.Sprint(tx.Summary().Fields); asserts && number != 15 && !strings.Contains(shown, "asserts on") {
				t.Errorf("instruction %d is shown as %s", number, shown)
			}
		}
	}
}

// TestLighthouseBytesElsewhere checks that the same bytes are blind for any other
// program, and that an assertion that is cut off, or lacks its account, is blind.
func TestLighthouseBytesElsewhere(t *testing.T) {
	for name, c := range map[string]instructionCall{
		"another program": call(sdk.PublicKey(account(40)), []byte{0, 2}, []byte{5, 0, 1}),
		"no data":         call(lighthouseProgram, []byte{0}),
		"no log level":    call(lighthouseProgram, []byte{0}, []byte{5}),
		"no account":      call(lighthouseProgram, nil, []byte{5, 0, 1}),
		"one of two":      call(lighthouseProgram, []byte{0}, []byte{4, 0, 1}),
		"merkle tree":     call(lighthouseProgram, []byte{0, 2, 3}, []byte{16, 0, 1}),
	} {
		raw := scene(solana.Version0, 1, nil, c)
		if got := hazardNames(parse(t, raw)); !slices.Equal(got, []string{solana.HazardBlindCall}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestBlindCallSaysWhatItIsGiven checks that a blind call names the signatures that it
// gets, and says if it gets none.
func TestBlindCallSaysWhatItIsGiven(t *testing.T) {
	unknown := sdk.PublicKey(account(40))
	first, second := sdk.PublicKey(public(0)).String(), sdk.PublicKey(public(1)).String()
	for name, c := range map[string]struct {
		call      instructionCall
		says, not []string
	}{
		"ours":      {call(unknown, []byte{0, 2}), []string{"the signature of " + first}, []string{second}},
		"both":      {call(unknown, []byte{0, 1, 0}), []string{first + " and " + second}, nil},
		"none":      {call(unknown, []byte{2}), []string{"no signature", "allowed before"}, []string{first, second}},
		"no list":   {call(unknown, nil), []string{"no signature"}, nil},
		"hook":      {call(sdk.Token2022ProgramID, []byte{2, 3, 4, 0, 5}, []byte{12}, u64(1), []byte{6}), []string{"transfer hook"}, []string{"signature"}},
		"a problem": {call(lighthouseProgram, []byte{0}, []byte{0}), []string{"the signature of " + first}, nil},
	} {
		hazards := ready(t, scene(solana.Version0, 2, nil, c.call), ed25519Key(t, 0)).Hazards()
		if len(hazards) != 1 {
			t.Errorf("%s: %+v", name, hazards)
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(hazards[0].Detail, want) {
				t.Errorf("%s: no %q in %s", name, want, hazards[0].Detail)
			}
		}
		for _, not := range c.not {
			if strings.Contains(hazards[0].Detail, not) {
				t.Errorf("%s: %q in %s", name, not, hazards[0].Detail)
			}
		}
	}
}
