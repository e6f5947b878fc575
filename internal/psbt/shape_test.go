package psbt

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	raw := testenv.Hex(t, strings.ReplaceAll(text, " ", ""))
	return raw
}

// TestCompactSize has every boundary in its shortest form and in each longer one.
func TestCompactSize(t *testing.T) {
	for _, value := range []uint64{0, 1, 0xfc, 0xfd, 0xff, 0x100, 0xffff, 0x10000, math.MaxUint32, math.MaxUint32 + 1, math.MaxUint64} {
		encoded := AppendCompactSize(nil, value)
		if len(encoded) != CompactSizeLen(value) {
			t.Errorf("%d: %d bytes, CompactSizeLen says %d", value, len(encoded), CompactSizeLen(value))
		}
		c := cursor{data: encoded}
		if got := c.compactSize(); c.err != nil || got != value || c.remaining() != 0 {
			t.Errorf("%x: %d %v", encoded, got, c.err)
		}
		for cut := range encoded {
			c := cursor{data: encoded[:cut]}
			if c.compactSize(); c.err == nil {
				t.Errorf("%x: accepted", encoded[:cut])
			}
		}
	}
	for _, long := range []string{"fd0000", "fdfc00", "fe00000000", "feffff0000", "ff0000000000000000", "ffffffffff00000000"} {
		c := cursor{data: unhex(t, long), base: 100}
		c.compactSize()
		if f, ok := c.err.(*fault); !ok || f.offset != 100 || !strings.Contains(f.problem, "shortest form") {
			t.Errorf("%s: %v", long, c.err)
		}
	}
}

// TestShapes has what each rule accepts and refuses.
func TestShapes(t *testing.T) {
	compressed := "02" + strings.Repeat("11", 32)
	for _, c := range []struct {
		name    string
		rule    func([]byte) error
		value   string
		problem string // "" if it is taken
	}{
		{"compressed key", pubKey, compressed, ""},
		{"uncompressed key", pubKey, "04" + strings.Repeat("22", 64), ""},
		{"uncompressed key and one byte more", pubKey, "04" + strings.Repeat("22", 65), "66 bytes, want 33"},
		{"compressed key of 65 bytes", pubKey, "03" + strings.Repeat("22", 64), "65 bytes, want 33"},
		{"hybrid key", pubKey, "06" + strings.Repeat("22", 64), "65 bytes, want 33"},
		{"key with another first byte", pubKey, "05" + strings.Repeat("11", 32), "begins with 05"},
		{"key origin", derivation, "01020304 00000080", ""},
		{"key origin without path", derivation, "01020304", ""},
		{"key origin cut off", derivation, "01020304 000000", "key origin of 7 bytes"},
		{"no key origin", derivation, "", "key origin of 0 bytes"},
		{"taproot origin", tapDerivation, "01" + strings.Repeat("33", 32) + "01020304", ""},
		{"taproot origin of two leaves", tapDerivation, "02" + strings.Repeat("33", 64) + "01020304 05000000", ""},
		{"taproot origin of 256 leaves", tapDerivation, "fd0001" + strings.Repeat("33", 256*32) + "01020304", ""},
		{"taproot origin of 65,536 leaves", tapDerivation, "fe00000100" + strings.Repeat("33", 65536*32) + "01020304", ""},
		{"taproot origin without origin", tapDerivation, "01" + strings.Repeat("33", 32), "key origin of 0 bytes"},
		{"taproot origin with a leaf cut off", tapDerivation, "01" + strings.Repeat("33", 31), "1 leaf hashes announced, 31 bytes follow"},
		{"taproot origin without leaves", tapDerivation, "00 01020304", ""},
		{"taproot origin with too many leaves", tapDerivation, "02" + strings.Repeat("33", 32), "2 leaf hashes announced"},
		{"taproot origin with leaves beyond all", tapDerivation, "ffffffffffffffffff", "leaf hashes announced"},
		{"taproot origin cut off", tapDerivation, "00 0102", "key origin of 2 bytes"},
		{"no taproot origin", tapDerivation, "", "0 left"},
		{"participant", participant, compressed + compressed, ""},
		{"participant in a leaf", participant, compressed + compressed + strings.Repeat("44", 32), ""},
		{"participant of another kind", participant, "04" + compressed[2:] + compressed, "participant's public key"},
		{"aggregate of another kind", participant, compressed + "04" + compressed[2:], "aggregate public key"},
		{"participants", participants, compressed + compressed, ""},
		{"no participants", participants, "", "0 bytes in all"},
		{"a participant of another kind", participants, compressed + "00" + compressed[2:], "begins with 00"},
		{"output", txOut, "0100000000000000 01 51", ""},
		{"output with more behind", txOut, "0100000000000000 01 51 51", "1 bytes left over"},
		{"output cut off", txOut, "0100000000000000 02 51", "beyond the end"},
		{"output without script", txOut, "01000000000000", "7 left"},
		{"witness", witness, "02 00 01 aa", ""},
		{"empty witness", witness, "00", ""},
		{"witness with more behind", witness, "01 00 00", "1 bytes left over"},
		{"witness with items beyond all", witness, "ffffffffffffffffff", "does not fit"},
		{"witness cut off", witness, "01 05 aa", "beyond the end"},
		{"count", compactSize, "05", ""},
		{"count with more behind", compactSize, "05 00", "1 bytes left over"},
		{"no count", compactSize, "", "0 left"},
		{"proprietary", proprietary, "03 616263 00 ffff", ""},
		{"proprietary without subtype", proprietary, "03 616263", "subtype"},
		{"proprietary with identifier beyond the end", proprietary, "04 616263", "identifier"},
		{"control block", controlBlock, "c0" + strings.Repeat("55", 64), ""},
		{"control block of 129 steps", controlBlock, "c0" + strings.Repeat("55", 32+129*32), "up to 128"},
		{"leaf", leafScript, "51 c0", ""},
		{"empty leaf", leafScript, "", "empty"},
		{"tree of one leaf", tapTree, "00 c0 00", ""},
		{"tree of two", tapTree, "01 c0 01 51  01 c0 00", ""},
		{"tree of three", tapTree, "01 c0 00  02 c0 00  02 c0 00", ""},
		{"tree of three, the deep ones first", tapTree, "02 c0 00  02 c0 00  01 c0 00", ""},
		{"empty tree", tapTree, "", "whole tree"},
		{"tree with half missing", tapTree, "01 c0 00", "whole tree"},
		{"tree with one too many", tapTree, "01 c0 00 01 c0 00 01 c0 00", "depth-first"},
		{"tree out of order", tapTree, "02 c0 00  01 c0 00  02 c0 00", "depth-first"},
		{"deepest tree", tapTree, comb(128), ""},
		{"tree of a leaf too deep", tapTree, comb(129), "at most 128"},
		{"tree too deep", tapTree, "81 c0 00", "at most 128"},
		{"tree with odd version", tapTree, "00 c1 00", "a version even"},
		{"tree cut off", tapTree, "00 c0 05", "beyond the end"},
		{"tree cut off early", tapTree, "00", "1 left"},
		{"time", timeLocktime, "0065cd1d", ""},
		{"time cut off", timeLocktime, "0065cd", "3 bytes, want 4"},
		{"height", heightLocktime, "ff64cd1d", ""},
		{"height cut off", heightLocktime, "ff", "1 bytes, want 4"},
	} {
		err := c.rule(unhex(t, c.value))
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", c.name, err, c.problem)

		}
	}
}

