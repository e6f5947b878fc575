package descriptors_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// problemOf returns the problem of the only file in a folder, and whether it can be read.
func problemOf(t testing.TB, file string) string {
	t.Helper()
	for _, one := range open(t, descriptors.Options{}, map[string]string{"a.json": file}).Files() {
		if !one.Readable() {
			return one.Problem
		}
	}
	return ""
}

func times(count int, text func(i int) string) string {
	all := make([]string, count)
	for i := range all {
		all[i] = text(i)
	}
	return strings.Join(all, ",")
}

// formatsOf returns a descriptor of the vault with formats.
func formatsOf(formats string) string { return contract(`,"display":{"formats":{` + formats + `}}`) }

// TestFileBounds: a file at each bound is read, and one beyond it is refused.
func TestFileBounds(t *testing.T) {
	function := func(i int) string { return fmt.Sprintf(`"f%d(uint256 a)":{"intent":"x"}`, i) }
	listed := func(i int) string { return fmt.Sprintf(`{"type":"function","name":"f%d","inputs":[]}`, i) }
	nested := func(depth int) string {
		return formatsOf(`"f(uint256 a)":{"fields":[` + strings.Repeat(`{"fields":[`, depth) + `{"path":"a"}` + strings.Repeat(`]}`, depth) + `]}`)
	}
	wrapped := func(depth int) string {
		return strings.Replace(idl, `"type":"u64"`, `"type":`+strings.Repeat(`{"vec":`, depth)+`"u64"`+strings.Repeat(`}`, depth), 1)
	}
	groups := func(depth int) string {
		return strings.Replace(idl, `{"name":"pool"`, `{"name":"g","accounts":[`+strings.Repeat(`{"name":"g","accounts":[`, depth-1)+`{"name":"pool"}`+strings.Repeat(`]}`, depth)+`,{"name":"pool"`, 1)
	}
	boxed := func(depth int) string {
		box := strings.Repeat(`{"kind":"sizePrefixTypeNode","prefix":{"kind":"numberTypeNode","format":"u8","endian":"le"},"type":`, depth)
		return strings.Replace(codamaIDL, `"type": {
        "kind": "bytesTypeNode"
       }`, `"type": `+box+`{"kind":"bytesTypeNode"}`+strings.Repeat("}", depth), 1)
	}
	deep := func(depth int) string {
		return contract(`,"metadata":{"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`)
	}
	many := func(count int) string {
		return contract(`,"metadata":{"x":[` + times(count, func(int) string { return "0" }) + `]}`)
	}
	for name, test := range map[string]struct {
		most, more string
		want       string
	}{
		"formats":       {formatsOf(times(512, function)), formatsOf(times(513, function)), "513 keys, of at most 512"},
		"ABI":           {`{"chain":"eip155:1","address":"` + vault + `","abi":[` + times(512, listed) + `]}`, `{"chain":"eip155:1","address":"` + vault + `","abi":[` + times(513, listed) + `]}`, "more than 512 functions"},
		"groups":        {nested(4), nested(5), "deeper than 4"},
		"types":         {wrapped(15), wrapped(17), "nested too deep"},
		"account group": {groups(4), groups(5), "too many accounts"},
		"Codama types":  {boxed(14), boxed(17), "nested too deep"},
		"JSON depth":    {deep(31), deep(32), "deeper than 32"},
		"JSON values":   {many(99_990), many(100_001), "more than 100000 values"},
		"size":          {contract(strings.Repeat(" ", 4<<20-len(contract("")))), contract(strings.Repeat(" ", 4<<20-len(contract(""))+1)), "of at most 4194304"},
	} {
		if problem := problemOf(t, test.most); problem != "" {
			t.Errorf("%s, at the bound: %s", name, problem)
		}
		if problem := problemOf(t, test.more); !strings.Contains(problem, test.want) {
			t.Errorf("%s, beyond: %q, want %q", name, problem, test.want)
		}
	}
}

