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

var update = flag.Bool("update", false, "write the golden files of testdata anew")

// Summaries holds what is shown of each transaction (Describe) against
// testdata/summary/<name>.txt. go test -update writes those files. A file that
// belongs to no transaction is a mistake.
func Summaries(t *testing.T, chain chains.Chain, transactions map[string][]byte, signer keystore.PublicKey) {
	t.Helper()
	for name, raw := range transactions {
		t.Run(name, func(t *testing.T) {
			golden(t, summaryFile(name), Describe(t, chain, raw, signer))
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

// Describe writes all that a person is shown of a transaction: the summary, the
// view of the signer, the hazards that the signer runs into; and below it the
// canonical form of the summary, and its digest.
func Describe(t testing.TB, chain chains.Chain, raw []byte, signer keystore.PublicKey) []byte {
	t.Helper()
	tx := parse(t, chain, raw)
	summary := tx.Summary()
	var out bytes.Buffer
	render(t, &out, summary.Fields)
	if view := tx.SignerView(signer); len(view) > 0 {
		fmt.Fprintf(&out, "\nsigner\n")
		render(t, &out, view)
	}
	for _, hazard := range tx.Hazards(signer) {
		fmt.Fprintf(&out, "\nhazard %s\n%s\n", hazard.Name, hazard.Detail)
	}
	form, err := summary.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "\n%s\n%x\n", form, summary.Digest())
	return out.Bytes()
}

func render(t testing.TB, out *bytes.Buffer, fields []chains.Field) {
	t.Helper()
	if err := chains.Render(out, fields); err != nil {
		t.Fatal(err)
	}
}

// golden compares with a file, or writes it.
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
		t.Errorf("%s differs (go test -update writes it anew):\n got\n%s\nwant\n%s", path, got, want)
	}
}
