package eip712_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// TestReading checks what is said of values of each kind, and of the elements of arrays.
func TestReading(t *testing.T) {
	for _, test := range []struct {
		spec, value string
		kind        chains.TypedKind
		check       func(v *chains.TypedValue) bool
	}{
		{"S", `{"x":true}`, chains.TypedStruct, func(v *chains.TypedValue) bool { return len(v.List) == 1 && v.List[0].Number.Sign() == 1 }},
		{"bool", "true", chains.TypedBool, func(v *chains.TypedValue) bool { return v.Number.Sign() == 1 }},
		{"bool", "false", chains.TypedBool, func(v *chains.TypedValue) bool { return v.Number.Sign() == 0 }},
		{"string", `"a\u0062"`, chains.TypedText, func(v *chains.TypedValue) bool { return string(v.Bytes) == "ab" }},
		{"address", `"0x` + strings.Repeat("ab", 20) + `"`, chains.TypedAddress, func(v *chains.TypedValue) bool { return len(v.Bytes) == 20 && v.Bytes[19] == 0xab }},
		{"bytes", `"0x0102"`, chains.TypedBytes, func(v *chains.TypedValue) bool { return string(v.Bytes) == "\x01\x02" }},
		{"bytes2", `"0x0102"`, chains.TypedFixedBytes, func(v *chains.TypedValue) bool { return string(v.Bytes) == "\x01\x02" }},
		{"uint16", "7", chains.TypedNumber, func(v *chains.TypedValue) bool { return v.Number.Int64() == 7 }},
		{"int16", "-7", chains.TypedNumber, func(v *chains.TypedValue) bool { return v.Number.Int64() == -7 }},
		{"uint8[1]", "[3]", chains.TypedList, func(v *chains.TypedValue) bool {
			return len(v.List) == 1 && v.List[0].Type == "uint8" && v.List[0].Kind == chains.TypedNumber
		}},
		{"S[1][]", `[[{"x":true}],[{"x":false}]]`, chains.TypedList, func(v *chains.TypedValue) bool {
			inner := &v.List[1]
			return len(v.List) == 2 && inner.Type == "S[1]" && inner.Kind == chains.TypedList && inner.List[0].Type == "S" && inner.List[0].Kind == chains.TypedStruct
		}},
	} {
		v, ok := parse(t, typed(test.spec, test.value)).Message.Member("v")
		if !ok || v.Type != test.spec || v.Kind != test.kind || !test.check(v) {
			t.Errorf("%s %s: %+v", test.spec, test.value, v)
		}
	}
	message := &parse(t, mail).Message
	for _, name := range []string{"from", "to", "contents"} {
		if _, ok := message.Member(name); !ok {
			t.Errorf("no member %s", name)
		}
	}
	if _, ok := message.Member("From"); ok {
		t.Error("there is no member From")
	}
	for text, want := range map[string][]string{
		mail: nil, typed("S[]", "[]"): nil,
		strings.Replace(typed("bool", "true"), `"S":`, `"Z":[],"A":[],"S":`, 1): {"A", "S", "Z"},
	} {
		if got := parse(t, text).UnusedTypes(); !slices.Equal(got, want) {
			t.Errorf("unused %v, want %v", got, want)
		}
	}
}

