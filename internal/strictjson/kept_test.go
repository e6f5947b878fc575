package strictjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// listed is an array with so many objects of so many members.
func listed(objects, of int) string {
	one := "{" + strings.TrimSuffix(members(of), ",") + "}"
	return `{"list":[` + strings.TrimSuffix(strings.Repeat(one+",", objects), ",") + `]}`
}

// TestObjectsOfFewMembers: objects with at most 8 members, with those in them, do not count once they
// have ended. All that is refused elsewhere is refused in and behind them.
func TestObjectsOfFewMembers(t *testing.T) {
	const many = 3000
	within := func(last string) string {
		return strings.TrimSuffix(listed(many, 8), "]}") + "," + last + "]}"
	}
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for text, want := range map[string]string{
		listed(many, 8): "",
		listed(28, 9):   "", // 253 with the member that holds them
		listed(29, 9):   "more than 256 members in total",
		`{"list":[` + strings.Repeat(`{"a":{"b":1,"c":1,"d":1,"e":1},"f":{"g":1}},`, many) + `{}]}`: "",
		within(`{"a":1,"b":1,"a":2}`):                           "appears twice",
		within(`{"a":{"b":1,"b":1}}`):                           "appears twice",
		within(`{"a":1,"\u0061":2}`):                            "appears twice",
		strings.TrimSuffix(listed(many, 8), "}") + `,"list":1}`: "appears twice",
		within(deep(strictjson.MaxDepth - 1)):                   "",
		within(deep(strictjson.MaxDepth)):                       "nested deeper",
		within("{" + members(257)[:257*9-1] + "}"):              "more than 256 members in total",
	} {
		err := strictjson.Check([]byte(text), "body")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("…%s: %v, want %q", text[max(0, len(text)-60):], err, want)
		}
	}
}

// FuzzKept reads any text. What is accepted is JSON in UTF-8 without a name twice in one object, and
// not nested deeper than MaxDepth.
func FuzzKept(f *testing.F) {
	for _, text := range []string{
		listed(3, 8), listed(29, 9), `{"a":{"b":1,"\u0062":2}}`, `{"a":[{"b":[{}]},{"b":1}]}`, `{"a":1,"a":1}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strictjson.Check([]byte(text), "body") != nil {
			return
		}
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			t.Fatalf("accepted %q", text)
		}
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := walk(decoder, 0); err != nil {
			t.Errorf("accepted %q: %v", text, err)
		}
	})
}

// walk reads a value and returns what is wrong with it.
func walk(decoder *json.Decoder, depth int) error {
	token, err := decoder.Token()
	opening, nests := token.(json.Delim)
	if err != nil || !nests {
		return err
	}
	if depth > strictjson.MaxDepth {
		return fmt.Errorf("nested %d deep", depth)
	}
	seen := map[json.Token]bool{}
	for decoder.More() {
		if opening == '{' {
			name, err := decoder.Token()
			if err != nil || seen[name] {
				return fmt.Errorf("%v twice: %w", name, err)
			}
			seen[name] = true
		}
		if err := walk(decoder, depth+1); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}
