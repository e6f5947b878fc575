package descriptors_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
)

var tableAddress = bytes.Repeat([]byte{9}, 32)

// entries returns addresses that consist of 32 times a number.
func entries(numbers ...byte) (list [][]byte) {
	for _, number := range numbers {
		list = append(list, bytes.Repeat([]byte{number}, 32))
	}
	return list
}

// listedTable returns a table in the form of `solana address-lookup-table get --output json`.
func listedTable(list [][]byte) string {
	texts := make([]string, len(list))
	for i, address := range list {
		texts[i] = `"` + base58.Encode(address) + `"`
	}
	return fmt.Sprintf(`{"lookupTableAddress":%q,"authority":"9RAufBfjGQjDfrwxeyKmZWPADHSb8HcoqCdrmpqvCr1g","deactivationSlot":18446744073709551615,"lastExtendedSlot":345678901,"addresses":[%s]}`,
		base58.Encode(tableAddress), strings.Join(texts, ","))
}

// tableAccount returns its account in the form of `solana account --output json`.
func tableAccount(list [][]byte) string {
	meta := append([]byte{1, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 8)...)
	data := append(append(meta, make([]byte, 56-len(meta))...), bytes.Join(list, nil)...)
	return fmt.Sprintf(`{"pubkey":%q,"account":{"lamports":3118080,"data":[%q,"base64"],"owner":"AddressLookupTab1e1111111111111111111111111","executable":false,"rentEpoch":18446744073709551615,"space":%d}}`,
		base58.Encode(tableAddress), base64.StdEncoding.EncodeToString(data), len(data))
}

// TestLookupTable: both forms of a table have all of its addresses.
func TestLookupTable(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, list := range [][][]byte{nil, entries(1), entries(2, 2, 3), entries(all...)} {
		for form, file := range map[string]string{"listed": listedTable(list), "account": tableAccount(list)} {
			files := map[string]string{"table.json": file}
			table, ok := open(t, descriptors.Options{Pins: pin(t, files)}, files).LookupTable(tableAddress)
			if !ok || table.Problem != "" || table.Trust != "pinned" || table.Source != "table.json" || len(table.Digest) != 64 {
				t.Errorf("%s of %d: %v %+v", form, len(list), ok, table)
			}
			if !slices.EqualFunc(table.Addresses, list, bytes.Equal) {
				t.Errorf("%s: %d addresses are %x", form, len(list), table.Addresses)
			}
		}
	}
}

// TestLookupTableIsPinned: a table is not taken from a file that is not pinned, not even
// if an earlier content was, nor from another table's file.
func TestLookupTableIsPinned(t *testing.T) {
	files := map[string]string{"table.json": listedTable(entries(1))}
	pins := pin(t, files)
	for name, folder := range map[string]*descriptors.Folder{
		"not pinned": open(t, descriptors.Options{}, files),
		"changed":    open(t, descriptors.Options{Pins: pins}, map[string]string{"table.json": listedTable(entries(2))}),
		"grown":      open(t, descriptors.Options{Pins: pins}, map[string]string{"table.json": listedTable(entries(1, 2))}),
	} {
		table, ok := folder.LookupTable(tableAddress)
		problem := "not trusted: pin it"
		if name == "changed" || name == "grown" {
			problem = "not trusted: it, or a file that it includes, has changed since it was pinned: read it before you pin it"
		}
		if !ok || table.Addresses != nil || table.Problem != problem || table.Source != "table.json" {
			t.Errorf("%s: %v %+v", name, ok, table)
		}
	}
	if table, ok := open(t, descriptors.Options{Pins: pins}, files).LookupTable(bytes.Repeat([]byte{8}, 32)); ok {
		t.Errorf("of another address: %+v", table)
	}
}

