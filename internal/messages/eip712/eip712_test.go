package eip712_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/eip712"
)

// mail is the example of EIP-712.
const mail = `{"types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],` +
	`"Person":[{"name":"name","type":"string"},{"name":"wallet","type":"address"}],"Mail":[{"name":"from","type":"Person"},{"name":"to","type":"Person"},{"name":"contents","type":"string"}]},` +
	`"primaryType":"Mail","domain":{"name":"Ether Mail","version":"1","chainId":1,"verifyingContract":"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"},` +
	`"message":{"from":{"name":"Cow","wallet":"0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"},"to":{"name":"Bob","wallet":"0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"},"contents":"Hello, Bob!"}}`

func parse(t testing.TB, text string) *eip712.TypedData {
	t.Helper()
	data, err := eip712.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return data
}

// TestExample compares with the hashes that EIP-712 publishes.
func TestExample(t *testing.T) {
	data := parse(t, mail)
	if got, want := data.EncodeType("Mail"), "Mail(Person from,Person to,string contents)Person(string name,address wallet)"; got != want {
		t.Errorf("encodeType %s", got)
	}
	for name, hash := range map[string]struct {
		got  [32]byte
		want string
	}{
		"domain": {data.DomainSeparator(), "f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f"},
		"digest": {data.Digest(), "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2"},
	} {
		if got := hex.EncodeToString(hash.got[:]); got != hash.want {
			t.Errorf("%s %s, want %s", name, got, hash.want)
		}
	}
	if from, ok := data.Message.Member("from"); !ok || from.Type != "Person" || string(from.List[0].Bytes) != "Cow" {
		t.Errorf("from is %+v", from)
	}
}

// typed returns typed data whose message has one member "v" of a type.
func typed(spec, value string) string {
	return `{"types":{"EIP712Domain":[{"name":"name","type":"string"}],"S":[{"name":"x","type":"bool"}],"M":[{"name":"v","type":"` + spec + `"}]},` +
		`"primaryType":"M","domain":{"name":"d"},"message":{"v":` + value + `}}`
}

func TestValues(t *testing.T) {
	for _, test := range [][2]string{
		{"uint8", "255"}, {"uint8", `"255"`}, {"uint8", `"0xff"`}, {"uint8", `"0x00ff"`}, {"int8", "-128"}, {"int8", `"-128"`}, {"int8", "127"},
		{"uint256", "9007199254740991"}, {"uint256", `"115792089237316195423570985008687907853269984665640564039457584007913129639935"`},
		{"int256", `"-57896044618658097711785492504343953926634992332820282019728792003956564819968"`},
		{"bytes", `"0x"`}, {"bytes", `"0x00"`}, {"bytes4", `"0x00AABBcc"`}, {"bool", "true"}, {"bool", "false"}, {"string", `""`}, {"string", `"\u0000 é"`},
		{"address", `"0xcccccccccccccccccccccccccccccccccccccccc"`}, {"address", `"0xCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC"`},
		{"uint8[]", "[]"}, {"uint8[2]", "[1,2]"}, {"uint8[2][]", "[[1,2],[3,4]]"}, {"S", `{"x":true}`}, {"S[]", `[{"x":true},{"x":false}]`},
	} {
		parse(t, typed(test[0], test[1]))
	}
}

// refusal is a text, and part of its error.
type refusal struct{ text, want string }

