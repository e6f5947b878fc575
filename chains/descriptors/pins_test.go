package descriptors_test

import (
	"bytes"
	"math/big"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const (
	vault   = "0x1234567890AbcdEF1234567890aBcdef12345678"
	another = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	schema  = `"$schema":"../specs/erc7730-v2.schema.json"`
)

const base = `{` + schema + `,"metadata":{"owner":"Vault Inc"},"display":{"formats":{"deposit(uint256 assets,address receiver)":{
	"intent":"Deposit","fields":[{"path":"assets","label":"Assets","format":"raw"}]}}}}`

// contract returns a descriptor of the vault with additional members.
func contract(members string) string {
	return `{` + schema + `,"context":{"contract":{"deployments":[{"chainId":1,"address":"` + vault + `"}]}}` + members + `}`
}

var (
	including = contract(`,"includes":"base.json"`)
	alone     = contract(`,"display":{"formats":{"deposit(uint256 assets, address receiver)":{"intent":"Deposit","fields":[]}}}`)
)

// deposit returns a call of the vault's deposit(1000, another) on a chain.
func deposit(chain string) chains.Call {
	data := append(crypto.Keccak256([]byte("deposit(uint256,address)"))[:4], common.BigToHash(big.NewInt(1000)).Bytes()...)
	data = append(data, common.HexToHash(another).Bytes()...)
	return chains.Call{Path: "call", Chain: chain, From: chains.SignerParty(), To: chains.PartyWritten(common.FromHex(vault), vault), Data: data}
}

func open(t testing.TB, options descriptors.Options, files map[string]string) *descriptors.Folder {
	t.Helper()
	folder := fstest.MapFS{}
	for name, content := range files {
		folder[name] = &fstest.MapFile{Data: []byte(content)}
	}
	opened, err := descriptors.Open(folder, options)
	testenv.Must(t, err)
	return opened
}

// pin returns pins of files with their current content.
func pin(t testing.TB, files map[string]string) *descriptors.Pins {
	t.Helper()
	pins := &descriptors.Pins{}
	for _, file := range open(t, descriptors.Options{}, files).Files() {
		pins.Add(file)
	}
	read, err := descriptors.ReadPins(pins.Encode())
	testenv.Must(t, err)
	return read
}

// TestPinsCoverIncludes: a pinned file is used while neither it nor its includes change,
// and only for its chain and address.
func TestPinsCoverIncludes(t *testing.T) {
	files := map[string]string{"base.json": base, "vault.json": including}
	pins := pin(t, files)
	with := func(name, content string) map[string]string {
		changed := map[string]string{"base.json": base, "vault.json": including}
		changed[name] = content
		return changed
	}
	elsewhere := deposit("eip155:1")
	elsewhere.To = chains.PartyWritten(common.FromHex(another), another)
	for name, test := range map[string]struct {
		files    map[string]string
		pins     *descriptors.Pins
		call     chains.Call
		complete bool
	}{
		"pinned":             {files, pins, deposit("eip155:1"), true},
		"another layout":     {with("vault.json", strings.ReplaceAll(including, ",", " ,\n")), pins, deposit("eip155:1"), true},
		"no pins":            {files, nil, deposit("eip155:1"), false},
		"another chain":      {files, pins, deposit("eip155:10"), false},
		"another address":    {files, pins, elsewhere, false},
		"changed include":    {with("base.json", strings.Replace(base, "Deposit", "Donate nothing", 1)), pins, deposit("eip155:1"), false},
		"changed file":       {with("vault.json", strings.Replace(including, `"chainId":1,`, `"chainId":1,"address":"`+another+`"},{"chainId":1,`, 1)), pins, deposit("eip155:1"), false},
		"include is missing": {map[string]string{"vault.json": including}, pins, deposit("eip155:1"), false},
	} {
		reading, _ := open(t, descriptors.Options{Pins: test.pins}, test.files).Read(test.call)
		if reading.Complete != test.complete {
			t.Errorf("%s: complete %v: %s", name, reading.Complete, reading.Problem)
		}
		if !test.complete && (reading.Function != "" || len(reading.Fields) > 0 || reading.Owner != "") {
			t.Errorf("%s: %+v is of a file that is not trusted", name, reading)
		}
	}
}

// TestUnread has calls that are not read completely, or not at all, and the reason.
func TestUnread(t *testing.T) {
	format := func(key, format string) string {
		return contract(`,"display":{"formats":{"` + key + `":` + format + `}}`)
	}
	const plain = `{"intent":"Deposit","fields":[]}`
	trailing := deposit("eip155:1")
	trailing.Data = append(bytes.Clone(trailing.Data), 1)
	dirty := deposit("eip155:1")
	dirty.Data = bytes.Clone(dirty.Data)
	dirty.Data[4+32] = 1
	for name, test := range map[string]struct {
		file, want string
		call       chains.Call
	}{
		"bytes behind":      {alone, "1 bytes follow the arguments", trailing},
		"not canonical":     {alone, "not in the canonical encoding", dirty},
		"version 1":         {strings.Replace(alone, "v2.schema", "v1.schema", 1), "only version 2 of ERC-7730 is supported", deposit("eip155:1")},
		"version 3":         {strings.Replace(alone, "v2.schema", "v3.schema", 1), "only version 2 of ERC-7730 is supported", deposit("eip155:1")},
		"of version 2.1":    {strings.Replace(alone, "v2.schema", "v2.1.0.schema", 1), "", deposit("eip155:1")},
		"new in 2.1":        {strings.Replace(format("deposit(uint256 a,address b)", `{"fields":[{"path":"a","label":"x","format":"amount","params":{"threshold":"1"}}]}`), "v2.schema", "v2.1.0.schema", 1), `parameter "threshold"`, deposit("eip155:1")},
		"new at the root":   {strings.Replace(alone, `"context"`, `"optional":{},"context"`, 1), `unknown member "/optional"`, deposit("eip155:1")},
		"new in display":    {strings.Replace(alone, `"formats"`, `"order":[],"formats"`, 1), `unknown member "/display/order"`, deposit("eip155:1")},
		"factory":           {strings.Replace(alone, `"contract":{`, `"contract":{"factory":{},`, 1), "the descriptor depends on factory", deposit("eip155:1")},
		"another case":      {format("deposit(uint256 a,address b)", `{"fields":[{"path":"a","label":"x","Label":"y"}]}`), `unknown member "/fields/0/Label"`, deposit("eip155:1")},
		"unknown condition": {strings.Replace(alone, `"contract":{`, `"contract":{"moon":{},`, 1), `unknown member "/contract/moon"`, deposit("eip155:1")},
		"two keys": {contract(`,"display":{"formats":{"deposit(uint256 assets,address receiver)":` + plain + `,"deposit(uint256 receiver,address assets)":` + plain + `}}`),
			"two keys of the descriptor", deposit("eip155:1")},
		"no such path":      {format("deposit(uint256 a,address b)", `{"fields":[{"path":"c","label":"x"}]}`), `no argument "c"`, deposit("eip155:1")},
		"unknown format":    {format("deposit(uint256 a,address b)", `{"fields":[{"path":"a","label":"x","format":"moon"}]}`), `format "moon" is not known`, deposit("eip155:1")},
		"unknown parameter": {format("deposit(uint256 a,address b)", `{"fields":[{"path":"a","label":"x","format":"date","params":{"moon":1}}]}`), `parameter "moon"`, deposit("eip155:1")},
		"condition":         {format("deposit(uint256 a,address b)", `{"fields":[{"path":"a","label":"x","visible":{"mustMatch":["1"]}}]}`), "visible with a condition", deposit("eip155:1")},
		"encrypted":         {format("deposit(uint256 a,address b)", `{"fields":[{"path":"a","label":"x","encryption":{}}]}`), "encrypted", deposit("eip155:1")},
		"member twice":      {strings.Replace(alone, `"context"`, `"context":{},"context"`, 1), "appears twice", deposit("eip155:1")},
	} {
		files := map[string]string{"vault.json": test.file}
		folder := open(t, descriptors.Options{Pins: pin(t, files)}, files)
		reading, _ := folder.Read(test.call)
		var problem strings.Builder
		problem.WriteString(reading.Problem)
		for _, file := range folder.Files() {
			problem.WriteString(file.Problem)
		}
		if reading.Complete != (test.want == "") || !strings.Contains(problem.String(), test.want) {
			t.Errorf("%s: complete %v, %q, want %q", name, reading.Complete, problem.String(), test.want)
		}
	}
}

// TestTwoTrustedFiles: of two trusted files for one function, neither is used.
func TestTwoTrustedFiles(t *testing.T) {
	files := map[string]string{"a.json": alone, "b.json": strings.Replace(alone, "Deposit", "Donate", 1)}
	reading, _ := open(t, descriptors.Options{Pins: pin(t, files)}, files).Read(deposit("eip155:1"))
	if reading.Complete || reading.Intent != "" || !strings.Contains(reading.Problem, "two trusted files") {
		t.Errorf("%+v", reading)
	}
}

// TestRepeatedDeployment: a file that names a contract twice does not contradict itself.
func TestRepeatedDeployment(t *testing.T) {
	deployment := `{"chainId":1,"address":"` + vault + `"}`
	files := map[string]string{"a.json": strings.Replace(alone, deployment, deployment+`,{"chainId":1,"address":"`+strings.ToLower(vault)+`"}`, 1)}
	if reading, _ := open(t, descriptors.Options{Pins: pin(t, files)}, files).Read(deposit("eip155:1")); !reading.Complete {
		t.Errorf("%+v", reading)
	}
}

// TestIncludesStayInTheFolder: paths out of the folder, URLs and cycles are refused.
func TestIncludesStayInTheFolder(t *testing.T) {
	for _, target := range []string{"../base.json", "/etc/passwd", "https://example.com/base.json", "vault.json", "", "a/../../b.json"} {
		files := map[string]string{"vault.json": contract(`,"includes":"` + target + `"`)}
		for _, file := range open(t, descriptors.Options{}, files).Files() {
			if file.Readable() {
				t.Errorf("%q is included", target)
			}
		}
	}
}

// TestTextCannotFakeLines: text of a descriptor, and its file's name, is quoted when it is
// rendered.
func TestTextCannotFakeLines(t *testing.T) {
	evil := `evil\nhazards  none\u202e\u001b[2K`
	files := map[string]string{"a\nhazards  none.json": contract(`,"metadata":{"owner":"` + evil + `"},"display":{"formats":{"deposit(uint256 a,address b)":{"intent":"` + evil +
		`","fields":[{"path":"a","label":"` + evil + `"},{"path":"a","label":"x","format":"unit","params":{"base":"` + evil + `"}}]}}}`)}
	reading, _ := open(t, descriptors.Options{Pins: pin(t, files)}, files).Read(deposit("eip155:1"))
	if !reading.Complete {
		t.Fatal(reading.Problem)
	}
	var shown bytes.Buffer
	testenv.Must(t, chains.Render(&shown, chains.Readings{reading}.Show()))
	for line := range strings.Lines(shown.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "hazards") || strings.ContainsAny(line, "\u202e\u001b") {
			t.Errorf("a line of the descriptor's own: %q", line)
		}
	}
}

