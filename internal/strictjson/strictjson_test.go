package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// subject has one field of each type.
type subject struct {
	Text   string
	Flag   bool
	Maybe  *bool
	Number int
	Secret []byte
	Kept   strictjson.Span
	Inner  string
	List   []string
}

func (s *subject) read(text string) error {
	return strictjson.Read([]byte(text), "body",
		strictjson.Required("text", &s.Text),
		strictjson.Optional("flag", &s.Flag),
		strictjson.Optional("maybe", &s.Maybe),
		strictjson.Optional("number", &s.Number),
		strictjson.Optional("secret", &s.Secret),
		strictjson.Optional("kept", &s.Kept),
		strictjson.Optional("nested", func(reader *strictjson.Reader) error {
			return reader.Object(strictjson.Optional("inner", &s.Inner))
		}),
		strictjson.Optional("list", &s.List).AtMost(6),
		strictjson.Optional("short", new(string)).AtMost(5),
	)
}

func TestRead(t *testing.T) {
	const text = " {\"text\" :\"a\\u00e9\\ud83d\\ude00\\n\\/\", \"flag\":true,\"maybe\":false,\r\n\t\"number\":-12," +
		"\"kept\": {\"b\":[1,2.5e-3,{}],\"a\":null} ,\"nested\":{\"inner\":\"x\"},\"list\":[\"é\",\"\",\"bcde\"],\"short\":\"é123\"}\r\n\t "
	var got subject
	testenv.Must(t, got.read(text))
	if got.Text != "aé😀\n/" || !got.Flag || got.Maybe == nil || *got.Maybe || got.Number != -12 || got.Inner != "x" {
		t.Errorf("read %+v", got)
	}
	if !slices.Equal(got.List, []string{"é", "", "bcde"}) {
		t.Errorf("list %q", got.List)
	}
	if kept := string(got.Kept.Of([]byte(text))); kept != `{"b":[1,2.5e-3,{}],"a":null}` {
		t.Errorf("kept %s", kept)
	}
}

// TestBytesShareText checks that a secret that was read can be overwritten in the text,
// unless it has escapes.
func TestBytesShareText(t *testing.T) {
	text := []byte(`{"text":"","secret":"abc"}`)
	var secret []byte
	read := func(text []byte) error {
		return strictjson.Read(text, "body", strictjson.Required("text", new(string)), strictjson.Required("secret", &secret))
	}
	if err := read(text); err != nil || string(secret) != "abc" {
		t.Fatalf("read %q, %v", secret, err)
	}
	clear(secret)
	if string(text) != "{\"text\":\"\",\"secret\":\"\x00\x00\x00\"}" {
		t.Errorf("the secret is still in the text: %s", text)
	}
	if err := read([]byte(`{"text":"","secret":"a\u0062c"}`)); err != nil || string(secret) != "abc" {
		t.Errorf("read %q with an escape, %v", secret, err)
	}
}

// TestUnsupportedType checks that reading into an unsupported type is a programming
// error.
func TestUnsupportedType(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a field was read into a float64")
		}
	}()
	strictjson.Read([]byte(`{"n":1}`), "body", strictjson.Required("n", new(float64)))
}

func TestNullMeansAbsent(t *testing.T) {
	got := subject{}
	testenv.Must(t, got.read(`{"text":"","flag":null,"maybe":null,"number":null,"kept":null,"nested":null,"list":null,"short":null}`))
	if !reflect.DeepEqual(got, subject{}) {
		t.Errorf("read %+v, want nothing", got)
	}
}

