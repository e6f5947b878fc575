package chaintest

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// Summaries compares the description of each transaction (Describe) with
// testdata/summary/<name>.txt, which go test -update rewrites. It fails if a file belongs
// to no transaction.
func Summaries(t *testing.T, chain chains.Chain, transactions map[string][]byte, key keystore.Key) {
	t.Helper()
	for name, raw := range transactions {
		t.Run(name, func(t *testing.T) {
			golden(t, summaryFile(name), Describe(t, chain, raw, key))
		})
	}
	files, err := filepath.Glob(summaryFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(transactions) {
		t.Errorf("%d golden files for %d transactions", len(files), len(transactions))
	}
}

func summaryFile(name string) string { return filepath.Join("testdata", "summary", name+".txt") }

// Describe returns everything that is shown of a transaction: its effects as sentences, the
// details, the signer's view if the key can sign, and the hazards; followed by the
// canonical form of the summary and its digest.
func Describe(t testing.TB, chain chains.Chain, raw []byte, key keystore.Key) []byte {
	t.Helper()
	tx := parse(t, chain, raw)
	summary, hazards := tx.Summary(), tx.Hazards()
	if tx.Chain() != summary.Chain {
		t.Errorf("the chain is %q, that of the summary %q", tx.Chain(), summary.Chain)
	}
	var out bytes.Buffer
	for _, effect := range summary.Effects {
		fmt.Fprintln(&out, chains.Sentence(effect, nil))
	}
	render(t, &out, summary.Fields)
	if signing, err := Ready(tx, key.ID(), key); err == nil {
		hazards = signing.Hazards()
		fmt.Fprintf(&out, "\nsigner\n")
		render(t, &out, signing.SignerView())
	}
	for _, hazard := range hazards {
		fmt.Fprintf(&out, "\nhazard %s%s\n%s\n", hazard.Name, where(hazard), hazard.Detail)
	}
	form, err := summary.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "\n%s\n%x\n", form, summary.Digest())
	return out.Bytes()
}

func where(hazard chains.Hazard) string {
	if index, ok := hazard.Effect(); ok {
		return fmt.Sprintf(" (effect %d)", index)
	}
	return ""
}

func render(t testing.TB, out *bytes.Buffer, fields []chains.Field) {
	t.Helper()
	if err := chains.Render(out, fields); err != nil {
		t.Fatal(err)
	}
}

// golden compares got with a file, or rewrites the file.
func golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update rewrites it):\n got\n%s\nwant\n%s", path, got, want)
	}
}
