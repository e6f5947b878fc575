package descriptors

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
)

// program is a Solana program as an IDL describes it.
type program struct {
	name         string
	instructions []programInstruction
}

type programInstruction struct {
	name           string
	discriminators []discriminator // all of them identify the instruction
	size           int             // of the data; 0 if it varies
	skip           int             // bytes before the arguments
	accounts       []programAccount
	args           wireType

	absent  absentAccount
	rest    string // name of the remaining accounts; empty if there must be none
	problem string // why the arguments cannot be read
}

// discriminator is a constant at an offset in an instruction's data.
type discriminator struct {
	offset int
	data   string
}

type programAccount struct {
	name     string
	address  string // in binary; empty if any account may be given
	optional bool
}

// absentAccount is how an optional account is left out.
type absentAccount uint8

const (
	isProgram absentAccount = iota // the program's own address stands for it
	movesUp                        // the accounts after it move up
)

func (i *programInstruction) matches(data []byte) bool {
	differs := func(d discriminator) bool {
		return d.offset > len(data) || !strings.HasPrefix(string(data[d.offset:]), d.data)
	}
	return (i.size == 0 || len(data) == i.size) && !slices.ContainsFunc(i.discriminators, differs)
}

func (p *program) read(_ *Folder, call chains.Call, _ int) (reading chains.Reading, ok bool) {
	var instruction *programInstruction
	for i := range p.instructions {
		if !p.instructions[i].matches(call.Data) {
			continue
		}
		if instruction != nil {
			return chains.Reading{Problem: "two instructions of the IDL match the data"}, true
		}
		instruction = &p.instructions[i]
	}
	if instruction == nil {
		return reading, false
	}
	reading = chains.Reading{Owner: p.name, Function: instruction.name, Problem: instruction.problem}
	if instruction.problem != "" {
		return reading, true
	}
	r := &wireReader{data: call.Data[min(instruction.skip, len(call.Data)):], steps: 4 * maxArgs}
	if r.readMembers("", instruction.args.members); r.err != nil {
		reading.Problem = "the data does not fit the IDL: " + r.err.Error()
		return reading, true
	}
	if len(r.data) > 0 {
		r.unread("%d bytes follow the arguments", len(r.data))
	}
	instruction.nameAccounts(r, call)
	reading.Args, reading.Problem, reading.Complete = r.args, r.problem, r.problem == ""
	return reading, true
}

// nameAccounts lists the accounts of an instruction under their names.
func (i *programInstruction) nameAccounts(r *wireReader, call chains.Call) {
	accounts, ok := i.present(len(call.Accounts))
	if !ok {
		r.unread("%d accounts are given, and the IDL names %d", len(call.Accounts), len(i.accounts))
	}
	for n, party := range call.Accounts {
		name := fmt.Sprintf("accounts.%d", n)
		switch {
		case n < len(accounts):
			name = "accounts." + accounts[n].name
			if accounts[n].optional && i.absent == isProgram && !party.IsUnknown() && party.Is(call.To.Address()) {
				r.add(name, "none")
				continue
			}
			if accounts[n].address != "" && !party.Is([]byte(accounts[n].address)) {
				r.unread("account %s is not the one that the IDL requires", accounts[n].name)
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

// present returns the named accounts if a number of accounts is given: all of them, or
// the mandatory ones. ok is false if the number leaves open which ones are given.
func (i *programInstruction) present(given int) (accounts []programAccount, ok bool) {
	if given >= len(i.accounts) || i.absent != movesUp {
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
