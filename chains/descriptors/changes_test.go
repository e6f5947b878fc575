package descriptors_test

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

var update = flag.Bool("update", false, "find the changes of testdata/changes again")

// changed is a file of one kind and calls that it reads completely.
type changed struct {
	file  string
	calls []chains.Call
}

// everyFormat shows arguments in every format of ERC-7730.
var everyFormat = contract(`,"metadata":{"owner":"Vault Inc","constants":{"max":"0xffff","usd":"` + another + `"},"enums":{"side":{"0":"buy","1":"sell"}}},
"display":{"definitions":{"amount":{"label":"Amount","format":"tokenAmount","params":{"token":"$.metadata.constants.usd","threshold":"$.metadata.constants.max","message":"All"}}},
"formats":{"all(address to,uint256 amount,uint256[] ids,bytes data,bytes20 part,bool on,string text,(address who,uint256 share)[] legs)":{
	"intent":{"Send":"tokens"},"interpolatedIntent":"Send {amount} to {to}","fields":[
	{"path":"to","label":"To","format":"addressName","params":{"types":["eoa"],"senderAddress":["@.from","` + another + `"]}},
	{"path":"amount","$ref":"$.display.definitions.amount"},
	{"path":"amount","label":"Native","format":"amount"},
	{"path":"ids.[0]","label":"When","format":"date","params":{"encoding":"timestamp"}},
	{"path":"ids.[-1]","label":"For","format":"duration"},
	{"path":"ids.[0:1]","label":"Share","format":"unit","params":{"base":"%","decimals":2}},
	{"path":"ids.[]","label":"Item","format":"nftName","params":{"collectionPath":"to"}},
	{"path":"on","label":"Side","format":"enum","params":{"$ref":"$.metadata.enums.side"}},
	{"path":"part.[0:4]","label":"Part","format":"raw","visible":"always"},
	{"path":"to","label":"Token","format":"tokenTicker","visible":"optional"},
	{"path":"data","label":"Call","format":"calldata","params":{"calleePath":"@.to","amountPath":"@.value"}},
	{"path":"legs","fields":[{"path":"who","label":"Who","format":"interoperableName"},{"path":"share","label":"Share","format":"tokenAmount","params":{"tokenPath":"#.to"}}]},
	{"path":"text","label":"Text","visible":false},
	{"value":"$.metadata.owner","label":"By"}]},
 "deposit(uint256 assets,address receiver)":{"intent":"Deposit","fields":[{"path":"assets","label":"Assets","format":"raw"}]}}}`)

const plainABI = `{"chain":"eip155:1","address":"` + vault + `","name":"Vault","abi":[{"type":"event","name":"e"},
{"type":"function","name":"deposit","inputs":[{"name":"assets","type":"uint256"},{"name":"receiver","type":"address"}],"stateMutability":"payable"},
{"type":"function","name":"list","inputs":[{"name":"a","type":"tuple[2]","components":[{"name":"0b","type":"bytes32"},{"name":"c","type":"bool"}]}]}]}`

// allCall returns a call of everyFormat's function, with a deposit in it.
func allCall(t testing.TB) chains.Call {
	t.Helper()
	kind := func(text string, parts ...abi.ArgumentMarshaling) abi.Argument {
		one, err := abi.NewType(text, "", parts)
		testenv.Must(t, err)
		return abi.Argument{Type: one}
	}
	type leg struct {
		Who   common.Address
		Share *big.Int
	}
	arguments := abi.Arguments{kind("address"), kind("uint256"), kind("uint256[]"), kind("bytes"), kind("bytes20"), kind("bool"), kind("string"),
		kind("tuple[]", abi.ArgumentMarshaling{Name: "who", Type: "address"}, abi.ArgumentMarshaling{Name: "share", Type: "uint256"})}
	packed, err := arguments.Pack(common.HexToAddress(another), big.NewInt(70_000), []*big.Int{big.NewInt(1), big.NewInt(2)}, deposit("eip155:1").Data,
		[20]byte{1, 2, 3, 4, 5}, true, "hi", []leg{{common.HexToAddress(another), big.NewInt(5)}})
	testenv.Must(t, err)
	call := deposit("eip155:1")
	call.Data = append(selector("all(address,uint256,uint256[],bytes,bytes20,bool,string,(address,uint256)[])"), packed...)
	return call
}

func selector(signature string) []byte { return crypto.Keccak256([]byte(signature))[:4:4] }