// TestFolderBounds: an include that is no file, that includes itself, or that cannot be read
// is named, for each file that includes it.
func TestFolderBounds(t *testing.T) {
	with := func(included string) string { return contract(`,"includes":` + included) }
	files := map[string]string{"base.json": base, "bad.json": "{", "dir.json/x.json": base, "loop.json": `{"includes":"loop.json"}`}
	for included, want := range map[string]string{
		`"none.json"`: "not exist", `""`: "must be the relative path", `1`: "must be the relative path", `"/base.json"`: "must be the relative path",
		`"../base.json"`: "must be the relative path", `"https://x/base.json"`: "must be the relative path", `"dir.json"`: "not a regular file",
		`"bad.json"`: "includes bad.json: ", `"loop.json"`: "a cycle",
	} {
		with := map[string]string{"a.json": with(included), "b.json": with(included)}
		maps.Copy(with, files)
		for _, file := range open(t, descriptors.Options{}, with).Files() {
			if (file.Name == "a.json" || file.Name == "b.json") && (file.Readable() || !strings.Contains(file.Problem, want)) {
				t.Errorf("%s: %s: %q, want %q", included, file.Name, file.Problem, want)
			}
		}
	}
	large := fstest.MapFS{}
	for i := range 5001 {
		large[fmt.Sprintf("%d.json", i)] = &fstest.MapFile{Data: []byte("{}")}
	}
	if _, err := descriptors.Open(large, descriptors.Options{}); err == nil || !strings.Contains(err.Error(), "more than 5000 files") {
		t.Errorf("a folder of 5001 files: %v", err)
	}
}

// TestFieldProblems: a field whose value does not fit its format or its path makes the
// reading incomplete.
func TestFieldProblems(t *testing.T) {
	call := allCall(t)
	read := func(field string) string {
		var root map[string]any
		testenv.JSON(t, []byte(everyFormat), &root)
		var one any
		if err := json.Unmarshal([]byte(field), &one); err != nil {
			t.Fatalf("%s: %v", field, err)
		}
		for _, format := range root["display"].(map[string]any)["formats"].(map[string]any) {
			format.(map[string]any)["fields"] = []any{one}
		}
		file := testenv.Encode(t, root)
		files := map[string]string{"a.json": string(file)}
		reading, _ := open(t, descriptors.Options{Pins: pin(t, files)}, files).Read(call)
		return reading.Problem
	}
	const unread = "argument data is bytes whose meaning is not known" // the field itself is shown
	for field, want := range map[string]string{
		`{"path":"legs.who","format":"amount"}`:                                                "not a number",
		`{"path":"text","format":"amount"}`:                                                    "not a number",
		`{"path":"text","format":"date"}`:                                                      "not a number",
		`{"path":"text","format":"duration"}`:                                                  "not a number",
		`{"path":"text","format":"unit"}`:                                                      "not a number",
		`{"path":"text","format":"nftName"}`:                                                   "not a number",
		`{"path":"text","format":"tokenAmount"}`:                                               "not a number",
		`{"path":"text","format":"tokenTicker"}`:                                               "not an address",
		`{"path":"data","format":"calldata","params":{"calleePath":"none"}}`:                   `no argument "none"`,
		`{"path":"data","format":"calldata","params":{"calleePath":"to","amountPath":"text"}}`: "not a number",
		`{"path":"amount","format":"tokenAmount","params":{"tokenPath":"none"}}`:               `no argument "none"`,
		`{"path":"amount","format":"nftName","params":{"collectionPath":"none"}}`:              `no argument "none"`,
		`{"path":"amount","format":"tokenAmount","params":{"tokenPath":"ids"}}`:                "tokenPath leads to 2 values, for 1 of the field",
		`{"path":"legs.[0].[0:0]"}`:                                                            "an index into a structure",
		`{"path":"amount.[]"}`:                                                                 "not a list",
		`{"path":"legs.none"}`:                                                                 `no argument "none"`,
		`{"path":"legs.[0]"}`:                                                                  "a structure cannot be shown",
		`{"path":"ids.[x]"}`:                                                                   `"[x]" is not an index`,
		`{"path":"ids.[0"}`:                                                                    `"[0" is not an index`,
		`{"path":"ids.[0:x]"}`:                                                                 `"[0:x]" is not an index`,
		`{"path":"ids.[2]"}`:                                                                   "beyond 2 elements",
		`{"path":"ids.[-3]"}`:                                                                  "beyond 2 elements",
		`{"path":"` + strings.Repeat("a", 257) + `"}`:                                          "path of 257 bytes",
		`{"path":"amount","format":"tokenAmount","params":{"token":"` + another + `","threshold":"` + strings.Repeat("9", 81) + `"}}`: unread,
		`{"path":"ids","fields":[` + times(200, func(int) string { return `{"path":""}` }) + `]}`:                                     "more than 256 values",
		`{"path":"to","format":"addressName","params":{"threshold":1}}`:                                                               `parameter "threshold" of format addressName is not known`,
		`{"path":"amount","format":"tokenAmount","params":{"token":"` + another + `","threshold":"x"}}`:                               unread,
	} {
		if problem := read(field); !strings.Contains(problem, want) {
			t.Errorf("%s: %q, want %q", field, problem, want)
		}
	}
}