var badValues = []refusal{
	{typed("uint8", "256"), "out of range for uint8"}, {typed("int8", "200"), "out of range for int8"}, {typed("int8", `"-129"`), "out of range"},
	{typed("uint8", "-1"), "out of range"}, {typed("uint8", `""`), "decimal digits"}, {typed("uint8", `"0x"`), "decimal digits"}, {typed("uint8", `"-0"`), "decimal digits"},
	{typed("uint8", `"01"`), "decimal digits"}, {typed("uint8", `" 1"`), "decimal digits"}, {typed("uint8", `"1e1"`), "decimal digits"}, {typed("uint8", `"-0x1"`), "decimal digits"}, {typed("uint8", `"+1"`), "decimal digits"},
	{typed("uint8", "1e1"), "without fraction"}, {typed("uint8", "1.0"), "without fraction"}, {typed("uint8", "-0"), "without fraction"},
	{typed("uint256", "9007199254740993"), "over 2^53"}, {typed("uint256", `"`+strings.Repeat("9", 81)+`"`), "decimal digits"},
	{typed("uint8", "true"), "expected an integer for uint8"}, {typed("uint8", "null"), "an integer"}, {typed("bool", `"true"`), "true or false"}, {typed("bool", "1"), "true or false"},
	{typed("string", "1"), "expected text"}, {typed("string", "null"), "expected text"},
	{typed("bytes", `"0x0"`), "odd number"}, {typed("bytes", `"00"`), "must begin with 0x"}, {typed("bytes", `"0xzz"`), "not a hex digit"}, {typed("bytes", `[1,2]`), "text of 0x"},
	{typed("bytes4", `"0x0011"`), "2 bytes: bytes4 has 4"}, {typed("bytes4", `"0x0011223344"`), "5 bytes"},
	{typed("address", `"0xcc"`), "1 bytes: an address has 20"}, {typed("address", `"0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCccccccCC"`), "wrong checksum"},
	{typed("uint8[2]", "[1]"), "1 elements: uint8[2] has 2"}, {typed("uint8[2][]", "[[1]]"), "message.v[0]"}, {typed("uint8[]", "1"), "expected an array"},
	{typed("S", `{}`), "message.v.x"}, {typed("S", `{"x":true,"y":1}`), "S has no such member"}, {typed("S", "null"), "expected an object"}, {typed("S", "[]"), "expected an object"},
}

var badTypes = []refusal{
	{typed("uint", "1"), "write uint256"}, {typed("int", "1"), "write int256"}, {typed("uint7", "1"), "not one of the types"}, {typed("uint264", "1"), "not one of the types"},
	{typed("uint08", "1"), "not one of the types"}, {typed("bytes0", "1"), "not one of the types"}, {typed("bytes33", "1"), "not one of the types"}, {typed("T", "1"), "not one of the types"},
	{typed("8", "1"), "not one of the types"}, {typed("256", "1"), "not one of the types"}, {typed("", "1"), "not one of the types"}, {typed("M", "1"), "contains itself"}, {typed("M[]", "[]"), "contains itself"}, {typed("EIP712Domain", "{}"), "not one of the types"},
	{typed("uint8[0]", "[]"), "[] or [n]"}, {typed("uint8[01]", "[1]"), "[] or [n]"}, {typed("uint8[-1]", "[]"), "[] or [n]"}, {typed("uint8[", "[]"), "[] or [n]"}, {typed("uint8[]x", "[]"), "[] or [n]"},
	{typed("uint8"+strings.Repeat("[]", 17), "[]"), "[] or [n]"}, {typed("uint8"+strings.Repeat("[]", 16), "[]"), "nested 17 levels deep"},
	{typed("bool v,address to", "true"), "not one of the types"},
	{strings.Replace(mail, `"name":"contents"`, `"name":"from"`, 1), "duplicate member"},
	{strings.Replace(mail, `"name":"contents"`, `"name":"contents,x"`, 1), "the name of a member"},
	{strings.Replace(mail, `"name":"contents"`, `"name":""`, 1), "the name of a member"},
	{strings.Replace(mail, `{"name":"contents","type":"string"}`, `{"name":"contents","type":"string","x":1}`, 1), "exactly the strings"},
	{strings.Replace(mail, `{"name":"contents","type":"string"}`, `{"name":"contents","type":1}`, 1), "exactly the strings"},
	{strings.Replace(mail, `{"name":"contents","type":"string"}`, `["contents"]`, 1), "exactly the strings"},
	{strings.Replace(mail, `"Person":[`, `"Person)":[`, 1), "the name of a type"}, {strings.Replace(mail, `"Person":[`, `"uint8":[`, 1), "built-in type"},
	{strings.Replace(mail, `"Person":[`, `"Person":[],"Person":[`, 1), "duplicate"}, {strings.Replace(mail, `"EIP712Domain":[`, `"EIP712Domaim":[`, 1), "EIP712Domain is missing: add"},
	{strings.Replace(mail, `{"name":"chainId","type":"uint256"}`, `{"name":"chainId","type":"uint64"}`, 1), "is not a member of a domain"},
	{strings.Replace(mail, `{"name":"chainId","type":"uint256"}`, `{"name":"chain","type":"uint256"}`, 1), "is not a member of a domain"},
}

