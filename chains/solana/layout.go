package solana

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// program is what is known of a program: how the data of its instructions
// begins, and the layout of each.
type program struct {
	name    string
	tagSize int // bytes of the instruction's number: 1, or 4 little-endian
	layouts map[uint32]layout

	// decode reads instructions that no table describes, if it is not nil.
	decode func(p program, t *Transaction, accounts []byte, c *cursor) (decoded, error)
}

// layout is the fixed layout of one instruction.
type layout struct {
	name string

	// accounts names them in order, separated by ", ". A name that begins with
	// ? may be missing; one that ends with * stands for any number.
	accounts string

	arguments []argument

	// nested has the instructions of an extension: one more byte tells which.
	nested map[uint32]layout
}

// argument reads one argument from the data and shows it.
type argument func(c *cursor) ([]chains.Field, error)

// decoded is what an instruction turned out to be.
type decoded struct {
	operation string
	arguments []chains.Field
	accounts  []chains.Field
}

// decodeLayout reads an instruction by the program's table.
func (p program) decodeLayout(t *Transaction, accounts []byte, c *cursor) (decoded, error) {
	found, err := p.find(c)
	if err != nil {
		return decoded{}, err
	}
	result := decoded{operation: found.name}
	for _, read := range found.arguments {
		fields, err := read(c)
		if err != nil {
			return decoded{}, err
		}
		result.arguments = append(result.arguments, fields...)
	}
	if c.at < len(c.raw) {
		result.arguments = append(result.arguments,
			chains.Bytes("trailing data", c.raw[c.at:]).WithNote("not part of the instruction; most programs ignore it"))
	}
	result.accounts, err = t.roles(found, accounts)
	return result, err
}

// find reads the instruction's number and returns its layout.
func (p program) find(c *cursor) (layout, error) {
	tag, err := readTag(c, p.tagSize)
	if err != nil {
		return layout{}, err
	}
	found, ok := p.layouts[tag]
	if !ok {
		return layout{}, fmt.Errorf("instruction %d of the %s program is not known", tag, p.name)
	}
	if found.nested == nil {
		return found, nil
	}
	sub, err := readTag(c, 1)
	if err != nil {
		return layout{}, err
	}
	inner, ok := found.nested[sub]
	if !ok {
		return layout{}, fmt.Errorf("instruction %d of %s is not known", sub, found.name)
	}
	return inner, nil
}

func readTag(c *cursor, size int) (uint32, error) {
	if size == 4 {
		return c.uint32("instruction number")
	}
	tag, err := c.uint8("instruction number")
	return uint32(tag), err
}

// roles names the accounts of an instruction by its layout.
func (t *Transaction) roles(l layout, accounts []byte) ([]chains.Field, error) {
	var fields []chains.Field
	for _, role := range l.roles() {
		name := strings.Trim(role, "?*")
		if strings.HasSuffix(role, "*") {
			for i, account := range accounts {
				fields = append(fields, t.accountField(fmt.Sprintf("%s %d", name, i), int(account)))
			}
			return fields, nil
		}
		if len(accounts) == 0 {
			if strings.HasPrefix(role, "?") {
				return fields, nil
			}
			return nil, fmt.Errorf("%s needs an account %q, and there are only %d", l.name, name, len(fields))
		}
		fields = append(fields, t.accountField(name, int(accounts[0])))
		accounts = accounts[1:]
	}
	for i, account := range accounts {
		fields = append(fields, t.accountField(fmt.Sprintf("further account %d", i), int(account)))
	}
	return fields, nil
}

func (l layout) roles() []string {
	if l.accounts == "" {
		return nil
	}
	return strings.Split(l.accounts, ", ")
}

// accountField shows the account with an index and what the message asks for it.
func (t *Transaction) accountField(label string, account int) chains.Field {
	if account >= t.keys {
		from, index := t.resolve(account)
		field := chains.Text(label, fmt.Sprintf("entry %d of table %s", index, encode58(t.table(from))))
		return field.WithNote(strings.TrimSuffix("unresolved, "+t.access(account), ", "))
	}
	return chains.AddressField(label, encode58(t.key(account))).WithNote(t.access(account))
}

// access returns "signer, writable", or what of it applies.
func (t *Transaction) access(account int) string {
	switch {
	case t.isSigner(account) && t.isWritable(account):
		return "signer, writable"
	case t.isSigner(account):
		return "signer"
	case t.isWritable(account):
		return "writable"
	}
	return ""
}
