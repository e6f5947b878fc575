package eip712_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// TestBuiltInTypes has every name that looks like a sized built-in type.
func TestBuiltInTypes(t *testing.T) {
	for size := range 300 {
		for prefix, ok := range map[string]bool{
			"bytes": size >= 1 && size <= 32,
			"uint":  size >= 8 && size <= 256 && size%8 == 0,
			"int":   size >= 8 && size <= 256 && size%8 == 0,
		} {
			name := fmt.Sprint(prefix, size)
			_, err := eip712.Parse([]byte(typed(name+"[]", "[]")))
			if ok != (err == nil) {
				t.Errorf("%s: %v", name, err)
			}
			// A struct may have the name of a type that does not exist.
			text := strings.Replace(typed("bool", "true"), `"S":`, `"`+name+`":`, 1)
			if _, err := eip712.Parse([]byte(text)); ok != (err != nil) {
				t.Errorf("a struct of the name %s: %v", name, err)
			}
		}
	}
}

// TestIntegerBounds has the least and greatest value of each type and what is beyond
// them, in decimal and hex, and compares the digests with apitypes'.
func TestIntegerBounds(t *testing.T) {
	one := big.NewInt(1)
	for size := uint(8); size <= 256; size += 8 {
		power, half := new(big.Int).Lsh(one, size), new(big.Int).Lsh(one, size-1)
		add := func(a *big.Int, b int64) *big.Int { return new(big.Int).Add(a, big.NewInt(b)) }
		for _, test := range []struct {
			spec  string
			value *big.Int
			ok    bool
		}{
			{"uint", add(power, -1), true}, {"uint", power, false}, {"uint", big.NewInt(0), true}, {"uint", big.NewInt(-1), false}, {"uint", half, true},
			{"int", add(half, -1), true}, {"int", half, false}, {"int", new(big.Int).Neg(half), true}, {"int", add(new(big.Int).Neg(half), -1), false},
			{"int", big.NewInt(-1), true}, {"int", power, false}, {"int", new(big.Int).Neg(power), false},
		} {
			spec := fmt.Sprint(test.spec, size)
			texts := []string{`"` + test.value.String() + `"`}
			if test.value.Sign() >= 0 {
				texts = append(texts, fmt.Sprintf(`"0x%x"`, test.value), fmt.Sprintf(`"0x00%X"`, test.value))
			}
			if test.value.IsInt64() && test.value.CmpAbs(big.NewInt(1<<53)) < 0 {
				texts = append(texts, test.value.String())
			}
			for _, text := range texts {
				data, err := eip712.Parse([]byte(typed(spec, text)))
				if test.ok != (err == nil) {
					t.Errorf("%s %s: %v", spec, text, err)
				}
				if err != nil {
					continue
				}
				if got := data.Message.List[0].Number; got.Cmp(test.value) != 0 {
					t.Errorf("%s %s: read %s", spec, text, got)
				}
				checkDigest(t, data, typed(spec, `"`+test.value.String()+`"`))
			}
		}
	}
}

// checkDigest compares the digest with apitypes' of a text.
func checkDigest(t *testing.T, data *eip712.TypedData, text string) {
	t.Helper()
	want, err := apitypesDigest(text)
	if err != nil {
		t.Fatalf("%s: apitypes: %v", text, err)
	}
	if got := data.Digest(); hex.EncodeToString(got[:]) != hex.EncodeToString(want) {
		t.Errorf("%s\n got %x\nwant %x", text, got, want)
	}
}

// TestFixedBytes has every size and the ones beside it.
func TestFixedBytes(t *testing.T) {
	for size := 1; size <= 32; size++ {
		for length := range 35 {
			text := typed(fmt.Sprint("bytes", size), fmt.Sprintf(`"0x%s"`, strings.Repeat("a7", length)))
			data, err := eip712.Parse([]byte(text))
			if (err == nil) != (length == size) {
				t.Errorf("bytes%d of %d bytes: %v", size, length, err)
			}
			if err == nil {
				checkDigest(t, data, text)
			}
		}
	}
}

// TestChecksum changes the case of each letter of an address.
func TestChecksum(t *testing.T) {
	const address = "CD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"
	for i := range address {
		changed := []byte(address)
		if changed[i] < 'A' {
			continue
		}
		changed[i] ^= 'a' - 'A'
		_, err := eip712.Parse([]byte(typed("address", `"0x`+string(changed)+`"`)))
		if err == nil || !strings.Contains(err.Error(), "write 0x"+address) {
			t.Errorf("%s: %v", changed, err)
		}
	}
	for length := range 25 {
		if _, err := eip712.Parse([]byte(typed("address", `"0x`+strings.Repeat("11", length)+`"`))); (err == nil) != (length == 20) {
			t.Errorf("%d bytes: %v", length, err)
		}
	}
}