// comb returns a tree of one leaf at each depth and two at the last one, the shallow
// ones first.
func comb(depth int) string {
	var out strings.Builder
	for i := range depth {
		fmt.Fprintf(&out, "%02xc000", i+1)
	}
	fmt.Fprintf(&out, "%02xc000", depth)
	return out.String()
}

// TestTapOrigin has the origin behind leaf hashes, and values that Read refuses.
func TestTapOrigin(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"00 01020304", "01020304"},
		{"01" + strings.Repeat("33", 32) + "01020304", "01020304"},
		{"02" + strings.Repeat("33", 64) + "01020304 05000000", "0102030405000000"},
		{"fd0001" + strings.Repeat("33", 256*32) + "01020304", "01020304"},
		{"02" + strings.Repeat("33", 63), ""},
		{"fd00", ""},
		{"", ""},
	} {
		origin, _ := TapOrigin(unhex(t, c.value))
		if got := hex.EncodeToString(origin); got != c.want {
			t.Errorf("%.20s…: %s, want %s", c.value, got, c.want)
		}
	}
}

// TestReadTransaction has the two forms of a network transaction, and malformed ones.
func TestReadTransaction(t *testing.T) {
	const input = "01" + "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" + "00000000 00 ffffffff"
	const output = "01" + "0100000000000000 01 51"
	for _, c := range []struct{ name, raw, problem string }{
		{"plain", "02000000" + input + output + "00000000", ""},
		{"with witness", "02000000 0001" + input + output + "01 01 aa" + "00000000", ""},
		{"plain, of an id that begins like the marker", "02000000 01 01" + input[4:] + output + "00000000", ""},
		{"marked by 00", "02000000 0000" + input + output + "01 01 aa" + "00000000", "without inputs"},
		{"marked by 02", "02000000 0002" + input + output + "01 01 aa" + "00000000", "without inputs"},
		{"empty", "", "0 left"},
		{"no inputs", "02000000 00" + output + "00000000", "does not fit"},
		{"no inputs and no outputs", "02000000 00 00 00000000", "without inputs"},
		{"marked, without inputs", "02000000 0001 00" + output + "00000000", "without inputs"},
		{"marked, without a witness", "02000000 0001" + input + output + "00" + "00000000", "has none"},
		{"more behind", "02000000" + input + output + "00000000 00", "1 bytes left over"},
		{"cut off", "02000000" + input + output + "000000", "3 left"},
		{"inputs beyond all", "02000000 feffffffff" + output, "does not fit"},
		{"outputs beyond all", "02000000" + input + "ffffffffffffffffff 00000000", "does not fit"},
		{"script beyond the end", "02000000" + strings.Replace(input, "00 ffffffff", "fc ffffffff", 1) + output + "00000000", "beyond the end"},
		{"witness beyond the end", "02000000 0001" + input + output + "01 fc aa" + "00000000", "beyond the end"},
	} {
		tx, err := ReadTransaction(unhex(t, c.raw), 0)
		if c.problem == "" && err == nil {
			if amount, script, err := tx.Output(0); amount != 1 || !bytes.Equal(script, []byte{0x51}) || err != nil {
				t.Errorf("%s: output %d %x %v", c.name, amount, script, err)
			}
			if _, _, err := tx.Output(1); err == nil {
				t.Errorf("%s: there is no output 1", c.name)
			}
			continue
		}
		if err == nil || c.problem == "" || !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: %v, want %q", c.name, err, c.problem)
		}
	}
	plain, err := ReadTransaction(unhex(t, "02000000"+input+output+"00000000"), 0)
	testenv.Must(t, err)
	witnessed, err := ReadTransaction(unhex(t, "02000000 0001"+input+output+"01 01 aa"+"00000000"), 0)
	testenv.Must(t, err)
	if plain.ID() != witnessed.ID() {
		t.Error("the witness is part of the id")
	}
}

