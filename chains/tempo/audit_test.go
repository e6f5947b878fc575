package tempo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/chaintest"
	"github.com/countersign-dev/countersign/chains/tempo"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// finding is a transaction that an audit found signed without a warning, or refused
// without a reason, with the required outcome: the hazards that it carries, what its
// refusal says if nothing can allow it, and what is shown.
type finding struct {
	Name, Finding, Hex string
	Hazards, Shows     []string
	Refused            string
}

// TestFindings has what an audit found, as bytes.
func TestFindings(t *testing.T) {
	var file struct{ Cases []finding }
	chaintest.ReadJSON(t, "testdata/audit/findings.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("there are none")
	}
	for _, c := range file.Cases {
		t.Run(c.Finding+" "+c.Name, func(t *testing.T) { checkFinding(t, c) })
	}
}

func checkFinding(t *testing.T, c finding) {
	key := evmtest.Key(t, strings.Repeat("46", 32))
	tx, err := tempo.Chain{}.Parse(chaintest.Unhex(t, c.Hex))
	if err == nil {
		signing, refused := chaintest.Ready(tx, "", key)
		if err = refused; err == nil {
			if got := chaintest.Names(signing.Hazards()); !slices.Equal(got, c.Hazards) {
				t.Errorf("hazards %v, want %v", got, c.Hazards)
			}
			_, err = signing.AppendSigned(t.Context(), nil)
		}
		checkShown(t, tx.Summary(), c.Shows)
	}
	switch {
	case c.Refused == "" && err != nil:
		t.Error(err)
	case c.Refused != "" && (err == nil || !strings.Contains(err.Error(), c.Refused)):
		t.Errorf("%v, want a refusal that says %q", err, c.Refused)
	}
}

// checkShown checks that texts are in a summary.
func checkShown(t *testing.T, summary chains.Summary, shows []string) {
	t.Helper()
	var shown strings.Builder
	testenv.Must(t, chains.Render(&shown, summary.Fields))
	for _, want := range shows {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not shown:\n%s", want, shown.String())
		}
	}
}
