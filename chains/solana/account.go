package solana

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// account is what an instruction is given at one of its places.
type account struct {
	address []byte // 32 bytes; nil if it is an entry of a lookup table that is not known
	table   []byte // the lookup table that it is an entry of, if any
	entry   byte   // the index in it

	writable bool
	signer   bool
	slot     int // of its signature in this transaction; −1 if it signs nothing here
}

// accountAt returns the account with an index: the message's own come first,
// those from lookup tables follow them.
func (t *Transaction) accountAt(index int) account {
	a := account{writable: t.isWritable(index), slot: -1}
	switch {
	case index >= t.keys:
		from, entry := t.resolve(index)
		a.table, a.entry = t.table(from), entry
		if t.known != nil {
			a.address = t.known[index-t.keys]
		}
		return a
	case t.isSigner(index):
		a.signer, a.slot = true, index
	}
	a.address = t.key(index)
	return a
}

// accountsOf returns what an instruction is given, appended to into.
func (t *Transaction) accountsOf(in instruction, into []account) []account {
	for _, index := range t.accounts(in) {
		into = append(into, t.accountAt(int(index)))
	}
	return into
}

// is reports whether it is known to be at an address.
func (a account) is(address [keySize]byte) bool { return string(a.address) == string(address[:]) }

// field shows the account and what the message asks for it.
func (a account) field(label string) chains.Field {
	if a.address == nil {
		field := chains.Text(label, a.String())
		return field.WithNote(strings.TrimSuffix("unresolved, "+a.access(), ", "))
	}
	return chains.AddressField(label, a.String()).WithNote(a.access())
}

// String returns the address, or which entry of which table it is.
func (a account) String() string {
	if a.address == nil {
		return fmt.Sprintf("entry %d of table %s", a.entry, encode58(a.table))
	}
	return encode58(a.address)
}

// access returns "signer, writable", or what of it applies.
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

// accountField shows the account with an index.
func (t *Transaction) accountField(label string, index int) chains.Field {
	return t.accountAt(index).field(label)
}
