package source_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/source"
)

type inner struct {
	Name string    `yaml:"name"`
	At   time.Time `yaml:"at"`
}

type outer struct {
	Text    string           `yaml:"text"`
	Number  int              `yaml:"number"`
	Yes     bool             `yaml:"yes"`
	List    []string         `yaml:"list"`
	Inner   *inner           `yaml:"inner"`
	Items   []inner          `yaml:"items"`
	Free    map[string]inner `yaml:"free"`
	Secret  string           `yaml:"secretFile"`
	Ignored string           `yaml:"-"`
}

func decode(text string) (outer, source.Places, *source.Report) {
	var into outer
	problems := new(source.Report)
	root, ok := source.Parse([]byte(text), 1<<20, "text", problems)
	if !ok {
		return into, nil, problems
	}
	return into, source.Decode(root, "the file", &into), problems
}

func TestDecode(t *testing.T) {
	var got outer
	problems := new(source.Report)
	root, _ := source.Parse([]byte("text: a b # c\nnumber: -5\nyes: true\nlist: []\ninner: {name: x, at: 2027-01-01T00:00:00Z}\nitems:\n  - name: \"02\"\n  - name: 03\nfree:\n  one: {name: y}\n"), 1<<20, "text", problems)
	places := source.Decode(root, "the file", &got)
	if problems.Failed() {
		t.Fatalf("%+v", problems.List)
	}
	if got.Text != "a b" || got.Number != -5 || !got.Yes || got.List == nil || len(got.List) != 0 || got.Inner.Name != "x" || got.Inner.At.Year() != 2027 ||
		got.Items[0].Name != "02" || got.Items[1].Name != "03" || got.Free["one"].Name != "y" {
		t.Errorf("%+v", got)
	}
	for path, want := range map[string]source.Place{
		"text": {1, 1}, "inner.name": {5, 9}, "items[1]": {8, 5}, "items[1].name": {8, 5}, "items[1].other": {8, 5}, "items[7]": {6, 1},
		"free.one.name": {10, 9}, "none": {1, 1}, "": {1, 1},
	} {
		if places.Of(path) != want {
			t.Errorf("%s is at %v, want %v", path, places.Of(path), want)
		}
	}
}

// TestProblems checks that each mistake has one problem, at its place.
func TestProblems(t *testing.T) {
	for text, want := range map[string]string{
		"text: a\ntxet: b\n":             "2:1: the file has no member txet: did you mean text?",
		"secret: a\n":                    "1:1: the file has no member secret: did you mean secretFile?",
		"inner: {nam: a}\n":              "1:9: inner has no member nam: did you mean name?",
		"items: [{name: a}, {nme: b}]\n": "1:21: items[1] has no member nme: did you mean name?",
		"items: [a]\n":                   "1:9: items[0]: expected a mapping, as in {name: value}",
		"inner: a\n":                     "1:8: inner: expected a mapping, as in {name: value}",
		"list: a\n":                      "1:7: list: expected a list, as in [item, item]",
		"list: [a, ]\nnumber: 1.5\n":     "2:9: number: expected a whole number",
		"number: 99999999999\n":          "1:9: number: expected a whole number",
		"yes: yes\n":                     "1:6: yes: expected true or false",
		"text:\n":                        "1:1: text has no value",
		"text: a\ntext: b\n":             "2:1: text is given twice, first in line 1",
		"inner: {at: [x]}\n":             "1:13: at: expected text",
		"free: {one: }\n":                "1:8: one has no value",
		"text: a\n\tyes: true\n":         "2:1: a tab: indent with spaces",
		"text: \"a\tb\"\n":               "1:9: a tab: indent with spaces",
		"text: a\x07b\n":                 "1:8: the control character U+0007: remove it",
		"text: a\nyes: \xff\n":           "2:6: not UTF-8: save the file as UTF-8",
		"\xef\xbb\xbftext: a\n":          "1:1: the file starts with a byte-order mark, which editors do not show (UTF-8): save it as UTF-8 without one",
		"\xff\xfet\x00":                  "1:1: the file starts with a byte-order mark, which editors do not show (UTF-16): save it as UTF-8 without one",
		"text: a\n---\ntext: b\n":        "2:1: expected one YAML document, found 2: remove everything after ---",
		"":                               "1:1: the file is empty: it needs at least text",
		"text: *a\n":                     "1:7: anchors and aliases are not supported: write the value out",
	} {
		_, _, problems := decode(text)
		lines := strings.Split(text, "\n")
		if got := problems.Failure("f", lines).Error(); len(problems.List) != 1 || !strings.HasPrefix(got, "f:"+want+"\n") {
			t.Errorf("%q: %s\nwant %s", text, got, want)
		}
	}
}

// FuzzDecode checks that no text makes the reader panic, and that what has no problem keeps
// its meaning when it is read again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("text: a\nitems:\n  - {name: b, at: 2027-01-01T00:00:00Z}\n"))
	f.Add([]byte("a: &a [*a]\n? [x]\n: y\n--- |\n"))
	f.Add([]byte("inner:\n  name: |\n    a\n\n    b\nfree: {x: {name: >-\n c}}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		into, places, problems := decode(string(text))
		lines := strings.Split(string(text), "\n")
		_ = problems.Failure("f", lines).Error()
		if problems.Failed() {
			return
		}
		for path, at := range places {
			if at.Line < 1 || at.Line > len(lines) || at.Column < 1 {
				t.Errorf("%q: %s is at %v", text, path, at)
			}
		}
		if again, _, _ := decode(string(text)); again.Text != into.Text || len(again.Items) != len(into.Items) {
			t.Errorf("%q is read as %+v and as %+v", text, into, again)
		}
	})
}
