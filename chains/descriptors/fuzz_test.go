package descriptors_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
)

// FuzzRead reads calls by pinned files of every kind: it must not panic, and a complete
// reading must have no problem.
func FuzzRead(f *testing.F) {
	f.Add([]byte(alone), deposit("eip155:1").Data)
	f.Add([]byte(idl), swapData(f))
	f.Add([]byte(listedTable(entries(1, 2))), []byte{})
	f.Add([]byte(tableAccount(entries(1, 2))), []byte{})
	f.Add([]byte(codamaIDL), codamaCall(f, numbersData).Data)
	f.Add([]byte(codamaIDL), codamaCall(f, "04 01000000"+zeroKey+"07 0a00000000000000 01 fffe 0100 0200 01 05000000 01 01 78 01 03 01 04 09 0800"+zeroKey+"0100 0500 0600").Data)
	f.Add([]byte(`{"texts":[{"domain":"shop.example","text":"Log in to the shop with {nonce}, {number} of {number}"}]}`), []byte("Log in to the shop with abcd, 1 of 2"))
	f.Add([]byte(`{"chain":"eip155:1","address":"`+vault+`","abi":[{"type":"function","name":"f","inputs":[{"name":"a","type":"tuple[]","components":[{"name":"b","type":"bytes"}]}]}]}`), []byte{1, 2, 3, 4})
	f.Add([]byte(contract(`,"metadata":{"enums":{"e":{"1":"one"}}},"display":{"formats":{"f(bytes[] a,uint8 b)":{"interpolatedIntent":"{b}","fields":[{"path":"a.[]","label":"x","format":"calldata","params":{"calleePath":"@.to"}},{"path":"b","label":"y","format":"enum","params":{"$ref":"$.metadata.enums.e"}}]}}}`)), []byte{})
	f.Fuzz(func(t *testing.T, file, data []byte) {
		files := fstest.MapFS{"a.json": {Data: file}}
		opened, err := descriptors.Open(files, descriptors.Options{})
		if err != nil {
			return
		}
		pins := &descriptors.Pins{}
		for _, file := range opened.Files() {
			pins.Add(file)
		}
		if opened, err = descriptors.Open(files, descriptors.Options{Pins: pins}); err != nil {
			t.Fatal(err)
		}
		for _, file := range opened.Files() {
			address := bytes.TrimPrefix([]byte(strings.Join(file.Targets, "")), []byte("solana:"))
			if table, ok := opened.LookupTable(base58.Decode(string(address))); ok {
				checkLookupTable(t, table)
			}
		}
		call := deposit("eip155:1")
		call.Data = data
		everything := solanaCall(data, call.To)
		everything.To = codamaCall(t, "").To
		for _, call := range []chains.Call{call, solanaCall(data, call.To), everything, {Path: "message", Text: string(data)}} {
			reading, ok := opened.Read(call)
			if reading.Complete && (!ok || reading.Problem != "" || reading.Trust != "pinned") {
				t.Errorf("%v %+v", ok, reading)
			}
			if err := chains.Render(&bytes.Buffer{}, chains.Readings{reading}.Show()); err != nil {
				t.Error(err)
			}
			chains.Readings{reading}.Digest()
		}
	})
}

// checkLookupTable checks that addresses have 32 bytes, and that a table with a problem has
// none.
func checkLookupTable(t *testing.T, table chains.LookupTable) {
	t.Helper()
	if len(table.Addresses) > 256 || (table.Problem == "") != (table.Trust == "pinned") || table.Problem != "" && table.Addresses != nil {
		t.Errorf("%+v", table)
	}
	for _, address := range table.Addresses {
		if len(address) != 32 {
			t.Errorf("an address of %d bytes", len(address))
		}
	}
}

// FuzzTree checks that the canonical form of JSON parses to the same value.
func FuzzTree(f *testing.F) {
	f.Add([]byte(`{"b":[1,true,null,"\u20ac\u0001"],"a":{}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		once, err := descriptors.ParseTree(file)
		if err != nil {
			return
		}
		twice, err := descriptors.ParseTree(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%q is %q, and then %q: %v", file, once, twice, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	files := map[string]string{"base.json": base, "vault.json": including}
	folder := open(b, descriptors.Options{Pins: pin(b, files)}, files)
	call := deposit("eip155:1")
	for b.Loop() {
		folder.Read(call)
	}
}

// BenchmarkOpen reads the whole registry.
func BenchmarkOpen(b *testing.B) {
	folder := registry(b)
	for b.Loop() {
		if _, err := descriptors.Open(folder, descriptors.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
