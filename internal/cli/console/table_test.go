package console

import (
	"bytes"
	"strings"
	"testing"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/testenv"
)

var activityRows = [][]string{
	{"ID", "STATE", "USER", "CREATED", "KEY", "DOES"},
	{"01a2144f-1702-7000-8000-000000000001", "signed", "payments", "2026-11-26 09:00:00", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", "send 0.5 ETH to treasury; fee at most 0.0002 ETH; and a call that is not understood to 0xdAC17F958D2ee523a2206206994597C13D831ec7"},
	{"01a2144f-1702-7000-8000-000000000002", "waiting", "Ånn", "2026-11-26 10:00:00", "hot", "send 1 ETH"},
}

// TestTableWide: in a window that is wide enough, and into a file, a table is as it always was.
func TestTableWide(t *testing.T) {
	var want bytes.Buffer
	w := tabwriter.NewWriter(&want, 0, 0, 2, ' ', 0)
	for _, row := range activityRows {
		if _, err := w.Write([]byte(strings.Join(row, "\t") + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	testenv.Must(t, w.Flush())
	for _, columns := range []int{0, 300} {
		if got := (&table{activityRows, columns}).render(); got != want.String() {
			t.Errorf("%d columns:\n%s", columns, got)
		}
	}
}

// TestTableNarrow: in a narrow window no line is wider than it, unless one cell is, the columns
// of all rows are at the same places, and nothing of what they say is missing.
func TestTableNarrow(t *testing.T) {
	for columns := 30; columns < 260; columns++ {
		text := (&table{activityRows, columns}).render()
		widest := max(columns, 48+42) // an address behind an address: a word is not cut
		for line := range strings.Lines(text) {
			if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); width > widest {
				t.Fatalf("%d columns: a line of %d: %q", columns, width, line)
			}
		}
		var want []string
		for _, row := range activityRows {
			want = append(want, strings.Fields(strings.Join(row, " "))...)
		}
		if got := strings.Fields(text); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("%d columns: it says\n%s", columns, text)
		}
	}
	const want = `ID                                    STATE    USER      CREATED
    KEY
    DOES
01a2144f-1702-7000-8000-000000000001  signed   payments  2026-11-26 09:00:00
    0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7
    send 0.5 ETH to treasury; fee at most 0.0002 ETH; and a call that is not
    understood to 0xdAC17F958D2ee523a2206206994597C13D831ec7
01a2144f-1702-7000-8000-000000000002  waiting  Ånn       2026-11-26 10:00:00
    hot
    send 1 ETH
`
	if got := (&table{activityRows, 80}).render(); got != want {
		t.Errorf("80 columns:\n%s", got)
	}
}