func TestRefused(t *testing.T) {
	deep := strings.Repeat(`{"a":`, strictjson.MaxDepth+2)
	for _, test := range []struct {
		name, text, path string
		offset           int
		problem          string
	}{
		{"empty", "", "", 0, "empty"},
		{"byte-order mark", "\ufeff{}", "", 0, "byte-order mark"},
		{"not UTF-8", "{\"text\":\"a\xff\"}", "", 10, "not UTF-8"},
		{"surrogate in UTF-8", "{\"text\":\"\xed\xa0\x80\"}", "", 9, "not UTF-8"},
		{"overlong UTF-8", "{\"text\":\"\xc0\xaf\"}", "", 9, "not UTF-8"},
		{"not an object", `"text"`, "", 0, "expected an object, not a string"},
		{"array", `[{"text":"a"}]`, "", 0, "expected an object, not an array"},
		{"space", " \t\r\n", "", 4, "the text is truncated"},
		{"not UTF-8 behind a replacement character", "{\"text\":\"\ufffd\xff\"}", "", 12, "not UTF-8"},
		{"name that is a number", `{"text":"a",1:2}`, "", 12, "expected the name of a member"},
		{"name that is an object", `{"text":"a",{}:2}`, "", 12, "expected the name of a member"},
		{"cut null", `{"text":"a","flag":nul}`, "flag", 22, "invalid character '}' in literal null"},
		{"string too long", `{"text":"a","short":"\u00e91234"}`, "short", 20, "6 bytes, at most 5 are allowed"},
		{"list too long", `{"text":"a","list":["abc","defg"]}`, "list", 19, "7 bytes, at most 6 are allowed"},
		{"number in a list", `{"text":"a","list":["a",1]}`, "list", 24, "expected a string, not a number"},
		{"null in a list", `{"text":"a","list":["a",null]}`, "list", 24, "expected a string, not null"},
		{"list in a list", `{"text":"a","list":[["a"]]}`, "list", 20, "expected a string, not an array"},
		{"list without end", `{"text":"a","list":["a"`, "list", 23, "the text is truncated"},
		{"list that begins with a comma", `{"text":"a","list":[,"a"]}`, "list", 20, "invalid character ','"},
		{"list that ends with a brace", `{"text":"a","list":["a"}`, "list", 23, "invalid character '}'"},
		{"number cut off", `{"text":"a","number":-}`, "number", 22, "invalid character '}' in number"},
		{"33 bits, negative", `{"text":"a","number":-2147483649}`, "number", 21, "at most 32 bits"},
		{"half a pair in a name inside kept", `{"text":"a","kept":{"\ud83d":1}}`, "kept", 21, "half of a surrogate pair"},
		{"number as a name inside kept", `{"text":"a","kept":{1:1}}`, "kept", 20, "expected the name of a member"},
		{"trailing data", `{"text":"a"} {}`, "", 13, "2 bytes follow the object"},
		{"trailing NUL", "{\"text\":\"a\"}\x00", "", 12, "1 bytes follow the object"},
		{"missing", ` {"flag":true}`, "text", 1, "missing"},
		{"unknown, longer than a known one", `{"text":"a","lists":1}`, "lists", 12, "unknown member"},
		{"last, in another case", `{"text":"a","Short":1}`, "Short", 12, "names are case-sensitive, this one is short"},
		{"unknown, plain", `{"text":"a","AZaz09_-":1}`, "AZaz09_-", 12, "unknown member"},
		{"unknown, plain from the first to the last", `{"text":"a","-m_A":1}`, "-m_A", 12, "unknown member"},
		{"unknown, of 32 bytes", `{"text":"a","` + strings.Repeat("a", 32) + `":1}`, strings.Repeat("a", 32), 12, "unknown member"},
		{"unknown, of 33 bytes", `{"text":"a","` + strings.Repeat("a", 33) + `":1}`, "a name of 33 bytes", 12, "unknown member"},
		{"null though required", `{"text":null}`, "text", 8, "null: a value is required"},
		{"twice", `{"text":"a","text":"a"}`, "text", 12, "appears twice"},
		{"twice, once escaped", `{"text":"a","te\u0078t":"b"}`, "text", 12, "appears twice"},
		{"optional twice, once null", `{"text":"a","flag":null,"flag":true}`, "flag", 24, "appears twice"},
		{"twice inside kept", `{"text":"a","kept":{"a":1,"a":2}}`, "kept.a", 26, "appears twice"},
		{"twice deep inside kept", `{"text":"a","kept":{"a":[{"b":1,"b":2}]}}`, "kept.b", 32, "appears twice"},
		{"other case", `{"text":"a","TEXT":"b"}`, "TEXT", 12, "names are case-sensitive, this one is text"},
		{"other case by folding", "{\"text\":\"a\",\"\u212aept\":{}}", "\u212aept", 12, "names are case-sensitive, this one is kept"},
		{"unknown", `{"text":"a","more":1}`, "more", 12, "unknown member"},
		{"unknown, nested", `{"text":"a","nested":{"more":1}}`, "nested.more", 22, "unknown member"},
		{"unknown, to be quoted", `{"text":"a","a.b\n":1}`, `"a.b\n"`, 12, "unknown member"},
		{"unknown, empty", `{"text":"a","":1}`, `""`, 12, "unknown member"},
		{"wrong type: number", `{"text":1}`, "text", 8, "expected a string, not a number"},
		{"wrong type: string", `{"text":"a","flag":"true"}`, "flag", 19, "expected a boolean, not a string"},
		{"wrong type: string for number", `{"text":"a","number":"6"}`, "number", 21, "expected a number, not a string"},
		{"wrong type: array", `{"text":["a"]}`, "text", 8, "expected a string, not an array"},
		{"wrong type: object kept", `{"text":"a","kept":[]}`, "kept", 19, "expected an object, not an array"},
		{"wrong type: nested", `{"text":"a","nested":true}`, "nested", 21, "expected an object, not a boolean"},
		{"no JSON, but with the first letter of null", `{"text":not}`, "text", 9, "invalid character 'o' in literal null"},
		{"no JSON, but with the first digit of a number", `{"text":-}`, "text", 9, "invalid character '}' in number"},
		{"half a surrogate pair", `{"text":"\ud83d"}`, "text", 9, "half of a surrogate pair"},
		{"low half", `{"text":"\ude00"}`, "text", 9, "half of a surrogate pair"},
		{"two high halves", `{"text":"\ud83d\ud83d"}`, "text", 9, "half of a surrogate pair"},
		{"half a pair in a name", `{"\ud83d":"a"}`, "", 2, "half of a surrogate pair"},
		{"half a pair inside kept", `{"text":"a","kept":{"a":"\udc00"}}`, "kept", 25, "half of a surrogate pair"},
		{"unknown escape", `{"text":"\x41"}`, "text", 9, "unknown escape"},
		{"bad \\u", `{"text":"\u12g4"}`, "text", 9, "an unknown escape, or half of a surrogate pair"},
		{"short \\u", `{"text":"\u12"}`, "text", 9, "an unknown escape, or half of a surrogate pair"},
		{"control character", "{\"text\":\"a\nb\"}", "text", 10, `invalid character '\n' in string`},
		{"string without end", `{"text":"a`, "text", 10, "the text is truncated: expected a whole JSON object"},
		{"escape at the end", `{"text":"a\`, "text", 11, "the text is truncated: expected a whole JSON object"},
		{"name without end", `{"text`, "", 6, "the text is truncated: expected a whole JSON object"},
		{"control character in a name", "{\"te\nxt\":\"a\"}", "", 4, `invalid character '\n' in string`},
		{"object without end", `{"text":"a"`, "", 11, "the text is truncated: expected a whole JSON object"},
		{"comma at the end", `{"text":"a",}`, "", 11, "invalid character ',' at start of value"},
		{"no colon", `{"text" "a"}`, "text", 8, `invalid character '"' after object name`},
		{"single quotes", `{'text':'a'}`, "", 1, `invalid character '\'' at start of value`},
		{"comment", `{/**/"text":"a"}`, "", 1, "invalid character '/' at start of value"},
		{"no-break space", "{\u00a0\"text\":\"a\"}", "", 1, `invalid character '\u00a0' at start of value`},
		{"point", `{"text":"a","number":6.0}`, "number", 21, "without point or exponent"},
		{"exponent", `{"text":"a","number":6e0}`, "number", 21, "without point or exponent"},
		{"minus zero", `{"text":"a","number":-0}`, "number", 21, "without point or exponent"},
		{"33 bits", `{"text":"a","number":2147483648}`, "number", 21, "at most 32 bits"},
		{"leading zero", `{"text":"a","number":06}`, "", 22, "invalid character '6' after object value"},
		{"plus", `{"text":"a","number":+6}`, "number", 21, "invalid character '+' at start of value"},
		{"ends in its point", `{"text":"a","kept":{"a":1.}}`, "kept", 26, "invalid character '}' in number"},
		{"empty exponent", `{"text":"a","kept":{"a":1e+}}`, "kept", 27, "invalid character '}' in number"},
		{"NaN", `{"text":"a","kept":{"a":NaN}}`, "kept", 24, "invalid character 'N' at start of value"},
		{"cut literal", `{"text":"a","flag":tru}`, "flag", 22, "invalid character '}' in literal true"},
		{"cut false", `{"text":"a","flag":fals}`, "flag", 23, "invalid character '}' in literal false"},
		{"cut literal inside kept", `{"text":"a","kept":{"a":tru}}`, "kept", 27, "invalid character '}' in literal true"},
		{"cut false inside kept", `{"text":"a","kept":{"a":[fals]}}`, "kept", 29, "invalid character ']' in literal false"},
		{"cut null inside kept", `{"text":"a","kept":{"a":nul}}`, "kept", 27, "invalid character '}' in literal null"},
		{"control character inside kept", "{\"text\":\"a\",\"kept\":{\"a\":\"b\tc\"}}", "kept", 26, `invalid character '\t' in string`},
		{"wrong type: number for bytes", `{"text":"a","secret":1}`, "secret", 21, "expected a string, not a number"},
		{"half a surrogate pair in bytes", `{"text":"a","secret":"\ud83d"}`, "secret", 22, "half of a surrogate pair"},
		{"too deep", `{"text":"a","kept":` + deep, "kept", 19 + 5*(strictjson.MaxDepth+1), "nested deeper"},
		{"too many members", `{"text":"a","kept":{` + members(strictjson.MaxMembers+1), "kept.m256", 20 + 256*9, "more than 256 members in total"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := new(subject).read(test.text)
			var got *strictjson.Error
			if !errors.As(err, &got) {
				t.Fatalf("error %v, want a *strictjson.Error", err)
			}
			if got.Path != test.path || got.Offset != test.offset || !strings.Contains(got.Problem, test.problem) {
				t.Errorf("got %q at byte %d: %s\nwant %q at byte %d: %s",
					got.Path, got.Offset, got.Problem, test.path, test.offset, test.problem)
			}
			if strings.HasPrefix(test.text, "\ufeff") || test.text == "" {
				return
			}
			const far = 70_000
			err = new(subject).read(strings.Repeat(" ", far) + test.text)
			if want := (&strictjson.Error{What: "body", Path: got.Path, Offset: far + got.Offset, Problem: got.Problem}); !reflect.DeepEqual(err, error(want)) {
				t.Errorf("behind %d spaces: %v, want %v", far, err, want)
			}
		})
	}
}

// TestErrorText has the whole text of errors with and without a path.
func TestErrorText(t *testing.T) {
	for text, want := range map[string]string{
		"":              "body: at byte 0: empty: expected a JSON object",
		`{"flag":true}`: "body: text at byte 0: missing",
	} {
		if err := new(subject).read(text); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestKinds gives each member a value of each kind: all but its own are refused, by
// name.
func TestKinds(t *testing.T) {
	kinds := []struct{ name, value string }{
		{"an object", "{}"}, {"an array", "[]"}, {"a string", `""`}, {"a number", "0"}, {"a boolean", "true"}, {"a boolean", "false"},
	}
	for name, own := range map[string]string{
		"text": "a string", "flag": "a boolean", "maybe": "a boolean", "number": "a number", "secret": "a string",
		"kept": "an object", "nested": "an object", "list": "an array of strings",
	} {
		for _, kind := range kinds {
			others := `"text":"",`
			if name == "text" {
				others = ""
			}
			err := new(subject).read(`{` + others + `"` + name + `":` + kind.value + `}`)
			if strings.HasPrefix(own, kind.name) {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if err == nil || !strings.HasSuffix(err.Error(), "expected "+own+", not "+kind.name) {
				t.Errorf("%s: %v, want %s and not %s", name, err, own, kind.name)
			}
		}
	}
	for _, kind := range append(kinds[1:], struct{ name, value string }{"null", "null"}) {
		err := new(subject).read(kind.value)
		if err == nil || err.Error() != "body: at byte 0: expected an object, not "+kind.name {
			t.Errorf("%s: %v", kind.name, err)
		}
		if check := strictjson.Check([]byte(kind.value), "body"); !reflect.DeepEqual(check, err) {
			t.Errorf("Check: %v, want %v", check, err)
		}
	}
}

// TestRequired leaves out each of 64 required members.
func TestRequired(t *testing.T) {
	var fields []strictjson.Field
	for i := range 64 {
		fields = append(fields, strictjson.Required(fmt.Sprintf("m%03d", i), new(int)))
	}
	all := "{" + strings.TrimSuffix(members(64), ",") + "}"
	testenv.Must(t, strictjson.Read([]byte(all), "body", fields...))
	for i := range 64 {
		name := fmt.Sprintf("m%03d", i)
		without := strings.TrimSuffix(strings.Replace(all[:len(all)-1]+",", `"`+name+`":1,`, "", 1), ",") + "}"
		if err := strictjson.Read([]byte(without), "body", fields...); err == nil || err.Error() != "body: "+name+" at byte 0: missing" {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

// TestBounds has the largest values that are accepted.
func TestBounds(t *testing.T) {
	for text, want := range map[string]int{"2147483647": 2147483647, "-2147483648": -2147483648, "0": 0, "-1": -1} {
		var got subject
		if err := got.read(`{"text":"","number":` + text + `}`); err != nil || got.Number != want {
			t.Errorf("%s: %d, %v", text, got.Number, err)
		}
	}
	for _, kept := range []string{
		"{" + strings.TrimSuffix(members(strictjson.MaxMembers), ",") + "}",
		`{"a":[` + strings.TrimSuffix(strings.Repeat("1,", strictjson.MaxMembers+44), ",") + `]}`, // elements are not members
		strings.Repeat(`{"a":`, strictjson.MaxDepth) + "{}" + strings.Repeat("}", strictjson.MaxDepth),
		`{"a":` + strings.Repeat("[", strictjson.MaxDepth) + strings.Repeat("]", strictjson.MaxDepth) + "}",
		`{"a":[{}],"b":[1,[],{"c":[true]},"d"]}`,
		`{"a":"` + strings.Repeat("x", 70_000) + `"}`,
	} {
		text := []byte(`{"text":"","kept":` + kept + `,"number":1}`)
		var got subject
		if err := got.read(string(text)); err != nil {
			t.Errorf("%.40s…: %v", kept, err)
			continue
		}
		of := got.Kept.Of(text)
		if string(of) != kept || cap(of) != len(of) {
			t.Errorf("kept %.40s… with room for %d more, want %.40s…", of, cap(of)-len(of), kept)
		}
		if err := strictjson.Check([]byte(kept+" \n"), "body"); err != nil {
			t.Errorf("Check: %.40s…: %v", kept, err)
		}
	}
}

// TestLongNamesNotRepeated checks that an error does not repeat a secret in the place of
// a name.
func TestLongNamesNotRepeated(t *testing.T) {
	secret := strings.Repeat("0123456789abcdef", 4)
	for _, text := range []string{
		`{"` + secret + `":1}`,
		`{"text":"a","kept":{"` + secret + `":1,"` + secret + `":2}}`,
		`{"text":"a","kept":{` + members(strictjson.MaxMembers) + `"` + secret + `":2}}`,
	} {
		err := new(subject).read(text)
		if err == nil || strings.Contains(err.Error(), secret[:8]) || !strings.Contains(err.Error(), "a name of 64 bytes") {
			t.Errorf("error %v", err)
		}
	}
}

// members returns so many members of nine bytes each.
func members(count int) string {
	var out strings.Builder
	for i := range count {
		fmt.Fprintf(&out, `"m%03d":1,`, i)
	}
	return out.String()
}

// TestAgainstEncodingJSON changes every byte of a text and checks that encoding/json
// reads the same whenever the result is accepted.
func TestAgainstEncodingJSON(t *testing.T) {
	const text = `{"text":"a\u00e9\ud83d\ude00\n","flag":true,"number":-12,"kept":{"b":[1,2.5e-3,{}],"a":null},"nested":{"inner":"x"},"list":["a","b"]}`
	for at := range len(text) {
		for _, char := range []byte("\x00\t\n \"'\\,:{}[]019-+.eEtfnu/aZ\x7f\x80\xff") {
			checkSame(t, text[:at]+string([]byte{char})+text[at+1:])
			checkSame(t, text[:at]+string([]byte{char})+text[at:])
		}
		checkSame(t, text[:at])
		checkSame(t, text[:at]+text[at+1:])
	}
}

func checkSame(t *testing.T, text string) {
	t.Helper()
	var got subject
	if got.read(text) != nil {
		return
	}
	var want struct {
		Text   string
		Flag   bool
		Maybe  *bool
		Number int
		Kept   json.RawMessage
		Nested struct{ Inner string }
		List   []string
	}
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatalf("accepted, but encoding/json says %v: %q", err, text)
	}
	kept := string(got.Kept.Of([]byte(text)))
	if kept == "" {
		kept = string(want.Kept)
	}
	if got.Text != want.Text || got.Flag != want.Flag || got.Number != want.Number || got.Inner != want.Nested.Inner || kept != string(want.Kept) ||
		!slices.Equal(got.List, want.List) {
		t.Fatalf("read differently by encoding/json: %q", text)
	}
}
