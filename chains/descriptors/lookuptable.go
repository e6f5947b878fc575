package descriptors

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
)

// lookupTable is the content of a Solana address lookup table at the time when the file was
// written. It reads no calls.
type lookupTable struct {
	noCalls
	addresses [][]byte
}

// The program of lookup tables, and the layout of their accounts: 56 bytes that begin with
// a u32 (1 for a table, 0 if it is not initialized), then addresses of 32 bytes each
// (agave, state.rs of the address-lookup-table interface).
const (
	lookupTableProgram = "AddressLookupTab1e1111111111111111111111111"
	lookupTableMeta    = 56
	maxTableAddresses  = 256
)

// listedTable is what `solana address-lookup-table get --output json` prints.
type listedTable struct {
	Address          string   `json:"lookupTableAddress"`
	Authority        *string  `json:"authority"`
	DeactivationSlot *int64   `json:"deactivationSlot"`
	LastExtendedSlot int64    `json:"lastExtendedSlot"`
	Addresses        []string `json:"addresses"`
}

// newListedTable reads a table in the form of Solana's command.
func newListedTable(root object) (source, []target, error) {
	var form listedTable
	if err := into(root, &form); err != nil {
		return nil, nil, err
	}
	tableAddress, err := solanaAddress(form.Address)
	if err != nil {
		return nil, nil, fmt.Errorf("lookupTableAddress: %w", err)
	}
	table := &lookupTable{}
	for i, text := range form.Addresses {
		address, err := solanaAddress(text)
		if err != nil {
			return nil, nil, fmt.Errorf("addresses[%d]: %w", i, err)
		}
		table.addresses = append(table.addresses, address)
	}
	return table.at(tableAddress)
}

// accountFile is what `solana account --output json` prints.
type accountFile struct {
	Address string `json:"pubkey"`
	Account struct {
		Lamports   int64    `json:"lamports"`
		Data       []string `json:"data"` // and its encoding
		Owner      string   `json:"owner"`
		Executable bool     `json:"executable"`
		RentEpoch  *int64   `json:"rentEpoch"`
		Space      int64    `json:"space"`
	} `json:"account"`
}

// newTableAccount reads the account of a table in the form of Solana's command.
func newTableAccount(root object) (source, []target, error) {
	var form accountFile
	if err := into(root, &form); err != nil {
		return nil, nil, err
	}
	address, err := solanaAddress(form.Address)
	switch data := form.Account.Data; {
	case err != nil:
		return nil, nil, fmt.Errorf("pubkey: %w", err)
	case form.Account.Owner != lookupTableProgram:
		return nil, nil, fmt.Errorf("account.owner: must be %s, the program of lookup tables", lookupTableProgram)
	case len(data) != 2 || data[1] != "base64":
		return nil, nil, errors.New(`account.data: must be base64, and "base64"`)
	}
	data, err := base64.StdEncoding.DecodeString(form.Account.Data[0])
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("account.data: %w", err)
	case base64.StdEncoding.EncodeToString(data) != form.Account.Data[0]:
		return nil, nil, errors.New("account.data: base64 is not in its canonical form")
	case len(data) < lookupTableMeta || !bytes.Equal(data[:4], []byte{1, 0, 0, 0}):
		return nil, nil, errors.New("account.data: a lookup table begins with 01000000 and has at least 56 bytes")
	}
	list := data[lookupTableMeta:]
	if len(list)%32 != 0 {
		return nil, nil, fmt.Errorf("account.data: %d bytes after the first %d: must be addresses of 32 bytes each",
			len(list), lookupTableMeta)
	}
	return (&lookupTable{addresses: slices.Collect(slices.Chunk(list, 32))}).at(address)
}

func (l *lookupTable) at(address []byte) (source, []target, error) {
	if len(l.addresses) > maxTableAddresses {
		return nil, nil, fmt.Errorf("%d addresses, of at most %d", len(l.addresses), maxTableAddresses)
	}
	return l, []target{{solanaChain, string(address)}}, nil
}

// solanaAddress decodes base58 of 32 bytes.
func solanaAddress(text string) ([]byte, error) {
	address := base58.Decode(text[:min(len(text), 64)])
	if len(address) != 32 || base58.Encode(address) != text {
		return nil, fmt.Errorf("%.64q: must be base58 of 32 bytes", text)
	}
	return address, nil
}

// LookupTable implements chains.Reader. Of several files of a table, it uses the one
// with the most addresses: addresses are only ever appended, so the others are older.
// Files that contradict each other are not used.
func (f *Folder) LookupTable(address []byte) (lookup chains.LookupTable, ok bool) {
	for _, file := range f.byTarget[target{solanaChain, string(address)}] {
		table, isTable := file.source.(*lookupTable)
		if !isTable {
			continue
		}
		shorter := min(len(lookup.Addresses), len(table.addresses))
		switch {
		case file.Problem != "":
			if !ok {
				lookup, ok = chains.LookupTable{Source: file.Name, Problem: file.Problem}, true
			}
			continue
		case lookup.Trust == "": // the first trusted file
		case !slices.EqualFunc(lookup.Addresses[:shorter], table.addresses[:shorter], bytes.Equal):
			return chains.LookupTable{Source: lookup.Source + ", " + file.Name,
				Problem: "two trusted files of this table contradict each other: unpin one"}, true
		case len(table.addresses) <= len(lookup.Addresses):
			continue
		}
		lookup = chains.LookupTable{Source: file.Name, Digest: hex.EncodeToString(file.Digest[:]), Trust: file.Trust,
			Addresses: table.addresses}
		ok = true
	}
	return lookup, ok
}
