package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Outcomes counts what happens to a client's transactions if no hazard is allowed.
type Outcomes struct {
	Signed  int
	Refused int // decoded, but refused for a hazard
	Blind   int // refused because something is not decoded
}

// Add counts a transaction: blind if part of it is not decoded, otherwise refused if it
// has hazards.
func (o *Outcomes) Add(blind bool, hazards int) {
	switch {
	case blind:
		o.Blind++
	case hazards > 0:
		o.Refused++
	default:
		o.Signed++
	}
}

// ClientRow checks that the table of clients in docs/effects.md has the counts of a
// client. COUNTERSIGN_UPDATE=1 updates an existing row.
func ClientRow(t testing.TB, client string, got Outcomes) {
	t.Helper()
	path := filepath.Join(Root(), "docs", "effects.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	row := fmt.Sprintf("| %s | %d | %d | %d |", client, got.Signed, got.Refused, got.Blind)
	if strings.Contains(string(text), row+"\n") {
		return
	}
	old := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(client) + ` \|.*$`)
	if os.Getenv("COUNTERSIGN_UPDATE") != "1" || !old.Match(text) {
		t.Errorf("docs/effects.md does not have the row\n%s", row)
		return
	}
	if err := os.WriteFile(path, old.ReplaceAll(text, []byte(row)), 0o644); err != nil {
		t.Fatal(err)
	}
}