// TestPinsRefused has malformed manifests.
func TestPinsRefused(t *testing.T) {
	const header = "countersign.pins/1\n"
	line := func(digits string) string { return header + digits + "  x\n" }
	many := func(pins int) string { return header + strings.Repeat(strings.Repeat("0", 64)+"  x\n", pins) }
	for _, text := range []string{
		"", "x", "countersign.pins/2\n", line("abc"), header + strings.Repeat("0", 64) + " x\n", header + strings.Repeat("0", 64) + "\n", line(strings.Repeat("0", 62)),
		line(strings.Repeat("0", 66)), line(strings.Repeat("A", 64)), line(strings.Repeat("g", 64)), many(20_000),
	} {
		if _, err := descriptors.ReadPins([]byte(text)); err == nil {
			t.Errorf("%.100q is read", text)
		}
	}
	for _, text := range []string{header, line(strings.Repeat("a", 64)), many(19_999)} {
		if _, err := descriptors.ReadPins([]byte(text)); err != nil {
			t.Errorf("%.100q: %v", text, err)
		}
	}
}

// TestPinsCannotFakeLines checks how a manifest names files whose names have control or
// other special characters.
func TestPinsCannotFakeLines(t *testing.T) {
	pins := &descriptors.Pins{}
	pins.Add(&descriptors.File{Name: "a ~\x7f\n\u202eb"})
	if want := "countersign.pins/1\n" + strings.Repeat("0", 64) + "  a ~???b\n"; string(pins.Encode()) != want {
		t.Errorf("%q, want %q", pins.Encode(), want)
	}
}

