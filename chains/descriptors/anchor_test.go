package descriptors_test

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/internal/testenv"
)

const idlProgram = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"

const idl = `{"address":"` + idlProgram + `","metadata":{"name":"swaps","version":"1.0.0","spec":"0.1.0"},
"instructions":[{"name":"swap","discriminator":[1,2,3,4,5,6,7,8],
	"accounts":[{"name":"user","signer":true},{"name":"pool","writable":true,"pda":{}},{"name":"fixed","address":"` + idlProgram + `"}],
	"args":[{"name":"amount","type":"u64"},{"name":"offset","type":"i16"},{"name":"side","type":{"defined":{"name":"Side"}}},
		{"name":"legs","type":{"vec":{"defined":{"name":"Leg"}}}},{"name":"memo","type":{"option":"string"}},{"name":"data","type":"bytes"},
		{"name":"root","type":{"array":["u8",4]}}]}],
"types":[{"name":"Side","type":{"kind":"enum","variants":[{"name":"Buy"},{"name":"Sell","fields":[{"name":"limit","type":"u128"}]}]}},
	{"name":"Leg","type":{"kind":"struct","fields":[{"name":"mint","type":"pubkey"},{"name":"on","type":"bool"}]}}]}`

// swapData returns the data of a swap with one leg and no bytes.
func swapData(t testing.TB) []byte {
	t.Helper()
	text := "0102030405060708" + "e803000000000000" + "feff" + "01" + "0a000000000000000000000000000000" +
		"01000000" + strings.Repeat("00", 32) + "01" + "01" + "02000000" + hex.EncodeToString([]byte("hi")) + "00000000" + "deadbeef"
	data := testenv.Hex(t, text)
	return data
}

func solanaCall(data []byte, accounts ...chains.Party) chains.Call {
	return chains.Call{Path: "instructions/0", Chain: "solana", To: chains.PartyWritten(base58.Decode(idlProgram), idlProgram), Data: data, Accounts: accounts}
}

// TestIDL: every argument is read and every account named, and a call whose data or
// accounts do not fit the IDL is not read.
func TestIDL(t *testing.T) {
	files := map[string]string{"swaps.json": idl}
	folder := open(t, descriptors.Options{Pins: pin(t, files)}, files)
	user := chains.PartyWritten(make([]byte, 32), strings.Repeat("1", 32))
	fixed := chains.PartyWritten(base58.Decode(idlProgram), idlProgram)
	data := swapData(t)
	reading, ok := folder.Read(solanaCall(data, user, user, fixed))
	if !ok || !reading.Complete || reading.Function != "swap" || reading.Owner != "swaps" {
		t.Fatalf("%v %+v", ok, reading)
	}
	var got []string
	for _, arg := range reading.Args {
		got = append(got, arg.Name+"="+arg.Value)
	}
	want := "amount=1000 offset=-2 side=Sell side.Sell.limit=10 legs.0.mint=11111111111111111111111111111111 legs.0.on=true memo=hi data=0x root=0xdeadbeef " +
		"accounts.user=11111111111111111111111111111111 accounts.pool=11111111111111111111111111111111 accounts.fixed=" + idlProgram
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	opaque := append(append([]byte{}, data[:len(data)-8]...), 1, 0, 0, 0, 9)
	opaque = append(opaque, data[len(data)-4:]...)
	long := append([]byte{}, data...)
	binary.LittleEndian.PutUint32(long[35:], 1<<31)
	variant := append([]byte{}, data...)
	variant[18] = 2
	for name, test := range map[string]struct {
		call chains.Call
		want string
	}{
		"short":           {solanaCall(data[:len(data)-1], user, user, fixed), "ends within an argument"},
		"behind":          {solanaCall(append(data, 0), user, user, fixed), "1 bytes follow the arguments"},
		"opaque":          {solanaCall(opaque, user, user, fixed), "argument data is bytes"},
		"a huge list":     {solanaCall(long, user, user, fixed), "ends within an argument"},
		"no such variant": {solanaCall(variant, user, user, fixed), "there is no variant 2"},
		"few accounts":    {solanaCall(data, user, user), "2 accounts are given"},
		"more accounts":   {solanaCall(data, user, user, fixed, user), "account 3 is not named"},
		"another account": {solanaCall(data, user, user, user), "account fixed is not the one"},
		"lookup table":    {solanaCall(data, user, chains.UnknownParty(), fixed), "accounts.pool is in a lookup table"},
		"another program": {chains.Call{Chain: "solana", To: user, Data: data}, ""},
		"another chain":   {chains.Call{Chain: "tron", To: fixed, Data: data}, ""},
		"discriminator":   {solanaCall(data[1:], user, user, fixed), ""},
	} {
		reading, ok := folder.Read(test.call)
		if reading.Complete || ok != (test.want != "") || !strings.Contains(reading.Problem, test.want) {
			t.Errorf("%s: %v, complete %v, %q, want %q", name, ok, reading.Complete, reading.Problem, test.want)
		}
	}
}

// TestIDLRefused has IDLs that are not of Anchor 0.30 or later, or have invalid types.
func TestIDLRefused(t *testing.T) {
	for name, change := range map[string][2]string{
		"an older one":   {`"spec":"0.1.0"`, `"spec":""`},
		"no address":     {`"address":"` + idlProgram + `","meta`, `"address":"1","meta`},
		"a float":        {`"type":"u64"`, `"type":"f64"`},
		"not Borsh":      {`{"name":"Leg",`, `{"name":"Leg","serialization":"bytemuck",`},
		"recursive":      {`"type":"pubkey"`, `"type":{"defined":{"name":"Leg"}}`},
		"undefined":      {`{"name":"Leg",`, `{"name":"Arm",`},
		"no selector":    {`[1,2,3,4,5,6,7,8]`, `[]`},
		"a bad account":  {`"fixed","address":"`, `"fixed","address":"0`},
		"a generic type": {`{"defined":{"name":"Side"}}`, `{"defined":{"name":"Side","generics":[]}}`},
	} {
		if !strings.Contains(idl, change[0]) {
			t.Fatalf("%s: nothing to change", name)
		}
		for _, file := range open(t, descriptors.Options{}, map[string]string{"a.json": strings.Replace(idl, change[0], change[1], 1)}).Files() {
			if file.Readable() {
				t.Errorf("%s is read", name)
			}
		}
	}
}