// TestCountsAreBounded checks that no count causes a larger allocation than the bytes
// justify.
func TestCountsAreBounded(t *testing.T) {
	head := "70736274ff 010204 02000000 0104 %in 0105 %out 01fb 04 02000000 00"
	for _, c := range []struct{ in, out, field string }{
		{"09 ffffffffffffffffff", "01 01", "PSBT_GLOBAL_INPUT_COUNT"},
		{"05 fe00000001", "01 01", "PSBT_GLOBAL_INPUT_COUNT"},
		{"01 00", "09 ffffffffffffffffff", "PSBT_GLOBAL_OUTPUT_COUNT"},
		{"01 01", "01 01", "PSBT_GLOBAL_INPUT_COUNT"},
	} {
		text := strings.ReplaceAll(strings.ReplaceAll(head, "%in", c.in), "%out", c.out)
		raw := unhex(t, text)
		allocated := testing.AllocsPerRun(10, func() {
			if _, err := Read(raw); err == nil || !strings.Contains(err.Error(), c.field) {
				t.Errorf("%s: %v", text, err)
			}
		})
		if allocated > 50 {
			t.Errorf("%s: %v allocations", text, allocated)
		}
	}
}

// TestCountsNeedRoom checks which counts are refused for the number of bytes that follow.
func TestCountsNeedRoom(t *testing.T) {
	for inputs := range 4 {
		for outputs := range 4 {
			for room := range 200 {
				raw := fmt.Sprintf("70736274ff 010204 02000000 010401%02x 010501%02x 01fb 04 02000000 00", inputs, outputs)
				_, err := Read(append(unhex(t, raw), make([]byte, room)...))
				want := ""
				switch {
				case inputs*43 > room: // the smallest input map
					want = "PSBT_GLOBAL_INPUT_COUNT"
				case inputs*43+outputs*15 > room:
					want = "PSBT_GLOBAL_OUTPUT_COUNT"
				}
				if got := err != nil && strings.Contains(err.Error(), "do not fit"); got != (want != "") || got && !strings.Contains(err.Error(), want) {
					t.Errorf("%d inputs, %d outputs, %d bytes: %v, want %q", inputs, outputs, room, err, want)
				}
			}
		}
	}
}

// TestSplice has insertions in any order, replacements, and none.
func TestSplice(t *testing.T) {
	got := AppendSpliced(nil, []byte("0123456789"), []Insertion{
		{At: 5, Bytes: []byte("b")}, {At: 0, Bytes: []byte("x")}, {At: 5, Bytes: []byte("a")}, {At: 8, Replace: 2, Bytes: []byte("z")}, {At: 10, Bytes: []byte("!")},
	})
	if string(got) != "x01234ab567z!" {
		t.Errorf("%s", got)
	}
	raw := []byte("abc")
	if got := AppendSpliced(nil, raw, nil); !bytes.Equal(got, raw) || &got[0] == &raw[0] {
		t.Error("not a copy")
	}
}