// TestNotesToDescribedContracts: data that would be a note to a payment is a blind call where a file says that its
// recipient is a contract, or has a function with the first four bytes.
func TestNotesToDescribedContracts(t *testing.T) {
	const named = `{"chain":"eip155:1","address":"` + vault + `","abi":[{"type":"function","name":"pay","inputs":[{"name":"to","type":"address"}]}]}`
	selectorOf := func(fragment string) []byte { return crypto.Keccak256([]byte(fragment))[:4] }
	for name, c := range map[string]struct {
		to    string
		data  []byte
		value int64
		blind bool
	}{
		"a text to the contract":     {vault, []byte("invoice 42"), 1, true},
		"a text to another":          {another, []byte("invoice 42"), 1, false},
		"a text to it without value": {vault, []byte("invoice 42"), 0, false},
		"another's selector":         {another, selectorOf("pay(address)"), 1, false}, // 0x0c11dedd is no text
	} {
		files := map[string]string{"vault.json": named}
		folder := open(t, descriptors.Options{Pins: pin(t, files)}, files)
		reading, _ := folder.Read(chains.Call{Path: "call", Chain: "eip155:1", From: chains.SignerParty(),
			To: chains.PartyWritten(common.FromHex(c.to), c.to), Value: big.NewInt(c.value), Data: c.data})
		if (reading.Blind != "") != c.blind {
			t.Errorf("%s: %+v", name, reading)
		}
		effects := []chains.Effect{{Kind: chains.KindTransfer, Path: "call"}}
		reading.Path = "call"
		if hazards := (chains.Readings{reading}).Sighted(nil, effects); (len(hazards) == 1) != c.blind {
			t.Errorf("%s: %v", name, hazards)
		}
	}
}

// TestNamesAreUnique: two parameters of one name in one list are a problem of the file, in whatever form.
func TestNamesAreUnique(t *testing.T) {
	abi := func(inputs string) string {
		return `{"chain":"eip155:1","address":"` + vault + `","abi":[{"type":"function","name":"pay","inputs":[` + inputs + `]}]}`
	}
	const one, two, tuple = `{"name":"receiver","type":"address"}`, `{"name":"payee","type":"address"}`, `{"name":"p","type":"tuple","components":[`
	for content, problem := range map[string]bool{
		abi(one + "," + two):                                       false,
		abi(one + "," + one):                                       true,
		abi(tuple + one + "," + one + "]}"):                        true,
		abi(tuple + one + "]}," + one):                             false,
		abi(`{"name":"","type":"bool"},{"name":"","type":"bool"}`): false,
		contract(`,"display":{"formats":{"pay(address to,address to)":{"intent":"Pay","fields":[]}}}`): true,
	} {
		files := open(t, descriptors.Options{}, map[string]string{"vault.json": content}).Files()
		if got := strings.Contains(files[0].Problem, "two parameters are named"); got != problem {
			t.Errorf("%s: %q", content, files[0].Problem)
		}
	}
}