// TestPlaces checks the member and the offset of refusals: that of the text after the
// mark, which is removed.
func TestPlaces(t *testing.T) {
	long := strings.Repeat("n", 200)
	for _, test := range []struct{ text, field, problem string }{
		{strings.Replace(mail, `"types":`, `"types":[],^"x":`, 1), "x", "unknown member"},
		{`{"types":^[],"primaryType":"M","domain":{},"message":{}}`, "types", "expected an object of types"},
		{`{"types":^1,"primaryType":"M","domain":{},"message":{}}`, "types", "expected an object of types"},
		{strings.Replace(typed("bool", "true"), `"S":[{`, `"S":^{"a":1},"T":[{`, 1), "types.S", "expected a list of members"},
		{strings.Replace(typed("bool", "true"), `"S":[{`, `"S":^1,"T":[{`, 1), "types.S", "expected a list of members"},
		{strings.Replace(typed("M", "true"), `"M":`, `^"M":`, 1), "types.M", "contains itself"},
		{strings.Replace(typed("bool", "true"), `"S":`, `^"int":`, 1), `types."int"`, "built-in type"},
		{strings.Replace(typed("bool", "true"), `"S":`, `^"uint":`, 1), `types."uint"`, "built-in type"},
		{strings.Replace(typed("bool", "true"), `"S":`, `^"`+long+`":`, 1), `types."` + long[:128] + `…"`, "the name of a type"},
		{typed("bool", `true,^"w":1`), "message.w", "M has no such member"},
		{typed("bool", `true,^"a b":1`), `message."a b"`, "M has no such member"},
		{typed("S[]", `[{"x":true},{"x":^1}]`), "message.v[1].x", "true or false"},
		{typed("bool[]", `^{}`), "message.v", "expected an array for bool[]"},
		{typed("bool[]", `^true`), "message.v", "expected an array for bool[]"},
		{typed("S", `^true`), "message.v", "expected an object for S"},
		{typed("string", `^{}`), "message.v", "expected text"},
		{typed("bytes", `^{}`), "message.v", "expected text of 0x"},
		{typed("uint8", `^{}`), "message.v", "expected an integer"},
		{typed("uint8", `^[]`), "message.v", "expected an integer"},
		{typed("int8", `^"0x-1"`), "message.v", "decimal digits"},
		{typed("int8", `^"0x+1"`), "message.v", "decimal digits"},
		{typed("int8", `^"0x1_0"`), "message.v", "decimal digits"},
		{typed("uint8", `^"1_0"`), "message.v", "decimal digits"},
	} {
		at := strings.IndexByte(test.text, '^')
		_, err := eip712.Parse([]byte(strings.Replace(test.text, "^", "", 1)))
		refused, ok := errors.AsType[*chains.ParseError](err)
		if !ok || refused.Chain != "eip712" || refused.Field != test.field || refused.Offset != at || !strings.Contains(refused.Problem, test.problem) {
			t.Errorf("%.200s: %v, want %s of %s at byte %d", test.text, err, test.problem, test.field, at)
		}
	}
}

// TestSuffixes has arrays whose suffix is malformed behind a well-formed one.
func TestSuffixes(t *testing.T) {
	for _, suffix := range []string{"[2]3]", "[2]x[3]", "[2]]", "[]a]", "[2][", "[ 2]", "[+2]", "[2_0]", "[99999999999999999999]", "]", "]["} {
		if _, err := eip712.Parse([]byte(typed("uint8"+suffix, "[]"))); !errors.Is(err, chains.ErrMalformed) {
			t.Errorf("uint8%s: %v", suffix, err)
		}
	}
}

// TestEveryMember has what is wrong in each place of a list of members: of the domain,
// and of a type that is nested too deeply by one of them.
func TestEveryMember(t *testing.T) {
	good := []string{`{"name":"name","type":"string"}`, `{"name":"version","type":"string"}`}
	for place := range 3 {
		members := strings.Join(slices.Insert(slices.Clone(good), place, `{"name":"chain","type":"uint256"}`), ",")
		text := strings.Replace(typed("bool", "true"), `"EIP712Domain":[{"name":"name","type":"string"}]`, `"EIP712Domain":[`+members+`]`, 1)
		if _, err := eip712.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "is not a member of a domain") {
			t.Errorf("place %d: %v", place, err)
		}
		flat := []string{`{"name":"a","type":"bool"}`, `{"name":"b","type":"bool[]"}`}
		members = strings.Join(slices.Insert(slices.Clone(flat), place, `{"name":"c","type":"bool`+strings.Repeat("[]", eip712.MaxDepth)+`"}`), ",")
		text = strings.Replace(typed("bool", "true"), `"S":[`, `"S":[`+members+`,`, 1)
		if _, err := eip712.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "nested 17 levels deep") {
			t.Errorf("place %d: %v", place, err)
		}
	}
	for _, open := range []string{`{"a":`, `[`, `{"a":[`, `[{"a":`} {
		if _, err := eip712.Parse([]byte(strings.Repeat(open, 100))); err == nil || !strings.Contains(err.Error(), "nested more than 20 levels deep") {
			t.Errorf("%s: %v", open, err)
		}
	}
}
