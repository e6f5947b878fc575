// Package drawn generates random messages for tests that compare readers. The same
// seed always yields the same message.
package drawn

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// TypedData returns typed data (EIP-712) as JSON text: up to four structs that contain
// each other, some of which may be unused, with every built-in type and with arrays of
// variable and fixed length. It is valid for every reader of EIP-712.
func TypedData(r *rand.Rand) string {
	return (&generator{r, map[string][][2]string{}}).document()
}

// generator generates typed data.
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
	domain := [][2]string{{"name", "string"}, {"version", "string"}, {"chainId", "uint256"}, {"verifyingContract",
		"address"}, {"salt", "bytes32"}}
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
		strings.ReplaceAll(g.value("EIP712Domain"), `:""`, `:"v"`), g.value("A")) // apitypes treats an empty string as absent
}

// spec chooses a type. It may be one of the given structs, which are declared later.
func (g *generator) spec(structs []string) string {
	plain := []string{"bool", "string", "address", "bytes", fmt.Sprintf("bytes%d", 1+g.IntN(32)),
		fmt.Sprintf("uint%d", 8*(1+g.IntN(32))), fmt.Sprintf("int%d", 8*(1+g.IntN(32)))}
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

// integer writes a number in one of its forms.
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

// Text returns text that can be shown to a person: characters of one to four bytes of
// UTF-8, among them digits, tabs and line feeds. It may be empty.
func Text(r *rand.Rand) string {
	letters := []rune("0123456789 abcXYZ\t\n.é世😁\"\\")
	text := make([]rune, r.IntN(4)*r.IntN(60))
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}
