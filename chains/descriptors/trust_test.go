package descriptors_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
)

const (
	vault   = "0x1234567890AbcdEF1234567890aBcdef12345678"
	another = "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7"
	cyfrin  = "0x3846c3A30E62075Fa916216b35EF04B8F53931f6"
	schema  = `"$schema":"../specs/erc7730-v2.schema.json"`
)

// now is the time of the tests' clock.
var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

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
	if options.Now == nil {
		options.Now = func() time.Time { return now }
	}
	opened, err := descriptors.Open(folder, options)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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

// attestation is an auditor's attestation with members that a test changes.
type attestation struct {
	data, chainID, contract, schema, expires, created string
	key                                               string
	highS                                             bool
	replace                                           [2]string // in the text, before it is signed
}

const auditorKey = "4646464646464646464646464646464646464646464646464646464646464646"

func auditorOf(key string) string {
	private, _ := crypto.HexToECDSA(key)
	return crypto.PubkeyToAddress(private.PublicKey).Hex()
}

// sign returns the file of the signed attestation.
func (a attestation) sign(t testing.TB) string {
	t.Helper()
	for _, m := range []struct{ member, fallback *string }{
		{&a.chainID, ptr("1")}, {&a.contract, ptr("0xA1207F3BBa224E2c9c3c6D5aF63D0eb1582Ce587")}, {&a.expires, ptr("0")}, {&a.created, ptr("1785288536")},
		{&a.schema, ptr("0xe023eef113c1670774801c34b377fdf612dd8a4d2fa92fe382e15bd91fafb5c2")}, {&a.key, ptr(auditorKey)},
	} {
		if *m.member == "" {
			*m.member = *m.fallback
		}
	}
	zero := "0x" + strings.Repeat("0", 64)
	text := func(v int, r, s string) string {
		return strings.Replace(fmt.Sprintf(`{"sig":{"version":2,"uid":%q,"domain":{"name":"EAS Attestation","version":"0.26","chainId":%q,"verifyingContract":%q},
			"primaryType":"Attest","message":{"version":2,"schema":%q,"recipient":"0x0000000000000000000000000000000000000000","time":%q,
			"expirationTime":%q,"revocable":true,"refUID":%q,"data":%q,"salt":%q},"types":{},"signature":{"v":%d,"r":%q,"s":%q}},"signer":%q}`,
			zero, a.chainID, a.contract, a.schema, a.created, a.expires, zero, a.data, zero, v, r, s, auditorOf(a.key)), a.replace[0], a.replace[1], 1)
	}
	hash, err := descriptors.AttestationHash([]byte(text(27, zero, zero)))
	if err != nil {
		t.Fatal(err)
	}
	private, err := crypto.HexToECDSA(a.key)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := crypto.Sign(hash[:], private)
	if err != nil {
		t.Fatal(err)
	}
	s, v := signature[32:64], 27+int(signature[64])
	if a.highS {
		s, v = new(big.Int).Sub(crypto.S256().Params().N, new(big.Int).SetBytes(s)).FillBytes(make([]byte, 32)), 55-v
	}
	return text(v, "0x"+hex.EncodeToString(signature[:32]), "0x"+hex.EncodeToString(s))
}

func ptr(text string) *string { return &text }

