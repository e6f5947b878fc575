package interop

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// codamaFolder returns a folder with the IDL of chains/descriptors, without big-endian
// numbers and discriminators of variants: the codecs (1.2.0) ignore both.
func codamaFolder(t *testing.T) string {
	t.Helper()
	text := testenv.Read(t, filepath.Join(testenv.Root(), "chains", "descriptors", "testdata", "codama.json"))
	folder := t.TempDir()
	text = bytes.ReplaceAll(text, []byte(`"endian": "be"`), []byte(`"endian": "le"`))
	text = regexp.MustCompile(`"discriminator": \d+,`).ReplaceAll(text, nil)
	testenv.Write(t, filepath.Join(folder, "codama.json"), text)
	return folder
}

func openPinned(t *testing.T, folder string) *descriptors.Folder {
	t.Helper()
	opened, err := descriptors.Open(os.DirFS(folder), descriptors.Options{})
	testenv.Must(t, err)
	pins := &descriptors.Pins{}
	for _, file := range opened.Files() {
		pins.Add(file)
	}
	if opened, err = descriptors.Open(os.DirFS(folder), descriptors.Options{Pins: pins}); err != nil {
		t.Fatal(err)
	}
	return opened
}

// codamaCase is an instruction that Codama's codecs have encoded.
type codamaCase struct {
	Instruction, Data string
	Args              [][2]string
}

// TestCodama checks that what Codama's own codecs encode for an IDL is decoded with it,
// argument by argument.
func TestCodama(t *testing.T) {
	folder := codamaFolder(t)
	opened := openPinned(t, folder)
	program := chains.PartyWritten(sdk.VoteProgramID[:], sdk.VoteProgramID.String())
	counts := map[string]int{}
	for _, c := range printed[codamaCase](t, "codama.mjs", filepath.Join(folder, "codama.json"), "100") {
		data := testenv.Hex(t, c.Data)
		accounts := make([]chains.Party, map[string]int{"numbers": 3, "options": 4, "lists": 1}[c.Instruction])
		for i := range accounts {
			accounts[i] = chains.PartyWritten(make([]byte, 32), "account")
		}
		reading, ok := opened.Read(chains.Call{Chain: "solana", To: program, Data: data, Accounts: accounts})
		var got [][2]string
		for _, arg := range reading.Args {
			if !strings.HasPrefix(arg.Name, "accounts.") {
				got = append(got, [2]string{arg.Name, arg.Value})
			}
		}
		if !ok || !reading.Complete || reading.Function != c.Instruction || !slices.Equal(got, c.Args) {
			t.Fatalf("%s %s: %q\ngot  %v\nwant %v", c.Instruction, c.Data, reading.Problem, got, c.Args)
		}
		counts[c.Instruction]++
	}
	t.Logf("read: %v", counts)
	if len(counts) != 6 {
		t.Errorf("%d instructions, want 6", len(counts))
	}
}