// TestLongArguments: an argument that cannot be shown whole, and a list that is too long,
// make the reading incomplete.
func TestLongArguments(t *testing.T) {
	abi := func(kind string) string {
		return `{"chain":"eip155:1","address":"` + vault + `","abi":[{"type":"function","name":"f","inputs":[{"name":"a","type":"` + kind + `"}]}]}`
	}
	word := func(value int) []byte { return common.LeftPadBytes(common.FromHex(fmt.Sprintf("%x", value)), 32) }
	for name, test := range map[string]struct {
		kind   string
		length int
		size   int // of the elements together
		want   string
	}{
		"a text":           {"string", 1024, 1024, ""},
		"a long text":      {"string", 1025, 1056, "argument a is too long"},
		"bytes":            {"bytes", 1025, 1056, "bytes whose meaning is not known"},
		"a list":           {"uint256[]", 255, 255 * 32, ""},
		"a long list":      {"uint256[]", 257, 257 * 32, "more than 256 arguments"},
		"a list at bounds": {"uint256[]", 256, 256 * 32, "more than 256 arguments"},
	} {
		call := deposit("eip155:1")
		call.Data = append(selector("f("+test.kind+")"), word(32)...)
		call.Data = append(call.Data, word(test.length)...)
		body := make([]byte, test.size)
		for i := range min(test.length, len(body)) {
			if test.kind != "uint256[]" {
				body[i] = 'a'
			}
		}
		call.Data = append(call.Data, body...)
		files := map[string]string{"a.json": abi(test.kind)}
		reading, ok := open(t, descriptors.Options{Pins: pin(t, files)}, files).Read(call)
		if !ok || reading.Complete != (test.want == "") || !strings.Contains(reading.Problem, test.want) {
			t.Errorf("%s: %v %q, want %q", name, ok, reading.Problem, test.want)
		}
	}
	for address, want := range map[string]string{
		"TBdTs1DFKpXwq8rrhTCevhuswybqqgi3G1": "", vault: "must be a Tron address", strings.Repeat("1", 65): "must be a Tron address", "1FyDxKsuEoyBtYM4Dd8Ar4KyXcaubxtuD5": "must be a Tron address",
	} {
		if problem := problemOf(t, strings.Replace(strings.Replace(abi("uint256"), "eip155:1", "tron", 1), vault, address, 1)); (problem == "") != (want == "") || !strings.Contains(problem, want) {
			t.Errorf("%s: %q, want %q", address, problem, want)
		}
	}
}