// TestBounds has what is just within each bound and what is just beyond it.
func TestBounds(t *testing.T) {
	many := func(count int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", count), ",") }
	name := func(length int) string {
		return strings.ReplaceAll(typed("bool", "true"), `"v"`, `"`+strings.Repeat("v", length)+`"`)
	}
	typeName := func(length int) string {
		return strings.Replace(typed("bool", "true"), `"S":`, `"`+strings.Repeat("S", length)+`":`, 1)
	}
	types := func(count int) string {
		var out strings.Builder
		for i := range count - 3 {
			fmt.Fprintf(&out, `"S%d":[],`, i)
		}
		return strings.Replace(typed("bool", "true"), `"S":`, out.String()+`"S":`, 1)
	}
	nested := func(arrays int) string {
		return typed("bool"+strings.Repeat("[]", arrays), strings.Repeat("[", arrays)+strings.Repeat("]", arrays))
	}
	// Besides its elements, typed has 19 values.
	values := func(count int) string { return typed("bool[]", "["+many(count-19, "true")+"]") }
	for bound, test := range map[string]struct{ within, beyond string }{
		"integer of JSON":          {typed("uint64", "9007199254740991"), typed("uint64", "9007199254740992")},
		"negative integer of JSON": {typed("int64", "-9007199254740991"), typed("int64", "-9007199254740992")},
		"digits of an integer":     {typed("uint8", `"0x`+strings.Repeat("0", 77)+`1"`), typed("uint8", `"0x`+strings.Repeat("0", 78)+`1"`)},
		"name of a member":         {name(eip712.MaxName), name(eip712.MaxName + 1)},
		"name of a type":           {typeName(eip712.MaxName), typeName(eip712.MaxName + 1)},
		"types":                    {types(eip712.MaxTypes), types(eip712.MaxTypes + 1)},
		"levels of arrays":         {nested(eip712.MaxDepth - 1), nested(eip712.MaxDepth)},
		"length of an array":       {typed("bool[16384][]", "[]"), typed("bool[16385][]", "[]")},
		"elements":                 {typed("bool[3]", "[true,true,true]"), typed("bool[3]", "[true,true,true,true]")},
		"bytes":                    {mail + strings.Repeat(" ", eip712.MaxBytes-len(mail)), mail + strings.Repeat(" ", eip712.MaxBytes-len(mail)+1)},
		"values":                   {values(eip712.MaxValues), values(eip712.MaxValues + 1)},
	} {
		if _, err := eip712.Parse([]byte(test.within)); err != nil {
			t.Errorf("%s: %v", bound, err)
		}
		if _, err := eip712.Parse([]byte(test.beyond)); !errors.Is(err, chains.ErrMalformed) {
			t.Errorf("%s: %v", bound, err)
		}
	}
}

// TestNames has names of types and members with every character of ASCII.
func TestNames(t *testing.T) {
	for char := range rune(128) {
		if char == '"' || char == '\\' || char < ' ' {
			continue
		}
		letter := char == '_' || char == '$' || char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z'
		digit := char >= '0' && char <= '9'
		for _, test := range []struct {
			name         string
			member, kind bool
		}{
			{string(char) + "x", letter, letter || char == ':'},
			{"x" + string(char), letter || digit, letter || digit || char == ':'},
		} {
			_, err := eip712.Parse([]byte(strings.ReplaceAll(typed("bool", "true"), `"v"`, `"`+test.name+`"`)))
			if test.member != (err == nil) {
				t.Errorf("member %s: %v", test.name, err)
			}
			_, err = eip712.Parse([]byte(strings.Replace(typed("bool", "true"), `"S":`, `"`+test.name+`":`, 1)))
			if test.kind != (err == nil) {
				t.Errorf("type %s: %v", test.name, err)
			}
		}
	}
}

// TestDomains has every set of members of a domain.
func TestDomains(t *testing.T) {
	members := []struct{ name, spec, value string }{
		{"name", "string", `"n"`}, {"version", "string", `"2"`}, {"chainId", "uint256", "5"},
		{"verifyingContract", "address", `"0xcccccccccccccccccccccccccccccccccccccccc"`}, {"salt", "bytes32", `"0x` + strings.Repeat("5a", 32) + `"`},
	}
	for set := range 1 << len(members) {
		var specs, values []string
		for i, m := range members {
			if set>>i&1 == 1 {
				specs = append(specs, fmt.Sprintf(`{"name":%q,"type":%q}`, m.name, m.spec))
				values = append(values, fmt.Sprintf(`%q:%s`, m.name, m.value))
			}
		}
		text := `{"types":{"EIP712Domain":[` + strings.Join(specs, ",") + `],"M":[{"name":"v","type":"bool"}]},` +
			`"primaryType":"M","domain":{` + strings.Join(values, ",") + `},"message":{"v":true}}`
		data := parse(t, text)
		if set != 0 { // apitypes refuses an empty domain
			checkDigest(t, data, text)
		}
		var of []string
		for _, m := range data.Domain.List {
			of = append(of, fmt.Sprintf(`{"name":%q,"type":%q}`, m.Name, m.Type))
		}
		if !slices.Equal(of, specs) {
			t.Errorf("members %s, want %s", of, specs)
		}
	}
	if data := parse(t, mail); data.EncodeType("Other") != "" {
		t.Error("there is no type Other")
	}
}