// TestLookupTableGrows: of two files the longer one is used, whatever their names. Files
// that contradict each other are not used, and one that is not trusted is ignored.
func TestLookupTableGrows(t *testing.T) {
	short, long, other := listedTable(entries(1, 2)), tableAccount(entries(1, 2, 3)), listedTable(entries(1, 4))
	for name, test := range map[string]struct {
		pinned, more map[string]string
		want         [][]byte
		problem      string
	}{
		"longer last":         {map[string]string{"a.json": short, "b.json": long}, nil, entries(1, 2, 3), ""},
		"longer first":        {map[string]string{"a.json": long, "b.json": short}, nil, entries(1, 2, 3), ""},
		"equal":               {map[string]string{"a.json": short, "b.json": short}, nil, entries(1, 2), ""},
		"empty and short":     {map[string]string{"a.json": listedTable(nil), "b.json": short}, nil, entries(1, 2), ""},
		"contradiction":       {map[string]string{"a.json": short, "b.json": other}, nil, nil, "contradict"},
		"third contradicts":   {map[string]string{"a.json": short, "b.json": long, "c.json": other}, nil, nil, "contradict"},
		"untrusted is longer": {map[string]string{"b.json": short}, map[string]string{"a.json": long, "c.json": other}, entries(1, 2), ""},
	} {
		files := map[string]string{}
		for _, part := range []map[string]string{test.pinned, test.more} {
			maps.Copy(files, part)
		}
		table, ok := open(t, descriptors.Options{Pins: pin(t, test.pinned)}, files).LookupTable(tableAddress)
		if !ok || !slices.EqualFunc(table.Addresses, test.want, bytes.Equal) || (table.Problem == "") != (test.problem == "") || !strings.Contains(table.Problem, test.problem) {
			t.Errorf("%s: %v %+v", name, ok, table)
		}
	}
}

// TestLookupTableRefused has files that are not exactly a table.
func TestLookupTableRefused(t *testing.T) {
	listed, account := listedTable(entries(1, 2)), tableAccount(entries(1, 2))
	changed := func(text, from, to string) string {
		if !strings.Contains(text, from) {
			t.Fatalf("%q is not in %s", from, text)
		}
		return strings.Replace(text, from, to, 1)
	}
	data := func(raw []byte) string {
		before, rest, _ := strings.Cut(account, `"data":["`)
		_, after, _ := strings.Cut(rest, `"`)
		return before + `"data":["` + base64.StdEncoding.EncodeToString(raw) + `"` + after
	}
	one := base58.Encode(entries(1)[0])
	for name, test := range map[string]struct{ file, problem string }{
		"unknown member":        {changed(listed, `"authority"`, `"frozen":true,"authority"`), `unknown member "/frozen"`},
		"another case":          {changed(listed, `"addresses"`, `"Addresses"`), "unknown member"},
		"an address twice":      {changed(listed, `"addresses"`, `"addresses":[],"addresses"`), "appears twice"},
		"a short address":       {changed(listed, one, one[:40]), "addresses[0]"},
		"a leading one":         {changed(listed, one, "1"+one), "addresses[0]"},
		"not base58":            {changed(listed, one, "0"+one[1:]), "addresses[0]"},
		"its own address":       {changed(listed, base58.Encode(tableAddress), "x"), "lookupTableAddress"},
		"a slot of 2^64":        {changed(listed, "18446744073709551615", "18446744073709551616"), "an integer of at most 2^53"},
		"257 addresses":         {listedTable(slices.Repeat(entries(1), 257)), "of at most 256"},
		"257 in the account":    {tableAccount(slices.Repeat(entries(1), 257)), "of at most 256"},
		"another owner":         {changed(account, "AddressLookupTab1e1111111111111111111111111", "11111111111111111111111111111111"), "account.owner"},
		"a third element":       {changed(account, `"base64"]`, `"base64","base64"]`), "account.data"},
		"another encoding":      {changed(account, `"base64"`, `"base64+zstd"`), "account.data"},
		"the account's address": {changed(account, base58.Encode(tableAddress), "x"), "pubkey"},
		"not initialized":       {data(make([]byte, 88)), "begins with 01000000"},
		"cut":                   {data(append([]byte{1}, make([]byte, 54)...)), "at least 56"},
		"a half address":        {data(append([]byte{1}, make([]byte, 55+16)...)), "32 bytes each"},
		"a line in base64":      {changed(account, `","base64"`, `\n","base64"`), "account.data"},
		"another account":       {changed(account, `"space"`, `"rent":1,"space"`), "unknown member"},
	} {
		files := map[string]string{"table.json": test.file}
		folder := open(t, descriptors.Options{}, files)
		if _, ok := folder.LookupTable(tableAddress); ok && !strings.Contains(name, "its own") {
			t.Errorf("%s: there is a table", name)
		}
		if list := folder.Files(); len(list) != 1 || list[0].Readable() || !strings.Contains(list[0].Problem, test.problem) {
			t.Errorf("%s: %+v", name, list[0])
		}
	}
}

// TestLookupTableReadsNoCalls: a call of the address of a table is not read.
func TestLookupTableReadsNoCalls(t *testing.T) {
	files := map[string]string{"table.json": listedTable(entries(1))}
	folder := open(t, descriptors.Options{Pins: pin(t, files)}, files)
	call := solanaCall([]byte{1, 2, 3, 4})
	call.To = chains.PartyWritten(tableAddress, base58.Encode(tableAddress))
	if reading, ok := folder.Read(call); ok {
		t.Errorf("%+v", reading)
	}
}
