package solana

import (
	"fmt"
	"slices"
)

// nameAccounts gives the instruction's accounts the names of their places.
func (r *reader) nameAccounts() {
	rest := r.given
	for _, slot := range r.layout.slots {
		if rest = r.fillSlot(slot, rest); r.err != nil {
			return
		}
	}
	// If the account in the authority's place does not sign, another one is the authority of a
	// program that takes any signer, and the name would mislead.
	for _, name := range r.layout.authorities {
		if given, ok := r.role(name); ok && !given.signer && r.layout.anySigner {
			r.fail(fmt.Errorf("%s, in the place of the %s, does not sign: any other signer is the authority", given,
				name))
		}
	}
	for i, extra := range rest {
		r.further = append(r.further, extra)
		if r.layout.anySigner && extra.signer {
			r.showAccount("authority too", extra)
		} else {
			r.showNumbered("further account", i, extra)
		}
	}
}

func (r *reader) fillSlot(p accountSlot, rest []account) []account {
	switch {
	case p.many:
		for i, given := range rest {
			if p.name == "signer" && !given.signer { // only an account that signs is called a signer
				r.further = append(r.further, given)
				r.showNumbered("further account", i, given)
				continue
			}
			r.roles = append(r.roles, role{p.name, given, p.checked, p.authority})
			r.showNumbered(p.name, i, given)
		}
		return nil
	case p.branch:
		return r.fillBranch(p, rest)
	case len(rest) == 0 && p.optional:
		return rest
	}
	return r.nameFirst(p, rest)
}

// fillBranch reads accounts that may be left out together. Like the program, it
// decides by the first one's address whether they are given.
func (r *reader) fillBranch(p accountSlot, rest []account) []account {
	switch {
	case len(rest) == 0:
		return rest
	case rest[0].address == nil:
		r.fail(fmt.Errorf("whether %s is the %s decides what the accounts behind it are, "+
			"and it is not in the transaction", rest[0], p.name))
		return nil
	case !rest[0].is(p.fixed[0]):
		return rest
	}
	rest = r.nameFirst(p, rest)
	for _, next := range p.with {
		rest = r.nameFirst(accountSlot{name: next, fixed: fixedAddresses[next], checked: true}, rest)
	}
	return rest
}

// nameFirst names the first of the accounts and returns the others. A name that
// stands for a fixed address is given to no other known account.
func (r *reader) nameFirst(p accountSlot, rest []account) []account {
	if len(rest) == 0 {
		r.fail(fmt.Errorf("%s needs an account %q, and there are only %d", r.layout.name, p.name, len(r.given)))
		return nil
	}
	given := rest[0]
	if len(p.fixed) > 0 && !slices.ContainsFunc(p.fixed, given.is) {
		switch {
		case given.address != nil:
			r.fail(fmt.Errorf("%s is not the %s", given, p.name))
		case p.name == tokenProgramRole:
			r.fail(fmt.Errorf("the %s is not in the transaction: it is %s", p.name, given))
		}
	}
	r.roles = append(r.roles, role{p.name, given, p.checked, p.authority})
	r.showAccount(p.name, given)
	return rest[1:]
}

func (r *reader) showAccount(label string, given account) {
	if r.shown {
		r.accountFields = append(r.accountFields, given.field(label))
	}
}

func (r *reader) showNumbered(label string, i int, given account) {
	if r.shown {
		r.accountFields = append(r.accountFields, given.field(fmt.Sprintf("%s %d", label, i)))
	}
}

const leftOut = "left out"

func (r *reader) role(name string) (account, bool) {
	for i := range r.roles {
		if r.roles[i].name == name {
			return r.roles[i].account, true
		}
	}
	return account{}, false
}
