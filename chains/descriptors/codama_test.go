package descriptors_test

import (
	_ "embed"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// codamaIDL describes a fictional program with every supported node. The test against
// Codama's own encoder is in interop/.
//
//go:embed testdata/codama.json
var codamaIDL string

const codamaProgram = "Vote111111111111111111111111111111111111111"

func codamaCall(t testing.TB, data string, accounts ...chains.Party) chains.Call {
	t.Helper()
	raw := testenv.Hex(t, strings.ReplaceAll(data, " ", ""))
	call := solanaCall(raw, accounts...)
	call.To = chains.PartyWritten(base58.Decode(codamaProgram), codamaProgram)
	return call
}

func codamaFolder(t testing.TB) *descriptors.Folder {
	t.Helper()
	files := map[string]string{"everything.json": codamaIDL}
	return open(t, descriptors.Options{Pins: pin(t, files)}, files)
}

var (
	codamaUser  = chains.PartyWritten(make([]byte, 32), strings.Repeat("1", 32))
	codamaOther = chains.PartyWritten(base58.Decode(idlProgram), idlProgram)
	zeroKey     = strings.Repeat("00", 32)
)

const numbersData = "01 05 ff 0102 fbffffff 0700000000000000 fffffffffffffffe 09000000000000000000000000000000 ffffffffffffffffffffffffffffffff " +
	"8001 000000000000f83f 3f000000 00ca9a3b00000000 ffffffffffffffff e8030000"

// TestCodama: every kind of argument is read and every account named.
func TestCodama(t *testing.T) {
	folder := codamaFolder(t)
	self := codamaCall(t, "").To
	for name, test := range map[string]struct {
		call chains.Call
		want string
	}{
		"numbers": {codamaCall(t, numbersData, codamaUser, self, codamaOther),
			"a=5 b=-1 c=258 d=-5 e=7 f=-2 g=9 h=-1 i=128 j=1.5 k=0.5 sol=1000000000 when=-1 price=1000 accounts.payer=1… accounts.vault=none accounts.owner=J…"},
		"texts": {codamaCall(t, "02 02000000 6869 01 61 45544800000000000000 deadbeef 6162ff cafe 0700 0001 656e64"),
			"name=hi short=a ticker=ETH root=0xdeadbeef note=ab framed=7 memo=end"},
		"options": {codamaCall(t, "03 01 0500 01 0600"+hex.EncodeToString(base58.Decode(idlProgram))+"0700 01 09000000", codamaUser, codamaOther),
			"a=5 b=6 c=" + idlProgram + " d=7 e=true f=9 accounts.payer=1… accounts.owner=J…"},
		"options, none": {codamaCall(t, "03 00 00 0000"+zeroKey+"ffff 00", codamaUser, codamaUser, codamaOther, codamaUser),
			"a=none b=none c=none d=none e=false f=none accounts.payer=1… accounts.vault=1… accounts.owner=J… accounts.clock=1…"},
		"lists": {codamaCall(t, "04 01000000"+zeroKey+"07 0a00000000000000 01 fffe 0100 0200 01 05000000 01 01 78 01 03 01 04 09 0800"+zeroKey+"0100 0500 0600", codamaOther, codamaUser, codamaUser),
			"legs.0.mint=1… legs.0.side=sell legs.0.side.sell.limit=10 legs.0.side.sell.partial=true legs.0.rate=-2 pair.0=1 pair.1=2 set.0=5 map.0.key=x map.0.value=true " +
				"pairs.0=3 pairs.1.0=true pairs.1.1=4 side=swap side.swap.0=8 side.swap.1=1… foreign.side=right rest.0=5 rest.1=6 accounts.owner=J… accounts.signers.0=1… accounts.signers.1=1…"},
		"opaque, empty": {codamaCall(t, "05 00000000 00000000"), "data=0x encoded=0x"},
		"marked":        {codamaCall(t, "53ea18f218a6cf3f 03 0900000000000000"), "amount=9"},
		"constant":      {codamaCall(t, "fe00"), "head=254"},
	} {
		reading, ok := folder.Read(test.call)
		if !ok || !reading.Complete || reading.Owner != "everything" || reading.Function != strings.Split(name, ",")[0] {
			t.Errorf("%s: %v %+v", name, ok, reading)
		}
		var got []string
		for _, arg := range reading.Args {
			got = append(got, arg.Name+"="+arg.Value)
		}
		text := strings.NewReplacer(strings.Repeat("1", 32), "1…", "accounts.owner="+idlProgram, "accounts.owner=J…").Replace(strings.Join(got, " "))
		if text != test.want {
			t.Errorf("%s\ngot  %s\nwant %s", name, text, test.want)
		}
	}
}

// TestCodamaUnread: a call whose data or accounts do not fit the IDL is not read.
func TestCodamaUnread(t *testing.T) {
	folder := codamaFolder(t)
	for name, test := range map[string]struct {
		call chains.Call
		want string
	}{
		"short":                  {codamaCall(t, numbersData[:len(numbersData)-2], codamaUser, codamaUser, codamaUser), "ends within an argument"},
		"behind":                 {codamaCall(t, numbersData+"00", codamaUser, codamaUser, codamaUser), "1 bytes follow the arguments"},
		"a long compact-u16":     {codamaCall(t, strings.Replace(numbersData, "8001 ", "8100 ", 1), codamaUser, codamaUser, codamaUser), "not in its shortest form"},
		"few accounts":           {codamaCall(t, numbersData, codamaUser, codamaUser), "2 accounts are given"},
		"more accounts":          {codamaCall(t, numbersData, codamaUser, codamaUser, codamaUser, codamaUser), "account 3 is not named"},
		"which is left out":      {codamaCall(t, "03 00 00 0000"+zeroKey+"ffff 00", codamaUser, codamaUser, codamaUser), "3 accounts are given"},
		"a lookup table":         {codamaCall(t, numbersData, codamaUser, chains.UnknownParty(), codamaUser), "accounts.vault is in a lookup table"},
		"not UTF-8":              {codamaCall(t, "02 01000000 ff 00 00000000000000000000 00000000 ff cafe 0000 0001"), "not UTF-8"},
		"padding with something": {codamaCall(t, "02 00000000 00 45000000000000000001 00000000 ff cafe 0000 0001"), ""}, // a text with zeros in it
		"no sentinel":            {codamaCall(t, "02 00000000 00 00000000000000000000 00000000 6162"), "ends within an argument"},
		"another prefix":         {codamaCall(t, "02 00000000 00 00000000000000000000 00000000 ff caff 0000 0001"), "0xcaff, and the IDL has 0xcafe"},
		"another suffix":         {codamaCall(t, "02 00000000 00 00000000000000000000 00000000 ff cafe 0000 0002"), "and the IDL has 0x0001"},
		"neither 0 nor 1":        {codamaCall(t, "03 02"), "2 is neither 0 nor 1"},
		"a flag of a bool":       {codamaCall(t, "03 00 00 0000"+zeroKey+"ffff 02", codamaUser, codamaUser), "2 is neither 0 nor 1"},
		"an absence with bytes":  {codamaCall(t, "03 00 00 0001"+zeroKey+"ffff 00"), "not zero"},
		"a rest that is short":   {codamaCall(t, "03 00 00 0000"+zeroKey+"ffff 00 0102"), "ends within an argument"},
		"a huge list":            {codamaCall(t, "04 ffffffff"), "ends within an argument"},
		"no such variant":        {codamaCall(t, "04 01000000"+zeroKey+"01"), "there is no variant 1"},
		"bytes":                  {codamaCall(t, "05 01000000 aa 00000000"), "argument data is bytes"},
		"base58":                 {codamaCall(t, "05 00000000 01000000 aa"), "argument encoded is bytes"},
		"an offset":              {codamaCall(t, "06 0000000001"), `argument a: type "preOffsetTypeNode" is not supported`},
		"half of a mark":         {codamaCall(t, "53ea18f218a6cf3f 04 0900000000000000"), ""},
		"another size":           {codamaCall(t, "53ea18f218a6cf3f 03 090000000000000000"), ""},
		"another program":        {solanaCall([]byte{5, 0, 0, 0, 0, 0, 0, 0, 0}), ""},
	} {
		reading, ok := folder.Read(test.call)
		if name == "padding with something" {
			if !ok || reading.Args[2].Value != "E\x00\x00\x00\x00\x00\x00\x00\x00\x01" {
				t.Errorf("%s: %+v", name, reading)
			}
			continue
		}
		if reading.Complete || ok != (test.want != "") || !strings.Contains(reading.Problem, test.want) {
			t.Errorf("%s: %v, complete %v, %q, want %q", name, ok, reading.Complete, reading.Problem, test.want)
		}
	}
}

// TestCodamaRefused has IDLs that are not of Codama 1, or are ambiguous or invalid.
func TestCodamaRefused(t *testing.T) {
	for name, change := range map[string][2]string{
		"another standard":      {`"standard": "codama"`, `"standard": "kinobi"`},
		"a later version":       {`"version": "1.9.2"`, `"version": "2.0.0"`},
		"no address":            {`"publicKey": "` + codamaProgram + `"`, `"publicKey": "1"`},
		"two programs":          {`"name": "helper",` + "\n   \"publicKey\"", `"name": "everything",` + "\n   \"publicKey\""},
		"two types":             {`"name": "leg"`, `"name": "side"`},
		"two arguments":         {`"name": "short"`, `"name": "name"`},
		"two variants":          {`"discriminator": 9`, `"discriminator": 7`},
		"undefined":             {`"name": "unit"`, `"name": "units"`},
		"recursive":             {`"name": "rate"`, `"name": "leg", "kind": "structFieldTypeNode", "type": {"kind": "definedTypeLinkNode", "name": "leg"}}, {"name": "rate"`},
		"a wrong endianness":    {`"endian": "be"`, `"endian": "middle"`},
		"a number too large":    {`"number": 65024`, `"number": 65536`},
		"a negative number":     {`"number": 65024`, `"number": -1`},
		"a mark of wrong size":  {`"data": "F35N29bJKmx"`, `"data": "1111"`},
		"a mark elsewhere":      {`"offset": 8`, `"offset": 9`},
		"a mark of no argument": {`"name": "sub",` + "\n      \"offset\"", `"name": "subs",` + "\n      \"offset\""},
		"a size of nothing":     {`"size": 17`, `"size": 0`},
		"a strategy":            {`"optionalAccountStrategy": "omitted"`, `"optionalAccountStrategy": "zero"`},
		"a list that is none":   {`"additionalPrograms": [`, `"additionalPrograms": {}, "x": [`},
		"an unknown mark":       {`"sizeDiscriminatorNode"`, `"lengthDiscriminatorNode"`},
	} {
		if !strings.Contains(codamaIDL, change[0]) {
			t.Errorf("%s: nothing to change", name)
		}
		files := open(t, descriptors.Options{}, map[string]string{"a.json": strings.Replace(codamaIDL, change[0], change[1], 1)}).Files()
		if len(files) != 1 || files[0].Readable() {
			t.Errorf("%s is read", name)
		}
	}
}

// TestCodamaUnknownMember: an unknown member of a type, which a later version of the
// specification may add, makes only its instruction unreadable.
func TestCodamaUnknownMember(t *testing.T) {
	files := map[string]string{"a.json": strings.Replace(codamaIDL, `"kind": "solAmountTypeNode",`, `"kind": "solAmountTypeNode", "scale": 2,`, 1)}
	folder := open(t, descriptors.Options{Pins: pin(t, files)}, files)
	reading, ok := folder.Read(codamaCall(t, numbersData, codamaUser, codamaUser, codamaUser))
	if !ok || reading.Complete || !strings.Contains(reading.Problem, `"scale" of solAmountTypeNode is not supported`) {
		t.Errorf("%+v", reading)
	}
	if reading, ok := folder.Read(codamaCall(t, "fe00")); !ok || !reading.Complete {
		t.Errorf("%+v", reading)
	}
}
