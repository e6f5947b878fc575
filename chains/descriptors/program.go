package descriptors

import (
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// program is a Solana program as an IDL describes it.
type program struct {
	name         string
	instructions []programInstruction
}

type programInstruction struct {
	name     string
	marks    []mark // by which it is known, all of them
	size     int    // of the data; 0: any
	skip     int    // bytes in front of the arguments
	accounts []programAccount
	args     wireType

	left    leftOut
	rest    string // what accounts behind those named are; empty: they are not named
	problem string // why the arguments cannot be read
}

// mark is bytes at a place of the data.
type mark struct {
	at   int
	data string
}

type programAccount struct {
	name     string
	address  string // in binary; empty: any
	optional bool
}

// leftOut is what stands for an optional account that is not given.
type leftOut uint8

const (
	asProgram leftOut = iota // the program's own address
	asNothing                // the accounts behind it move up
)

// known reports whether the data is of the instruction.
func (i *programInstruction) known(data []byte) bool {
	if i.size > 0 && len(data) != i.size {
		return false
	}
	for _, m := range i.marks {
		if m.at > len(data) || !strings.HasPrefix(string(data[m.at:]), m.data) {
			return false
		}
	}
	return true
}

// read implements source.
func (p *program) read(_ *Folder, call chains.Call, _ int) (reading chains.Reading, ok bool) {
	var found *programInstruction
	for i := range p.instructions {
		if !p.instructions[i].known(call.Data) {
			continue
		}
		if found != nil {
			return chains.Reading{Problem: "two instructions of the IDL begin alike"}, true
		}
		found = &p.instructions[i]
	}
	if found == nil {
		return reading, false
	}
	reading = chains.Reading{Owner: p.name, Function: found.name, Problem: found.problem}
	if found.problem != "" {
		return reading, true
	}
	r := &wireReader{data: call.Data[min(found.skip, len(call.Data)):], steps: 4 * maxArgs}
	if err := r.readMembers("", found.args.members); err != nil {
		reading.Problem = "the data does not fit the IDL: " + err.Error()
		return reading, true
	}
	if len(r.data) > 0 {
		r.unread("%d bytes stand behind the arguments", len(r.data))
	}
	found.nameAccounts(r, call)
	reading.Args, reading.Problem, reading.Complete = r.args, r.problem, r.problem == ""
	return reading, true
}

// nameAccounts lists the accounts of an instruction under their names.
func (i *programInstruction) nameAccounts(r *wireReader, call chains.Call) {
	accounts, ok := i.present(len(call.Accounts))
	if !ok {
		r.unread("%d accounts are given, the IDL names %d", len(call.Accounts), len(i.accounts))
	}
	for n, party := range call.Accounts {
		name := fmt.Sprintf("accounts.%d", n)
		switch {
		case n < len(accounts):
			name = "accounts." + accounts[n].name
			if accounts[n].optional && i.left == asProgram && !party.IsUnknown() && party.Is(call.To.Address()) {
				r.add(name, "none")
				continue
			}
			if accounts[n].address != "" && !party.Is([]byte(accounts[n].address)) {
				r.unread("account %s is another than the IDL says", accounts[n].name)
			}
		case i.rest != "":
			name = fmt.Sprintf("accounts.%s.%d", i.rest, n-len(accounts))
		default:
			r.unread("account %d is not named by the IDL", n)
		}
		if party.IsUnknown() {
			r.unread("%s is in a lookup table", name)
		}
		r.add(name, party.String())
	}
}

// present are the accounts that a number of them are: all, or those that cannot be left
// out. Which of several is missing, the number does not tell.
func (i *programInstruction) present(given int) (accounts []programAccount, ok bool) {
	if given >= len(i.accounts) || i.left != asNothing {
		return i.accounts, given >= len(i.accounts)
	}
	for _, account := range i.accounts {
		if !account.optional {
			accounts = append(accounts, account)
		}
	}
	if given != len(accounts) {
		return i.accounts, false
	}
	return accounts, true
}
