package eip712_test

import (
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"github.com/countersign-dev/countersign/messages/eip712"
)

var prove = flag.Int("prove", 2000, "how many random typed data to compare with go-ethereum's apitypes")

// TestAgainstApitypes compares the digests of random typed data with those of
// go-ethereum, which is lenient where this reader is strict, and hashes alike what
// both take.
func TestAgainstApitypes(t *testing.T) {
	for seed := range uint64(*prove) {
		text := (&generator{rand.New(rand.NewPCG(seed, 7)), map[string][][2]string{}}).document()
		want, err := theirs(text)
		if err != nil {
			t.Fatalf("seed %d: %s: apitypes: %v", seed, text, err)
		}
		got := parse(t, text).Digest()
		if hex.EncodeToString(got[:]) != hex.EncodeToString(want) {
			t.Fatalf("seed %d: %s\n got %x\nwant %x", seed, text, got, want)
		}
	}
}

func theirs(text string) ([]byte, error) {
	var data apitypes.TypedData
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		return nil, err
	}
	digest, _, err := apitypes.TypedDataAndHash(data)
	return digest, err
}

// generator makes typed data out of a source of chance.
type generator struct {
	*rand.Rand
	types map[string][][2]string // members of each struct: name, type
}

func (g *generator) document() string {
	names := []string{"A", "B", "C", "D"}[:1+g.IntN(4)]
	for i, name := range names {
		g.types[name] = [][2]string{}
		for k := range g.IntN(5) {
			g.types[name] = append(g.types[name], [2]string{fmt.Sprintf("m%d", k), g.spec(names[i+1:])})
		}
	}
	domain := [][2]string{{"name", "string"}, {"version", "string"}, {"chainId", "uint256"}, {"verifyingContract", "address"}, {"salt", "bytes32"}}
	g.types["EIP712Domain"] = domain[:1+g.IntN(5)] // apitypes refuses an empty one
	types := map[string][]map[string]string{}
	for _, name := range append(names, "EIP712Domain") {
		types[name] = []map[string]string{}
		for _, m := range g.types[name] {
			types[name] = append(types[name], map[string]string{"name": m[0], "type": m[1]})
		}
	}
	form, err := json.Marshal(types)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"types":%s,"primaryType":"A","domain":%s,"message":%s}`, form,
		strings.ReplaceAll(g.value("EIP712Domain"), `:""`, `:"v"`), g.value("A")) // apitypes takes an empty text for an absent one
}

// spec chooses a type; structs only from those that are declared later.
func (g *generator) spec(structs []string) string {
	plain := []string{"bool", "string", "address", "bytes", fmt.Sprintf("bytes%d", 1+g.IntN(32)), fmt.Sprintf("uint%d", 8*(1+g.IntN(32))), fmt.Sprintf("int%d", 8*(1+g.IntN(32)))}
	spec := plain[g.IntN(len(plain))]
	if len(structs) > 0 && g.IntN(2) == 0 {
		spec = structs[g.IntN(len(structs))]
	}
	return spec + []string{"", "", "[]", "[2]", "[][3]"}[g.IntN(5)]
}

func (g *generator) value(spec string) string {
	if open := strings.LastIndexByte(spec, '['); open >= 0 {
		count := g.IntN(3)
		if length := spec[open+1 : len(spec)-1]; length != "" {
			count = int(length[0] - '0')
		}
		elements := make([]string, count)
		for i := range elements {
			elements[i] = g.value(spec[:open])
		}
		return "[" + strings.Join(elements, ",") + "]"
	}
	if _, ok := g.types[spec]; ok {
		members := make([]string, len(g.types[spec]))
		for i, m := range g.types[spec] {
			members[i] = fmt.Sprintf("%q:%s", m[0], g.value(m[1]))
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	return g.plain(spec)
}

func (g *generator) plain(spec string) string {
	var size int
	switch {
	case spec == "bool":
		return fmt.Sprint(g.IntN(2) == 0)
	case spec == "string":
		return fmt.Sprintf("%q", []string{"", "x", "Hello, Bob!", "é\u4e16"}[g.IntN(4)])
	case spec == "address":
		return `"` + common.BytesToAddress(g.bytes(20)).Hex() + `"`
	case spec == "bytes":
		return `"0x` + hex.EncodeToString(g.bytes(g.IntN(70))) + `"`
	case scan(spec, "bytes%d", &size):
		return `"0x` + hex.EncodeToString(g.bytes(size)) + `"`
	case scan(spec, "uint%d", &size):
		return g.integer(new(big.Int).SetBytes(g.bytes(size / 8)))
	case scan(spec, "int%d", &size):
		half := new(big.Int).Lsh(big.NewInt(1), uint(size-1))
		return `"` + new(big.Int).Sub(new(big.Int).SetBytes(g.bytes(size/8)), half).String() + `"`
	}
	panic(spec)
}

func scan(spec, format string, into *int) bool {
	_, err := fmt.Sscanf(spec, format, into)
	return err == nil
}

// integer writes a number in one of the forms.
func (g *generator) integer(n *big.Int) string {
	switch {
	case g.IntN(3) == 0:
		return `"0x` + n.Text(16) + `"`
	case n.BitLen() <= 50 && g.IntN(2) == 0:
		return n.String()
	}
	return `"` + n.String() + `"`
}

func (g *generator) bytes(count int) []byte {
	out := make([]byte, count)
	for i := range out {
		out[i] = byte(g.Uint32())
	}
	if g.IntN(8) == 0 {
		clear(out)
	}
	return out
}

// FuzzParse: what is read is hashed without a panic, and where apitypes takes the
// text too, both hash it alike.
func FuzzParse(f *testing.F) {
	f.Add([]byte(mail))
	for _, list := range [][]refusal{badValues, badTypes} {
		for _, c := range list {
			f.Add([]byte(c.text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		data, err := eip712.Parse(text)
		if err != nil {
			return
		}
		data.UnusedTypes()
		got := data.Digest()
		if want, err := theirs(string(text)); err == nil && hex.EncodeToString(want) != hex.EncodeToString(got[:]) && !differs(data) {
			t.Errorf("%s\n got %x\nwant %x", text, got, want)
		}
	})
}

// differs reports whether a type has a name with a colon, which apitypes cuts.
func differs(data *eip712.TypedData) bool {
	return strings.Contains(data.EncodeType(data.PrimaryType), ":")
}

func BenchmarkDigest(b *testing.B) {
	text := []byte(mail)
	b.Run("countersign", func(b *testing.B) {
		for b.Loop() {
			data, err := eip712.Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			data.Digest()
		}
	})
	b.Run("apitypes", func(b *testing.B) {
		for b.Loop() {
			if _, err := theirs(mail); err != nil {
				b.Fatal(err)
			}
		}
	})
}
