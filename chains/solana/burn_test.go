package solana

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/tokenaccount"
)

const unspendableFile = "testdata/unspendable.txt"

// TestUnspendable keeps the table in a file, which the tests that execute read.
func TestUnspendable(t *testing.T) {
	var lines []string
	for address, what := range unspendable {
		lines = append(lines, fmt.Sprintf("%-44s %s\n", encode58(address[:]), what))
	}
	slices.Sort(lines)
	out := strings.Join(lines, "")
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		testenv.Write(t, unspendableFile, []byte(out))
	}
	want := testenv.Read(t, unspendableFile)
	if out != string(want) {
		t.Errorf("%s differs (go test -update rewrites it)", unspendableFile)
	}
	for role, addresses := range fixedAddresses {
		for _, address := range addresses {
			if unspendable[address] == "" {
				t.Errorf("%s %s can be spent from", role, encode58(address[:]))
			}
		}
	}
}

// wire returns a legacy transaction of one signer, with one instruction of a program
// over the other accounts.
func wire(signer, program [keySize]byte, data []byte, others ...[]byte) []byte {
	out := append(append([]byte{1}, make([]byte, 64)...), 1, 0, 1, byte(2+len(others)))
	out = append(out, signer[:]...)
	accounts := []byte{0}
	for i, other := range others {
		out, accounts = append(out, other...), append(accounts, byte(i+1))
	}
	out = append(append(out, program[:]...), bytes.Repeat([]byte{7}, 32)...)
	if program == tokenID { // from, mint, to, authority
		accounts = []byte{1, 2, 3, 0}
	}
	out = append(out, 1, byte(1+len(others)), byte(len(accounts)))
	return append(append(append(out, accounts...), byte(len(data))), data...)
}

// TestValueForNoOne sends SOL and tokens to each account of the table and to its token
// accounts, for mints that are built in and one that the transaction names.
func TestValueForNoOne(t *testing.T) {
	signer, from := [keySize]byte{1: 5}, [keySize]byte{2: 5}
	transfer := binary.LittleEndian.AppendUint64([]byte{2, 0, 0, 0}, 5)
	mints := []string{knownMints[0], knownMints[1], string(bytes.Repeat([]byte{9}, keySize))}
	for owner := range unspendable {
		if owner != systemID { // it is the program as well
			wantBurn(t, wire(signer, systemID, transfer, owner[:]))
		}
		for i, mint := range mints {
			for _, account := range append(tokenaccount.Of(string(owner[:]), mint), tokenaccount.Of(mint, mint)...) {
				tokens := append(binary.LittleEndian.AppendUint64([]byte{12}, 5), 6)
				wantBurn(t, wire(signer, tokenID, tokens, from[:], []byte(mint), []byte(account)))
				if i < 2 {
					wantBurn(t, wire(signer, systemID, transfer, []byte(account)))
				}
			}
		}
	}
}

func wantBurn(t *testing.T, raw []byte) {
	t.Helper()
	tx, err := Chain{}.Parse(raw)
	testenv.Must(t, err)
	effects, hazards := tx.Effects(), tx.Hazards()
	if len(effects) != 2 || effects[1].Kind != chains.KindBurn || len(hazards) != 1 || hazards[0].Name != HazardBurn {
		t.Errorf("%x: effects %+v, hazards %+v", raw, effects, hazards)
	}
}

// TestValueForOwners checks that wallets, their token accounts, and a mint that is not
// known keep getting transfers.
func TestValueForOwners(t *testing.T) {
	signer, wallet := [keySize]byte{1: 5}, [keySize]byte{3: 5}
	transfer := binary.LittleEndian.AppendUint64([]byte{2, 0, 0, 0}, 5)
	for _, to := range append(tokenaccount.Of(string(wallet[:]), knownMints[0]), string(wallet[:]), string(signer[:31])+"\x07") {
		tx, err := Chain{}.Parse(wire(signer, systemID, transfer, []byte(to)))
		testenv.Must(t, err)
		if hazards := tx.Hazards(); len(hazards) != 0 || tx.Effects()[1].Kind != chains.KindTransfer {
			t.Errorf("%x: %+v", to, hazards)
		}
	}
}

// TestLostTokensAreBounded checks that foreign mints do not fill the memory, and that
// what was forgotten is derived again.
func TestLostTokensAreBounded(t *testing.T) {
	l := lostAccounts{byMint: map[string]map[string]string{}}
	mint := strings.Repeat("m", keySize)
	incinerator := mustKey("1nc1nerator11111111111111111111111111111111")
	account := tokenaccount.Of(string(incinerator[:]), mint)[0]
	for i := range maxLostMints + 2 {
		if got := l.of(mint)[account]; got != "the incinerator" {
			t.Fatalf("after %d mints: %q", i, got)
		}
		l.of(fmt.Sprintf("%032d", i))
	}
	if len(l.byMint) > maxLostMints {
		t.Errorf("%d mints are remembered", len(l.byMint))
	}
}
