package chains_test

import (
	"math/big"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func TestRender(t *testing.T) {
	fields := []chains.Field{
		chains.Text("type", "2 (EIP-1559)"),
		chains.AddressField("to", "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"),
		chains.Amount("value", big.NewInt(1_500_000_000_000_000_000), 18, "ETH").WithNote("much"),
		chains.AmountUint("fee", 5000, 9, "SOL"),
		chains.Integer("nonce", 7),
		chains.Bytes("data", []byte{0xde, 0xad}),
		chains.Bytes("long data", make([]byte, 300)),
		chains.Time("expires", time.Date(2025, 1, 2, 3, 4, 5, 6_000_000, time.FixedZone("", 3600))),
		chains.List("transfers, of which there are two",
			chains.List("first", chains.Integer("amount", 1)),
			chains.List("second").WithNote("empty")),
		chains.Text("empty", ""),
		chains.Bytes("noted", make([]byte, 40)).WithNote("forty bytes of zeros"),
		chains.Integer("remarked", 1).WithNote(strings.Repeat("remark ", 12) + "end"),
		chains.Text("outpoint", strings.Repeat("ab", 32)+":1"),
		chains.Text("long", "a text that is longer than what is left of the line after its label and so continues"),
	}
	var out strings.Builder
	testenv.Must(t, chains.Render(&out, fields))
	want := `type       2 (EIP-1559)
to         0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7
value      1.5 ETH [much]
fee        0.000005 SOL
nonce      7
data       0xdead
long data  0x` + strings.Repeat("00", 256) + `… (300 bytes, sha256 d13d4a8b3b8add19b5970157f09d00c12cbda4fed4d74d8493156523f7069b66)
expires    2025-01-02T02:04:05.006Z
transfers, of which there are two
  first
    amount  1
  second  [empty]
empty
noted      0x` + strings.Repeat("00", 40) + ` [forty bytes of zeros]
remarked   1
           | [remark remark remark remark remark remark remark remark remark
             | remark remark remark end]
outpoint   ` + strings.Repeat("ab", 32) + `:1
long       a text that is longer than what is left of the line after its label
           | and so continues
`
	if got := out.String(); got != want {
		t.Errorf("\n got:\n%s\nwant:\n%s", got, want)
	}
}

// padded returns text that a terminal with this many columns would wrap into fields.
func padded(columns int, lines ...string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString(line + strings.Repeat(" ", max(0, columns-len(line)%columns)))
	}
	return out.String()
}

// memoTron is the memo of a transfer of 1,000,000 TRX, padded for 80 columns to look like
// a transfer of 1 TRX to another address.
var memoTron = padded(80, "invoice 7"+strings.Repeat(" ", 47), "  amount                1 TRX [1000000 sun]",
	"  to                    TQLCsShbQNXMTVCjprY64qZmEA4rBarpQp", "  note                  ok")

// TestRenderHostileText: on a terminal of 80 columns or more, text of a transaction cannot
// move the cursor, color the terminal, reverse the line, look like other text, or fake a
// line, wherever it appears.
func TestRenderHostileText(t *testing.T) {
	for _, hostile := range []string{
		"\x1b[2J\x1b[31mto  0xattacker", "line\nto  0xattacker", "carriage\rreturn", "bell\a", "tab\tbed", "back\b\b\bspace",
		"\u202egnp.exe", "\u2066isolate", "\u200bzero width", "\u2028separator", "\ufeffbom", "\x9b31m", "bad utf-8 \xff\xfe", "\u00a0nbsp", "null\x00",
		"\u3164filler", "blank\u2800pattern", "selector\ufe0f", "joiner\u034f", "\u0412inance", "act\u0456ve", "a\u0301",
		memoTron, padded(100, "memo", "  amount  0.000001 SOL", "hazards  none"), " leading", "trailing ", "| bar",
		strings.Repeat("x", 79) + " to TQLCsShbQNXMTVCjprY64qZmEA4rBarpQp", strings.Repeat("y", 1000), strings.Repeat("word ", 200) + "end",
	} {
		fields := []chains.Field{
			chains.Text("memo", hostile),
			chains.Text(hostile, "value"),
			chains.Amount("amount", big.NewInt(1), 0, hostile),
			chains.Integer("n", 1).WithNote(hostile),
			chains.List(hostile, chains.Text("inner", hostile)),
		}
		var out strings.Builder
		testenv.Must(t, chains.Render(&out, fields))
		checkLines(t, hostile, out.String(), 6)
		checkLines(t, hostile, chains.Wrap(chains.Sentence(chains.Effect{Kind: chains.KindCall, Function: hostile}, nil), 0)+"\n", 1)
	}
}

// checkLines expects a number of lines that do not continue another one, none over 80
// columns, of visible characters.
func checkLines(t *testing.T, hostile, text string, want int) {
	t.Helper()
	own := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(strings.TrimLeft(line, " "), "| ") {
			own++
		}
		if width := utf8.RuneCountInString(line); width > 80 {
			t.Errorf("%q: a line of %d columns: %s", hostile, width, line)
		}
		bad := func(r rune) bool { return r != '…' && (r < ' ' || r > '~') }
		if strings.ContainsFunc(line, bad) {
			t.Errorf("%q is in the output: %q", hostile, line)
		}
	}
	if own != want {
		t.Errorf("%q made %d lines out of %d:\n%s", hostile, own, want, text)
	}
}

// TestWrap: every word is kept, every further line marked, and a word longer than a line
// broken.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text   string
		column int
		want   string
	}{
		{"short", 10, "short"},
		{"", 0, ""},
		{strings.Repeat("a", 80), 0, strings.Repeat("a", 80)},
		{strings.Repeat("a", 81), 0, strings.Repeat("a", 80) + "\n| a"},
		{"one two", 60, "one two"},
		{"12345678901234567 890", 60, "12345678901234567 890"},
		{strings.Repeat("word ", 15) + "last words", 4, strings.TrimSpace(strings.Repeat("word ", 15)) + "\n    | last words"},
	} {
		if c.column == 60 {
			c.want = strings.ReplaceAll(c.want, " 890", "\n"+strings.Repeat(" ", 60)+"| 890")
		}
		if got := chains.Wrap(c.text, c.column); got != c.want {
			t.Errorf("Wrap(%q, %d) =\n%s\nwant\n%s", c.text, c.column, got, c.want)
		}
	}
}

// TestRenderWidths: a list with a note may have the longest label of all.
func TestRenderWidths(t *testing.T) {
	var out strings.Builder
	fields := []chains.Field{chains.Integer("n", 1), chains.List("a long label").WithNote("and a note")}
	testenv.Must(t, chains.Render(&out, fields))
	if want := "n  1\na long label  [and a note]\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestDecimal(t *testing.T) {
	for _, c := range []struct {
		integer  string
		decimals int
		want     string
	}{
		{"0", 0, "0"}, {"0", 18, "0"}, {"1", 0, "1"}, {"1", 18, "0.000000000000000001"},
		{"1500", 3, "1.5"}, {"1000", 3, "1"}, {"999", 3, "0.999"}, {"1001", 3, "1.001"}, {"10", 1, "1"},
		{"-1500", 3, "-1.5"}, {"-1", 3, "-0.001"}, {"42", -1, "42"},
		{"115792089237316195423570985008687907853269984665640564039457584007913129639935", 18,
			"115792089237316195423570985008687907853269984665640564039457.584007913129639935"},
	} {
		if got := chains.Decimal(c.integer, c.decimals); got != c.want {
			t.Errorf("Decimal(%s, %d) = %s, want %s", c.integer, c.decimals, got, c.want)
		}
	}
}
