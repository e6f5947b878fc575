package solana

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
)

// reading is one instruction while it is decoded: first its data and accounts
// by the program's table, then its effects from both.
type reading struct {
	cursor // over the data

	path    string // where the instruction stands, for effects
	shown   bool   // whether fields are wanted: a summary, rather than hazards alone
	depth   int    // how many calls it is nested in
	nested  bool   // whether it is stored by this transaction, for others to execute
	given   []account
	layout  *layout
	program *program

	operation string
	arguments []chains.Field
	accounts  []chains.Field

	values  []value // arguments by name, for effects
	roles   []role  // accounts by name
	further []account
	inner   []*instructionReading // the instructions of a batch, or that are stored
}

// role is an account with the name that the layout gives to its place.
type role struct {
	name string
	account
}

// value is an argument that effects use: a number, or an address.
type value struct {
	label  string
	number uint64
	name   string // what the number stands for, if it stands for something
	key    []byte // nil if it is a number, or none
	none   bool   // an optional argument that is not there
}

// show adds an argument's field, if fields are wanted.
func (r *reading) show(field func() chains.Field) {
	if r.shown {
		r.arguments = append(r.arguments, field())
	}
}

func (r *reading) set(v value) { r.values = append(r.values, v) }

// number returns a numeric argument. ok is false if it is not there.
func (r *reading) number(label string) (number uint64, ok bool) {
	for _, v := range r.values {
		if v.label == label {
			return v.number, !v.none
		}
	}
	return 0, false
}

// at returns the account in a role. ok is false if it is not given.
func (r *reading) at(name string) (account, bool) {
	for _, role := range r.roles {
		if role.name == name {
			return role.account, true
		}
	}
	return account{}, false
}

// fields shows the instruction: what it does, its arguments, its accounts.
func (r *reading) fields() []chains.Field {
	fields := []chains.Field{chains.Text("operation", r.operation)}
	fields = append(fields, r.arguments...)
	return append(fields, r.accounts...)
}

// decode reads an instruction of a program that has tables.
func (r *reading) decode() error {
	if r.program.decode != nil {
		return r.program.decode(r)
	}
	return r.decodeLayout()
}

// decodeLayout reads an instruction by the program's table.
func (r *reading) decodeLayout() error {
	found, err := r.program.find(&r.cursor)
	if err != nil {
		return err
	}
	return r.decodeAs(found)
}

// decodeAs reads an instruction whose layout is known, behind its number.
func (r *reading) decodeAs(found *layout) error {
	r.layout, r.operation = found, found.name
	for _, read := range found.arguments {
		if err := read(r); err != nil {
			return err
		}
	}
	if rest := r.raw[r.cursor.at:]; len(rest) > 0 {
		r.show(func() chains.Field {
			return chains.Bytes("trailing data", rest).WithNote("not part of the instruction; most programs ignore it")
		})
	}
	return r.nameAccounts()
}

// nameAccounts gives the accounts the names that the layout has for them.
func (r *reading) nameAccounts() error {
	rest := r.given
	for _, place := range r.layout.places {
		var err error
		if rest, err = r.place(place, rest); err != nil {
			return err
		}
	}
	if err := r.checkAuthority(); err != nil {
		return err
	}
	r.further = append(r.further, rest...)
	if r.shown {
		for i, extra := range rest {
			r.accounts = append(r.accounts, extra.field(r.furtherName(i, extra)))
		}
	}
	return nil
}

// furtherName names an account behind those of the layout. Programs that take
// any signer as the authority take it from there too.
func (r *reading) furtherName(i int, extra account) string {
	if r.layout.anySigner && extra.signer {
		return "authority too"
	}
	return fmt.Sprintf("further account %d", i)
}

// place names the accounts of one place and returns those behind them.
func (r *reading) place(p place, rest []account) ([]account, error) {
	switch {
	case p.many:
		for i, given := range rest {
			r.nameMany(p, i, given)
		}
		return nil, nil
	case p.branch:
		return r.placeBranch(p, rest)
	case len(rest) == 0 && p.optional:
		return rest, nil
	case len(rest) == 0:
		return nil, fmt.Errorf("%s needs an account %q, and there are only %d", r.layout.name, p.name, len(r.given))
	}
	return rest[1:], r.name(p.name, rest[0])
}

// placeBranch reads accounts that may be left out as a whole. As the program
// does, it tells by the first one's address whether they are there.
func (r *reading) placeBranch(p place, rest []account) ([]account, error) {
	if len(rest) == 0 {
		return rest, nil
	}
	if rest[0].address == nil {
		return nil, fmt.Errorf("whether %s is the %s decides what the accounts behind it are, and it is not in the transaction", rest[0], p.name)
	}
	if !rest[0].is(fixedAddresses[p.name][0]) {
		return rest, nil
	}
	for _, name := range append([]string{p.name}, p.with...) {
		if len(rest) == 0 {
			return nil, fmt.Errorf("%s needs an account %q, and there are only %d", r.layout.name, name, len(r.given))
		}
		if err := r.name(name, rest[0]); err != nil {
			return nil, err
		}
		rest = rest[1:]
	}
	return rest, nil
}

// name gives an account a name. One that stands for a fixed address is given
// only to that address.
func (r *reading) name(name string, given account) error {
	if fixed, ok := fixedAddresses[name]; ok && !given.isOneOf(fixed) {
		if given.address != nil {
			return fmt.Errorf("%s is not the %s", given, name)
		}
		if name == tokenProgramRole {
			return fmt.Errorf("the %s is not in the transaction: it is %s", name, given)
		}
	}
	r.roles = append(r.roles, role{name, given})
	if r.shown {
		r.accounts = append(r.accounts, given.field(name))
	}
	return nil
}

// nameMany names one of any number of accounts: a signer is called one only if
// it signs.
func (r *reading) nameMany(p place, i int, given account) {
	name := p.name
	if p.name == "signer" && !given.signer {
		name = "further account"
		r.further = append(r.further, given)
	} else {
		r.roles = append(r.roles, role{p.name, given})
	}
	if r.shown {
		r.accounts = append(r.accounts, given.field(fmt.Sprintf("%s %d", name, i)))
	}
}

// checkAuthority refuses an instruction of a program that takes any signer as the
// authority, if the account in the authority's place does not sign: then another
// one is the authority, and the name would mislead.
func (r *reading) checkAuthority() error {
	if !r.layout.anySigner {
		return nil
	}
	for _, place := range r.layout.places {
		if !place.authority {
			continue
		}
		if given, ok := r.at(place.name); ok && !given.signer {
			return fmt.Errorf("%s, in the place of the %s, does not sign: any other signer is the authority", given, place.name)
		}
	}
	return nil
}

func (a account) isOneOf(addresses [][keySize]byte) bool {
	for _, address := range addresses {
		if a.is(address) {
			return true
		}
	}
	return false
}
