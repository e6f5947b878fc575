package solana

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// account is an account that an instruction is given.
type account struct {
	address []byte // 32 bytes; nil if it is an entry of a lookup table that is not known
	table   []byte // address of the lookup table that it is an entry of, if any
	entry   byte   // its index in the table

	writable bool
	signer   bool
	slot     int // of its signature in this transaction; −1 if there is none
}

// accountTable is what a message says of its accounts, and what is known of those from
// lookup tables.
type accountTable struct {
	message

	// fromTables are the accounts from lookup tables, in their order, after WithTables. An
	// account that is not known is nil.
	fromTables [][]byte
}

// accountAt returns the account with an index. Those from lookup tables follow the message's own.
func (t *accountTable) accountAt(index int) account {
	a := account{writable: t.isWritable(index), slot: -1}
	switch {
	case index >= t.keys:
		from, entry := t.resolve(index)
		a.table, a.entry = t.table(from), entry
		if t.fromTables != nil {
			a.address = t.fromTables[index-t.keys]
		}
		return a
	case t.isSigner(index):
		a.signer, a.slot = true, index
	}
	a.address = t.key(index)
	return a
}

func (t *accountTable) accountsOf(in instruction, list []account) []account {
	for _, index := range t.accounts(in) {
		list = append(list, t.accountAt(int(index)))
	}
	return list
}

func (a account) is(address [keySize]byte) bool { return bytes.Equal(a.address, address[:]) }

// party returns the account as a party, unknown if its address is.
func (a account) party() chains.Party {
	if a.address == nil {
		return chains.UnknownParty()
	}
	return party(a.address)
}

// field shows the account and the access that the message grants.
func (a account) field(label string) chains.Field {
	if a.address == nil {
		field := chains.Text(label, a.String())
		return field.WithNote(strings.TrimSuffix("unresolved, "+a.access(), ", "))
	}
	return chains.AddressField(label, a.String()).WithNote(a.access())
}

// String returns the address, or the entry of the table.
func (a account) String() string {
	if a.address == nil {
		return fmt.Sprintf("entry %d of table %s", a.entry, encode58(a.table))
	}
	return encode58(a.address)
}

// access returns "signer, writable", or the part of it that applies.
func (a account) access() string {
	switch {
	case a.signer && a.writable:
		return "signer, writable"
	case a.signer:
		return "signer"
	case a.writable:
		return "writable"
	}
	return ""
}

func party(address []byte) chains.Party { return chains.PartyAt(address, base58Notation) }

var base58Notation = &chains.Notation{Text: encode58}

// partyText returns a party as text for a hazard's detail.
func partyText(p chains.Party) string {
	switch {
	case p.IsNone():
		return "no one"
	case p.IsUnknown():
		return "an address that the transaction does not contain"
	}
	return p.String()
}
