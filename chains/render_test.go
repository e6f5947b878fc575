package chains_test

import (
	"math/big"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/countersign-dev/countersign/chains"
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
	}
	var out strings.Builder
	if err := chains.Render(&out, fields); err != nil {
		t.Fatal(err)
	}
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
`
	if got := out.String(); got != want {
		t.Errorf("\n got:\n%s\nwant:\n%s", got, want)
	}
}

// TestRenderHostileText: text of a transaction cannot move the cursor, colour
// the terminal, reverse the line or start a new one, wherever it stands.
func TestRenderHostileText(t *testing.T) {
	for _, hostile := range []string{
		"\x1b[2J\x1b[31mto  0xattacker", "line\nto  0xattacker", "carriage\rreturn", "bell\a", "tab\tbed", "back\b\b\bspace",
		"\u202egnp.exe", "\u2066isolate", "\u200bzero width", "\u2028separator", "\ufeffbom", "\x9b31m", "bad utf-8 \xff\xfe", "\u00a0nbsp", "null\x00",
	} {
		fields := []chains.Field{
			chains.Text("memo", hostile),
			chains.Text(hostile, "value"),
			chains.Amount("amount", big.NewInt(1), 0, hostile),
			chains.Integer("n", 1).WithNote(hostile),
			chains.List(hostile, chains.Text("inner", hostile)),
		}
		var out strings.Builder
		if err := chains.Render(&out, fields); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(out.String(), "\n"); lines != 6 {
			t.Errorf("%q made %d lines out of 6", hostile, lines)
		}
		bad := func(r rune) bool { return r != '\n' && (!unicode.IsPrint(r) || r == unicode.ReplacementChar) }
		if at := strings.IndexFunc(out.String(), bad); at >= 0 {
			t.Errorf("%q is in the output: %q", hostile, out.String())
		}
	}
}

// TestRenderWidths: a list with a note may have the longest label of all.
func TestRenderWidths(t *testing.T) {
	var out strings.Builder
	fields := []chains.Field{chains.Integer("n", 1), chains.List("a long label").WithNote("and a note")}
	if err := chains.Render(&out, fields); err != nil {
		t.Fatal(err)
	}
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