func changedFiles(t testing.TB) map[string]changed {
	t.Helper()
	fixed := chains.PartyWritten(codamaOther.Address(), idlProgram)
	self := codamaCall(t, "").To
	return map[string]changed{
		"erc7730": {file: everyFormat, calls: []chains.Call{allCall(t)}},
		"abi":     {file: plainABI, calls: []chains.Call{deposit("eip155:1")}},
		"anchor":  {file: idl, calls: []chains.Call{solanaCall(swapData(t), codamaUser, codamaUser, fixed)}},
		"codama": {file: codamaIDL, calls: []chains.Call{
			codamaCall(t, numbersData, codamaUser, self, codamaOther),
			codamaCall(t, "02 02000000 6869 01 61 45544800000000000000 deadbeef 6162ff cafe 0700 0001 656e64"),
			codamaCall(t, "03 01 0500 01 0600"+hex.EncodeToString(codamaOther.Address())+"0700 01 09000000", codamaUser, codamaOther),
			codamaCall(t, "04 01000000"+zeroKey+"07 0a00000000000000 01 fffe 0100 0200 01 05000000 01 01 78 01 03 01 04 09 0800"+zeroKey+"0100 0500 0600", codamaOther, codamaUser, codamaUser),
			codamaCall(t, "53ea18f218a6cf3f 03 0900000000000000"),
		}},
		"listed table":  {file: listedTable(entries(1, 2))},
		"table account": {file: tableAccount(entries(1, 2))},
		"typed data": {file: `{` + schema + `,"context":{"eip712":{"domain":{"name":"Vault"},"deployments":[{"chainId":1,"address":"` + vault + `"}]}},
			"display":{"formats":{"Mail(string text)":{"intent":"Mail","fields":[{"path":"text","label":"Text"}]}}}}`},
	}
}

// TestChanges applies every change that testdata/changes lists to a file or to a call, and
// compares what is said about it. The lists have one change for each refusal and each
// problem that a change of a single value leads to.
func TestChanges(t *testing.T) {
	for name, sample := range changedFiles(t) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata", "changes", name+".txt")
			if *update {
				testenv.Write(t, file, []byte(strings.Join(sample.explore(t), "\n")+"\n"))
			}
			list := testenv.Read(t, file)
			if said := sample.said(t, sample.file, sample.calls); said != "" {
				t.Errorf("without a change: %s", said)
			}
			for line := range strings.Lines(string(list)) {
				parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
				if len(parts) != 3 {
					t.Fatalf("not a change: %s", line)
				}
				if said := sample.after(t, parts[0], parts[1]); said != parts[2] {
					t.Errorf("%s = %s: %s\nwant %s", parts[0], parts[1], said, parts[2])
				}
			}
		})
	}
}

// said returns what is said about a file and its readings of calls.
func (c *changed) said(t testing.TB, file string, calls []chains.Call) string {
	t.Helper()
	files := map[string]string{"a.json": file}
	pins := &descriptors.Pins{}
	opened := open(t, descriptors.Options{}, files).Files()
	for _, one := range opened {
		if !one.Readable() {
			return "refused: " + oneLine(one.Problem)
		}
		pins.Add(one)
	}
	folder := open(t, descriptors.Options{Pins: pins}, files)
	var said []string
	for _, call := range calls {
		reading, ok := folder.Read(call)
		switch {
		case !ok:
			said = append(said, "not described")
		case reading.Problem != "":
			said = append(said, oneLine(reading.Problem))
		}
	}
	for _, one := range folder.Files() {
		for _, of := range one.Targets {
			if table, ok := folder.LookupTable(base58.Decode(strings.TrimPrefix(of, "solana:"))); ok && table.Problem != "" {
				said = append(said, oneLine(table.Problem))
			}
		}
	}
	return strings.Join(said, "; ")
}

// after returns what is said after a change: of the value at a path in the file, or of the
// data of "call N".
func (c *changed) after(t testing.TB, at, to string) string {
	t.Helper()
	if number, ok := strings.CutPrefix(at, "call "); ok {
		n, err := strconv.Atoi(number)
		testenv.Must(t, err)
		call := c.calls[n]
		if to == "cut" {
			return c.cuts(t, call)
		}
		call.Data = otherData(t, slices.Clone(call.Data), to)
		return c.said(t, c.file, []chains.Call{call})
	}
	changed := replaced(tree(t, c.file), strings.Split(at, "/")[1:], func(old any) (any, bool) { return other(t, old, to) })
	file := testenv.Encode(t, changed)
	return c.said(t, string(file), c.calls)
}