func hashOf(t testing.TB, file string) string {
	t.Helper()
	hash, err := descriptors.AttestedHash([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return "0x" + hex.EncodeToString(hash[:])
}

// TestAttestations: a file is used if one of the user's auditors has attested it and its
// includes, on mainnet's contract, under the schema, and not expired.
func TestAttestations(t *testing.T) {
	hash := hashOf(t, alone)
	for name, test := range map[string]struct {
		attestation attestation
		want        bool
	}{
		"attested":         {attestation{data: hash}, true},
		"until tomorrow":   {attestation{data: hash, expires: fmt.Sprint(now.Add(24 * time.Hour).Unix())}, true},
		"of another file":  {attestation{data: hashOf(t, base)}, false},
		"another chain":    {attestation{data: hash, chainID: "10"}, false},
		"another contract": {attestation{data: hash, contract: another}, false},
		"another schema":   {attestation{data: hash, schema: "0x" + strings.Repeat("1", 64)}, false},
		"wrong auditor":    {attestation{data: hash, key: strings.Repeat("47", 32)}, false},
		"expired":          {attestation{data: hash, expires: fmt.Sprint(now.Unix())}, false},
		"of the future":    {attestation{data: hash, created: fmt.Sprint(now.Add(time.Hour).Unix())}, false},
		"another form":     {attestation{data: hash, highS: true}, false},
		"another domain":   {attestation{data: hash, replace: [2]string{`"name":"EAS Attestation"`, `"name":"EAS"`}}, false},
		"version 1 of EAS": {attestation{data: hash, replace: [2]string{`"sig":{"version":2`, `"sig":{"version":1`}}, false},
		"version 1":        {attestation{data: hash, replace: [2]string{`"message":{"version":2`, `"message":{"version":1`}}, false},
		"another type":     {attestation{data: hash, replace: [2]string{`"primaryType":"Attest"`, `"primaryType":"Revoke"`}}, false},
		"until 2^40":       {attestation{data: hash, expires: "1099511627776"}, true},
		"until 2^40 + 1":   {attestation{data: hash, expires: "1099511627777"}, false},
		"until 2^63":       {attestation{data: hash, expires: "9223372036854775808"}, false},
		"a byte more":      {attestation{data: hash + "00"}, false},
	} {
		files := map[string]string{"vault.json": alone, "sigs/vault.json": test.attestation.sign(t)}
		reading, _ := open(t, descriptors.Options{Auditors: []string{auditorOf(auditorKey)}}, files).Read(deposit("eip155:1"))
		if reading.Complete != test.want {
			t.Errorf("%s: %v: %s", name, reading.Complete, reading.Problem)
		}
	}
}

// TestAttestationOfTheFileAlone: an attestation does not cover includes.
func TestAttestationOfTheFileAlone(t *testing.T) {
	files := map[string]string{"base.json": base, "vault.json": including, "sigs/a.json": attestation{data: hashOf(t, including)}.sign(t)}
	options := descriptors.Options{Auditors: []string{auditorOf(auditorKey)}}
	reading, _ := open(t, options, files).Read(deposit("eip155:1"))
	if want := "it includes base.json, which no auditor attests"; reading.Complete || !strings.Contains(reading.Problem, want) {
		t.Errorf("complete %v, %q, want %q", reading.Complete, reading.Problem, want)
	}
	files["sigs/b.json"] = attestation{data: hashOf(t, base)}.sign(t)
	if reading, _ := open(t, options, files).Read(deposit("eip155:1")); !reading.Complete {
		t.Errorf("both attested: %s", reading.Problem)
	}
}

// TestAttestationExpiresWhileServing: every reading checks the expiry.
func TestAttestationExpiresWhileServing(t *testing.T) {
	clock := now
	files := map[string]string{"vault.json": alone,
		"sigs/a.json": attestation{data: hashOf(t, alone), expires: fmt.Sprint(now.Add(time.Hour).Unix())}.sign(t)}
	folder := open(t, descriptors.Options{Auditors: []string{auditorOf(auditorKey)}, Now: func() time.Time { return clock }}, files)
	if reading, _ := folder.Read(deposit("eip155:1")); !reading.Complete {
		t.Fatal(reading.Problem)
	}
	clock = clock.Add(time.Hour)
	if reading, _ := folder.Read(deposit("eip155:1")); reading.Complete || reading.Problem != "its attestation has expired" {
		t.Errorf("%+v", reading)
	}
}

// TestLastAttestationCounts has two attestations of a file, of which the one that expires
// later counts, whichever is read first.
func TestLastAttestationCounts(t *testing.T) {
	expiries := map[string]string{"in an hour": fmt.Sprint(now.Add(time.Hour).Unix()), "in three hours": fmt.Sprint(now.Add(3 * time.Hour).Unix()), "never": "0"}
	for first, a := range expiries {
		for second, b := range expiries {
			clock := now
			files := map[string]string{"vault.json": alone,
				"sigs/a.json": attestation{data: hashOf(t, alone), expires: a}.sign(t), "sigs/b.json": attestation{data: hashOf(t, alone), expires: b}.sign(t)}
			folder := open(t, descriptors.Options{Auditors: []string{auditorOf(auditorKey)}, Now: func() time.Time { return clock }}, files)
			clock = clock.Add(2 * time.Hour)
			if reading, _ := folder.Read(deposit("eip155:1")); reading.Complete != (first != "in an hour" || second != "in an hour") {
				t.Errorf("%s and %s: complete %v, %s", first, second, reading.Complete, reading.Problem)
			}
		}
	}
}

// TestIncludesExpire checks that a file is used until the first of its attestations
// expires, its own or that of an include.
func TestIncludesExpire(t *testing.T) {
	expiries := map[string]string{"in an hour": fmt.Sprint(now.Add(time.Hour).Unix()), "in three hours": fmt.Sprint(now.Add(3 * time.Hour).Unix()), "never": "0"}
	for own, a := range expiries {
		for included, b := range expiries {
			clock := now
			files := map[string]string{"base.json": base, "vault.json": including,
				"sigs/a.json": attestation{data: hashOf(t, including), expires: a}.sign(t), "sigs/b.json": attestation{data: hashOf(t, base), expires: b}.sign(t)}
			folder := open(t, descriptors.Options{Auditors: []string{auditorOf(auditorKey)}, Now: func() time.Time { return clock }}, files)
			for hours, want := range []bool{true, own != "in an hour" && included != "in an hour", own == "never" && included == "never"} {
				clock = now.Add(time.Duration(2*hours) * time.Hour)
				if reading, _ := folder.Read(deposit("eip155:1")); reading.Complete != want {
					t.Errorf("%s, include %s, after %d hours: complete %v, %s", own, included, 2*hours, reading.Complete, reading.Problem)
				}
			}
		}
	}
}

// TestAuditors has addresses of auditors that are read, and that are not.
func TestAuditors(t *testing.T) {
	auditor := auditorOf(auditorKey)
	for text, want := range map[string]bool{
		auditor: true, strings.ToLower(auditor): true,
		strings.ToUpper(auditor): false, strings.Replace(auditor, "d", "D", 1): false,
		auditor[:41]: false, auditor + "0": false, auditor + "00": false, auditor[2:]: false, "": false, "0x": false, "0x" + strings.Repeat("g", 40): false,
	} {
		if _, err := descriptors.Open(fstest.MapFS{}, descriptors.Options{Auditors: []string{text}}); (err == nil) != want {
			t.Errorf("%q: %v", text, err)
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
		problem := reading.Problem
		for _, file := range folder.Files() {
			problem += file.Problem
		}
		if reading.Complete || !strings.Contains(problem, test.want) {
			t.Errorf("%s: complete %v, %q, want %q", name, reading.Complete, problem, test.want)
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
	if err := chains.Render(&shown, chains.Readings{reading}.Show()); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(shown.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "hazards") || strings.ContainsAny(line, "\u202e\u001b") {
			t.Errorf("a line of the descriptor's own: %q", line)
		}
	}
}

// TestRegistryAttestations: every attestation of the registry verifies, and files whose
// includes are not attested are not trusted.
func TestRegistryAttestations(t *testing.T) {
	folder := registry(t)
	attested := 0
	for name, file := range folder {
		if strings.Contains(name, "/sigs/") {
			attested++
			if err := descriptors.VerifyAttestation(file.Data, cyfrin, now); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	opened, err := descriptors.Open(folder, descriptors.Options{Auditors: []string{cyfrin}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	trusted, including := 0, 0
	for _, file := range opened.Files() {
		if file.Trust != "" {
			trusted++
		}
		if strings.Contains(file.Problem, "it includes") {
			including++
		}
	}
	t.Logf("%d attestations, %d files trusted, %d attested with includes that are not", attested, trusted, including)
	if attested != 181 || trusted == 0 || including == 0 {
		t.Errorf("%d attestations, want 181; %d files trusted, %d with includes that are not attested", attested, trusted, including)
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
