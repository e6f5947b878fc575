package interop

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestSolanaMetadata checks that every byte and account of what Metaplex's client for
// Token Metadata writes is decoded, except for two instructions. The effects and hazards
// are in testdata/solanametadata.txt, which COUNTERSIGN_UPDATE=1 rewrites.
func TestSolanaMetadata(t *testing.T) {
	keys := solanaSigners(t)
	var table strings.Builder
	var blind []string
	var counts testenv.Outcomes
	for _, c := range printed[solanaClient](t, "solanametadata.mjs") {
		tx, signing := c.ready(t, keys)
		effects := signing.Effects()
		if isBlind(effects) {
			blind = append(blind, c.Name)
		}
		counts.Add(isBlind(effects), len(signing.Hazards()))
		fmt.Fprintf(&table, "%s\n", c.Name)
		for _, effect := range effects[1:] { // without the fee
			fmt.Fprintf(&table, "    %s\n", replaceNames(chains.Sentence(effect, nil), c.Names))
		}
		for _, hazard := range signing.Hazards() {
			fmt.Fprintf(&table, "    ! %s\n", replaceNames(hazard.Name+": "+hazard.Detail, c.Names))
		}
		var shown bytes.Buffer
		testenv.Must(t, chains.Render(&shown, tx.Summary().Fields))
		if text := shown.String(); strings.Contains(text, "trailing data") || strings.Contains(text, "further account") {
			t.Errorf("%s: not fully decoded:\n%s", c.Name, text)
		}
	}
	if want := []string{"print", "use"}; !slices.Equal(blind, want) {
		t.Errorf("undecoded: %v, want %v", blind, want)
	}
	testenv.ClientRow(t, "@metaplex-foundation/mpl-token-metadata", counts)
	t.Logf("by default: %+v", counts)
	const path = "testdata/solanametadata.txt"
	if os.Getenv("COUNTERSIGN_UPDATE") == "1" {
		testenv.Must(t, os.WriteFile(path, []byte(table.String()), 0o644))
	}
	want := testenv.Read(t, path)
	if table.String() != string(want) {
		t.Errorf("%s differs:\n%s", path, table.String())
	}
}

func replaceNames(text string, names map[string]string) string {
	for address, name := range names {
		text = strings.ReplaceAll(text, address, name)
	}
	return text
}