// cuts returns what is said of a call whose data ends early, and after how many bytes.
func (c *changed) cuts(t testing.TB, call chains.Call) string {
	t.Helper()
	var runs []string
	last, data := "", call.Data
	for i := range data {
		call.Data = data[:i]
		if said := c.said(t, c.file, []chains.Call{call}); said != last || i == 0 {
			runs = append(runs, fmt.Sprintf("%d: %s", i, cmp.Or(said, "read")))
			last = said
		}
	}
	return strings.Join(runs, ", ")
}

// otherData changes the data of a call: "byte 7 255" sets the byte at 7, "longer" adds one.
func otherData(t testing.TB, data []byte, to string) []byte {
	t.Helper()
	var at, value int
	if to == "longer" {
		return append(data, 0)
	}
	if _, err := fmt.Sscanf(to, "byte %d %d", &at, &value); err != nil {
		t.Fatal(err)
	}
	data[at] = byte(value)
	return data
}

// other returns what replaces a value: nothing if it is "removed", its first element 7 times
// for "first × 7", itself and another member for "with x", otherwise the given JSON.
func other(t testing.TB, old any, to string) (value any, keep bool) {
	t.Helper()
	var count int
	if _, err := fmt.Sscanf(to, "first × %d", &count); err == nil {
		return slices.Repeat(old.([]any)[:1], count), true
	}
	switch to {
	case "removed":
		return nil, false
	case "with x":
		old.(map[string]any)["x"] = 1
		return old, true
	}
	return tree(t, to), true
}

// tree parses JSON, and keeps numbers of 64 bits.
func tree(t testing.TB, text string) (root any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	testenv.Must(t, decoder.Decode(&root))
	return root
}

// replaced returns a tree with another value at a path, or without it.
func replaced(node any, at []string, with func(old any) (value any, keep bool)) any {
	if len(at) == 0 {
		value, _ := with(node)
		return value
	}
	switch node := node.(type) {
	case map[string]any:
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(at[0])
		if len(at) > 1 {
			node[name] = replaced(node[name], at[1:], with)
			return node
		}
		value, keep := with(node[name])
		if node[name] = value; !keep {
			delete(node, name)
		}
		return node
	case []any:
		index, _ := strconv.Atoi(at[0])
		if len(at) > 1 {
			node[index] = replaced(node[index], at[1:], with)
			return node
		}
		value, keep := with(node[index])
		if !keep {
			return slices.Delete(node, index, index+1)
		}
		node[index] = value
		return node
	}
	return node
}

// explore tries to replace and remove every value of the file, and to change and cut every
// byte of the calls. It returns the first change for each thing that is said of a member.
func (c *changed) explore(t testing.TB) (lines []string) {
	t.Helper()
	seen := map[string]bool{}
	try := func(at, to string) {
		said := c.after(t, at, to)
		if form := variable.ReplaceAllString(said+" "+path.Base(at), "…"); said != "" && !seen[form] {
			seen[form] = true
			lines = append(lines, at+"\t"+to+"\t"+said)
		}
	}
	walk(tree(t, c.file), "", func(at string, node any) {
		for _, to := range others(node) {
			if to != "removed" || at != "" {
				try(at, to)
			}
		}
	})
	for n := range c.calls {
		at, data := fmt.Sprintf("call %d", n), c.calls[n].Data
		try(at, "cut")
		for i := range data {
			for _, to := range []byte{0, 1, 2, 0x7f, 0xff} {
				try(at, fmt.Sprintf("byte %d %d", i, to))
			}
		}
		try(at, "longer")
	}
	return lines
}

func walk(node any, at string, visit func(at string, node any)) {
	visit(at, node)
	switch node := node.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			walk(node[name], at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(name), visit)
		}
	case []any:
		for i := range node {
			walk(node[i], at+"/"+strconv.Itoa(i), visit)
		}
	}
}

// others returns values to replace a value by.
func others(node any) []string {
	all := []string{"removed", "null", "true", "-1", "0", "1", "70000", `""`, `"x"`, `"0x1"`, `"[9]"`, `"[x]"`, `"@.gas"`, `"$.none"`, "[]", "[{}]", "[[]]", "{}", `{"kind":"x"}`, `{"x":1}`}
	if list, ok := node.([]any); ok && len(list) > 0 {
		all = append(all, "first × 2", "first × 300", "first × 600")
	}
	if _, ok := node.(map[string]any); ok {
		all = append(all, "with x")
	}
	return all
}

// variable is a text or a number, which differs from change to change.
var variable = regexp.MustCompile(`"[^"]*"|[0-9]+`)

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
