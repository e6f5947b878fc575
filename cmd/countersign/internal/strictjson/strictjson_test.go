package strictjson_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/strictjson"
)

func decode(text string) (a, b []byte, err error) {
	err = strictjson.Decode([]byte(text),
		strictjson.Member{Name: "alpha", Value: &a},
		strictjson.Member{Name: "beta", Value: &b, Optional: true})
	return a, b, err
}

func TestDecode(t *testing.T) {
	tests := []struct{ text, alpha, beta string }{
		{`{"alpha":"x"}`, "x", ""},
		{" {\t\"alpha\" :\r\n\"x\" , \"beta\":\"y\" } ", "x", "y"},
		{`{"beta":"y","alpha":""}`, "", "y"},
		{`{"alpha":"x","beta":null}`, "x", ""},
		{`{"alpha":"\"\\\/\b\f\n\r\t"}`, "\"\\/\b\f\n\r\t", ""},
		{`{"alpha":"a\u00e9\ud83d\ude00z"}`, "aé😀z", ""},
		{`{"\u0061lpha":"x"}`, "x", ""},
		{`{"alpha":"é😀"}`, "é😀", ""},
	}
	for _, test := range tests {
		alpha, beta, err := decode(test.text)
		if err != nil || string(alpha) != test.alpha || string(beta) != test.beta {
			t.Errorf("%s: %q, %q, %v", test.text, alpha, beta, err)
		}
		if alpha == nil {
			t.Errorf("%s: a member that is there must not look absent", test.text)
		}
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ text, want string }{
		{``, "empty: a JSON object in braces is expected"},
		{"  \r", "empty: a JSON object in braces is expected"},
		{`[]`, "at byte 0: a JSON object in braces is expected"},
		{`"alpha"`, "at byte 0: a JSON object in braces is expected"},
		{"\ufeff{}", "at byte 0: a JSON object in braces is expected"},
		{`{}`, `member "alpha" is missing`},
		{`{"beta":"y"}`, `member "alpha" is missing`},
		{`{"Alpha":"x"}`, `unknown member "Alpha" at byte 1: names are matched byte for byte, write "alpha"`},
		{`{"alpha":"x","gamma":1}`, `unknown member "gamma" at byte 13: the members are alpha, beta`},
		{`{"alpha":"x","alpha":"y"}`, `member "alpha" occurs twice, again at byte 13`},
		{`{"alpha":"x","\u0061lpha":"y"}`, `member "alpha" occurs twice, again at byte 13`},
		{`{"alpha":"x","beta":null,"beta":null}`, `member "beta" occurs twice, again at byte 25`},
		{`{"alpha":null}`, `at byte 9: member "alpha": a string is expected, found null`},
		{`{"alpha":1}`, `at byte 9: member "alpha": a string is expected, found a number`},
		{`{"alpha":-1}`, `at byte 9: member "alpha": a string is expected, found a number`},
		{`{"alpha":true}`, `at byte 9: member "alpha": a string is expected, found a boolean`},
		{`{"alpha":{}}`, `at byte 9: member "alpha": a string is expected, found an object`},
		{`{"alpha":[]}`, `at byte 9: member "alpha": a string is expected, found an array`},
		{`{"alpha":'x'}`, `at byte 9: member "alpha": a string is expected, found something else`},
		{`{"alpha":`, `at byte 9: member "alpha": a string is expected, found the end`},
		{`{"alpha":"x","beta":nul}`, `at byte 20: member "beta": a string is expected, found null`},
		{`{"alpha":"x"`, "at byte 12: a comma or a closing brace is expected"},
		{`{"alpha":"x",}`, "at byte 13: a member's name in quotes is expected"},
		{`{,"alpha":"x"}`, "at byte 1: a member's name in quotes is expected"},
		{`{"alpha":"x" "beta":"y"}`, "at byte 13: a comma or a closing brace is expected"},
		{`{"alpha" "x"}`, `at byte 9: a colon is expected behind member "alpha"`},
		{`{"alpha":"x"} {}`, "at byte 14: nothing may follow the object"},
		{`{"alpha":"x"}x`, "at byte 13: nothing may follow the object"},
		{`{"alpha":"x`, `member "alpha": at byte 11: the text ends inside a string`},
		{`{"alpha":"x\`, `member "alpha": at byte 11: unknown escape in a string`},
		{`{"alpha":"\x"}`, `member "alpha": at byte 10: unknown escape in a string`},
		{`{"alpha":"\n`, `member "alpha": at byte 12: the text ends inside a string`},
		{`{"alpha":"\u12"}`, `member "alpha": at byte 10: \u and four hex digits are expected`},
		{`{"alpha":"\u+123"}`, `member "alpha": at byte 10: \u and four hex digits are expected`},
		{`{"alpha":"\ud800"}`, `member "alpha": at byte 10: unpaired surrogate in a string`},
		{`{"alpha":"\ud800\u0041"}`, `member "alpha": at byte 10: unpaired surrogate in a string`},
		{`{"alpha":"\ude00\ud83d"}`, `member "alpha": at byte 10: unpaired surrogate in a string`},
		{"{\"alpha\":\"a\x01\"}", `member "alpha": at byte 11: control character in a string`},
		{"{\"alpha\":\"\\n\x01\"}", `member "alpha": at byte 12: control character in a string`},
		{"{\"alpha\":\"\xff\"}", `member "alpha": at byte 9: text is not valid UTF-8`},
		{"{\"alpha\":\"\\n\xff\"}", `member "alpha": at byte 14: text is not valid UTF-8`},
		{"{\"alpha\":\"\xed\xa0\x80\"}", `member "alpha": at byte 9: text is not valid UTF-8`},
	}
	for _, test := range tests {
		if _, _, err := decode(test.text); err == nil || err.Error() != test.want {
			t.Errorf("%q\n got %v\nwant %s", test.text, err, test.want)
		}
	}
}

// TestUnknownNameIsCut: what stands where a name should be may be a secret.
func TestUnknownNameIsCut(t *testing.T) {
	secret := strings.Repeat("5ec2e7", 10)
	if _, _, err := decode(`{"` + secret + `":"alpha"}`); err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("the error must not hold the whole of an unknown name: %v", err)
	}
}

// FuzzDecode holds the reader against encoding/json: what it takes,
// encoding/json takes too, and reads the same.
func FuzzDecode(f *testing.F) {
	f.Add(`{"alpha":"x","beta":"\ud83d\ude00"}`)
	f.Add(`{"beta":null,"alpha":"\n\\"}`)
	f.Fuzz(func(t *testing.T, text string) {
		alpha, beta, err := decode(text)
		if err != nil {
			return
		}
		var oracle map[string]*string
		if err := json.Unmarshal([]byte(text), &oracle); err != nil {
			t.Fatalf("%q is no JSON: %v", text, err)
		}
		if oracle["alpha"] == nil || *oracle["alpha"] != string(alpha) {
			t.Errorf("%q: alpha %q", text, alpha)
		}
		if got := oracle["beta"]; (got == nil) != (beta == nil) || got != nil && *got != string(beta) {
			t.Errorf("%q: beta %q", text, beta)
		}
	})
}
