package solana

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"
)

// TestProgramIDs compares the addresses with solana-go's.
func TestProgramIDs(t *testing.T) {
	for id, want := range map[[keySize]byte]sdk.PublicKey{
		systemID: sdk.SystemProgramID, computeID: sdk.ComputeBudget, stakeID: sdk.StakeProgramID, voteID: sdk.VoteProgramID,
		lookupTableID: sdk.AddressLookupTableProgramID, tokenID: sdk.TokenProgramID, token2022ID: sdk.Token2022ProgramID,
		tokenAccountID: sdk.SPLAssociatedTokenAccountProgramID, memoID: sdk.MemoProgramID, memoV1ID: sdk.MemoProgramIDV1,
	} {
		if id != want {
			t.Errorf("%s is not %s", encode58(id[:]), want)
		}
	}
}

// TestNotDecoded checks that an instruction that cannot be decoded is shown whole, with
// the reason.
func TestNotDecoded(t *testing.T) {
	tests := []struct {
		name     string
		id       [keySize]byte
		data     []byte
		accounts int
		why      string
	}{
		{"an unknown instruction", systemID, []byte{99, 0, 0, 0}, 2, "instruction 99 of the System program is not known"},
		{"no data", systemID, nil, 2, "instruction number at byte"},
		{"cut off", systemID, []byte{2, 0, 0, 0, 1, 2}, 2, "amount at byte"},
		{"too few accounts", systemID, []byte{2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, 1, `Transfer needs an account "to", and there are only 1`},
		{"a string over the end", systemID, slices.Concat([]byte{10, 0, 0, 0}, make([]byte, 32), bytes.Repeat([]byte{0xff}, 8)), 3, "seed at byte"},
		{"an unknown extension", token2022ID, []byte{26, 9}, 3, "instruction 9 of TransferFeeExtension is not known"},
		{"an optional that is neither", tokenID, []byte{6, 0, 2}, 3, "new authority: 2 says neither"},
		{"an unknown authority", tokenID, []byte{6, 4, 0}, 3, "authority type 4 is not known"},
		{"a memo that is no text", memoID, []byte{0xff}, 1, "memo is not UTF-8"},
		{"too many addresses", lookupTableID, slices.Concat([]byte{2, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 8)), 3, "addresses are announced"},
		{"a batch over its accounts", tokenID, []byte{255, 9, 1, 17}, 3, "instruction 0 of the batch: it needs 9 accounts, and 3 are left"},
		{"a batch cut off in its header", tokenID, []byte{255, 9}, 3, "instruction 0 of the batch: solana: batch at byte"},
		{"a batch cut off in its data", tokenID, []byte{255, 1, 9, 17}, 3, "instruction 0 of the batch: solana: batch at byte"},
		{"a batch of what is not known", tokenID, []byte{255, 1, 1, 99}, 1, "instruction 0 of the batch: instruction 99 of the SPL Token program is not known"},
		{"an account made for too few", tokenAccountID, nil, 2, `Create needs an account`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tx := instructionWith(t, test.id, test.data, test.accounts)
			fields := tx.instructionFields(0)
			if fields[1].Label != "not decoded" || !strings.Contains(fields[1].Value, test.why) {
				t.Errorf("got %+v, want …%s…", fields[1], test.why)
			}
			if fields[2].Value != hex.EncodeToString(test.data) || len(fields[3].Fields) != test.accounts {
				t.Errorf("data and accounts are not shown: %+v", fields[2:])
			}
		})
	}
}

// TestTrailingDataIsShown: programs ignore bytes after an instruction, and the summary
// shows them.
func TestTrailingDataIsShown(t *testing.T) {
	tx := instructionWith(t, systemID, []byte{2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xbb}, 2)
	result := readFirst(tx)
	if err := result.err; err != nil || len(result.argumentFields) != 2 || result.argumentFields[1].Label != "trailing data" || result.argumentFields[1].Value != "aabb" {
		t.Errorf("got %+v", result)
	}
}

// TestCutInstructions truncates the data of each instruction after each of its bytes.
// The rest must never decode, with a made-up number or address.
func TestCutInstructions(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	for _, of := range encodings {
		p := programs[of.id]
		for encoding := range strings.SplitSeq(of.instructions, ";") {
			words := strings.Fields(encoding)
			if last := words[len(words)-1]; last == "rest" || last == "u16" && of.id == token2022ID {
				continue // of any length: a text, or a list of extensions
			}
			for range 10 {
				data, _ := buildData(random, p.tagSize, words)
				for size := range data {
					if size == 0 && of.id == tokenAccountID {
						continue // Create, in its first version
					}
					checkCutInstruction(t, p, of.id, data[:size])
				}
			}
		}
	}
}

func checkCutInstruction(t *testing.T, p *program, id [keySize]byte, data []byte) {
	t.Helper()
	result := dataOnly(t, id, data)
	err := result.err
	if err == nil {
		t.Errorf("%s %x is decoded as %s: %v", p.name, data, result.operation, result.argumentFields)
		return
	}
	if len(data) < p.tagSize && !strings.Contains(err.Error(), "instruction number at byte") {
		t.Errorf("%s %x: %v, want an error about its number", p.name, data, err)
	}
}