var badShapes = []refusal{
	{"", "not JSON"}, {"{", "not JSON"}, {"[]", "an object {types"}, {"null", "an object {types"}, {mail + " {}", "text after"}, {mail + "x", "text after"}, {"\ufeff" + mail, "not JSON"},
	{strings.Replace(mail, `"primaryType":"Mail",`, "", 1), "primaryType"}, {strings.Replace(mail, `"primaryType":"Mail"`, `"primaryType":"Mial"`, 1), "the name of one of the types"},
	{strings.Replace(mail, `"primaryType":"Mail"`, `"primaryType":"EIP712Domain"`, 1), "is not a message"}, {strings.Replace(mail, `"primaryType":"Mail"`, `"primaryType":7`, 1), "the name of one of the types"},
	{strings.Replace(mail, `"primaryType":"Mail"`, `"primaryType":"Mail","extra":1`, 1), "unknown member"}, {strings.Replace(mail, `"primaryType"`, `"Primarytype"`, 1), "unknown member"},
	{strings.Replace(mail, `"version":"1",`, "", 1), "domain.version"}, {strings.Replace(mail, `"version":"1",`, `"version":"1","salt":"0x",`, 1), "EIP712Domain has no such member"},
	{strings.Replace(mail, `"version":"1",`, `"version":"1","version":"1",`, 1), "duplicate"}, {strings.Replace(mail, "Hello", "\xff", 1), "invalid UTF-8"}, {strings.Replace(mail, "Hello", `\ud800`, 1), "surrogate"},
	{strings.Repeat(" ", eip712.MaxBytes+1), "at most 262144 are supported"}, {strings.Repeat("[", 100), "nested more than"}, {"[" + strings.Repeat("1,", 20000) + "1]", "more than 16384 values"},
}

// TestRefused checks that malformed text is refused with the member and the offset.
func TestRefused(t *testing.T) {
	for _, list := range [][]refusal{badValues, badTypes, badShapes} {
		for _, test := range list {
			data, err := eip712.Parse([]byte(test.text))
			refused, ok := errors.AsType[*chains.ParseError](err)
			if !ok || data != nil || !errors.Is(err, chains.ErrMalformed) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%.300s\n got %v\nwant %s", test.text, err, test.want)
			} else if refused.Offset > len(test.text) || len(err.Error()) > 600 {
				t.Errorf("%.300s: %v", test.text, err)
			}
		}
	}
}

// TestOffsets checks that an offset counts bytes of the text, even after escapes.
func TestOffsets(t *testing.T) {
	text := strings.Replace(typed("uint8", "300"), `"domain":{"name":"d"}`, `"domain":{"name":"\u0064\u0064"}`, 1)
	_, err := eip712.Parse([]byte(text))
	refused, ok := errors.AsType[*chains.ParseError](err)
	if !ok || refused.Field != "message.v" || refused.Offset != strings.Index(text, "300") {
		t.Errorf("%v", err)
	}
}

// TestCostOfTypes checks types that refer twice to the next one: a reader that visits
// each reference would need 2^15 steps.
func TestCostOfTypes(t *testing.T) {
	var types strings.Builder
	for i := range 15 {
		next := string(rune('B' + i))
		types.WriteString(`"` + string(rune('A'+i)) + `":[{"name":"x","type":"` + next + `[]"},{"name":"y","type":"` + next + `[]"}],`)
	}
	text := `{"types":{"EIP712Domain":[],` + types.String() + `"P":[{"name":"v","type":"bool"}]},"primaryType":"A","domain":{},"message":{"x":[],"y":[]}}`
	if _, err := eip712.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "levels deep") {
		t.Error(err)
	}
}
