package descriptors

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/countersign-dev/countersign/chains"
)

// program is a Solana program as its Anchor IDL (spec 0.1.0, Anchor 0.30 and
// later) describes it.
type program struct {
	name         string
	instructions []programInstruction
}

type programInstruction struct {
	name          string
	discriminator []byte
	accounts      []programAccount
	args          borshType
}

type programAccount struct {
	name    string
	address string // in binary; empty: any
}

// idlForm is what is read of an IDL. Members that do not bear on the encoding of
// instructions are not looked at.
type idlForm struct {
	Address  string `json:"address"`
	Metadata struct {
		Name string `json:"name"`
		Spec string `json:"spec"`
	} `json:"metadata"`
	Instructions []struct {
		Name          string       `json:"name"`
		Discriminator []uint8      `json:"discriminator"`
		Accounts      []idlAccount `json:"accounts"`
		Args          []idlField   `json:"args"`
	} `json:"instructions"`
	Types []struct {
		Name          string          `json:"name"`
		Serialization any             `json:"serialization"`
		Generics      any             `json:"generics"`
		Type          json.RawMessage `json:"type"`
	} `json:"types"`
}

type idlAccount struct {
	Name     string       `json:"name"`
	Address  string       `json:"address"`
	Accounts []idlAccount `json:"accounts"` // of a group
}

type idlField struct {
	Name string          `json:"name"`
	Type json.RawMessage `json:"type"`
}

// newIDL reads an IDL.
func newIDL(root object) (source, []target, error) {
	if root["kind"] == "rootNode" {
		return nil, nil, errors.New("an IDL of Codama: only those of Anchor are read")
	}
	var form idlForm
	if err := json.Unmarshal(canonical(root), &form); err != nil {
		return nil, nil, err
	}
	address := base58.Decode(form.Address[:min(len(form.Address), 64)])
	switch {
	case form.Metadata.Spec != "0.1.0":
		return nil, nil, fmt.Errorf("metadata.spec %.16q: an IDL of Anchor 0.30 or later has 0.1.0", form.Metadata.Spec)
	case len(address) != 32:
		return nil, nil, fmt.Errorf("address %.64q: the program's address is expected", form.Address)
	case len(form.Instructions) > maxFormats:
		return nil, nil, fmt.Errorf("instructions: %d, at most %d are read", len(form.Instructions), maxFormats)
	}
	types := idlTypes{form: &form}
	made := &program{name: form.Metadata.Name}
	for _, instruction := range form.Instructions {
		args, err := types.members(instruction.Args, 0)
		if err == nil && (len(instruction.Discriminator) == 0 || len(instruction.Discriminator) > 64) {
			err = errors.New("a discriminator of 1 to 64 bytes is expected")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("instruction %.64q: %w", instruction.Name, err)
		}
		accounts, err := flatAccounts(instruction.Accounts, "", 0)
		if err != nil {
			return nil, nil, fmt.Errorf("instruction %.64q: %w", instruction.Name, err)
		}
		made.instructions = append(made.instructions, programInstruction{instruction.Name, instruction.Discriminator, accounts,
			borshType{kind: borshStruct, members: args}})
	}
	return made, []target{{solanaChain, string(address)}}, nil
}

func flatAccounts(list []idlAccount, group string, depth int) (flat []programAccount, err error) {
	if depth > 4 || len(list) > maxArgs {
		return nil, errors.New("too many accounts")
	}
	for _, account := range list {
		name := joined(group, account.Name)
		if len(account.Accounts) > 0 {
			inner, err := flatAccounts(account.Accounts, name, depth+1)
			if err != nil {
				return nil, err
			}
			flat = append(flat, inner...)
			continue
		}
		fixed := base58.Decode(account.Address[:min(len(account.Address), 64)])
		if account.Address != "" && len(fixed) != 32 {
			return nil, fmt.Errorf("account %.64q: %.64q is no address", name, account.Address)
		}
		flat = append(flat, programAccount{name, string(fixed)})
	}
	return flat, nil
}

// idlTypes resolves the types of an IDL.
type idlTypes struct {
	form  *idlForm
	count int
}

var idlNumbers = map[string]borshType{
	"u8": {size: 1}, "u16": {size: 2}, "u32": {size: 4}, "u64": {size: 8}, "u128": {size: 16}, "u256": {size: 32},
	"i8": {size: 1, signed: true}, "i16": {size: 2, signed: true}, "i32": {size: 4, signed: true}, "i64": {size: 8, signed: true},
	"i128": {size: 16, signed: true}, "i256": {size: 32, signed: true},
	"bool": {kind: borshBool}, "pubkey": {kind: borshKey}, "bytes": {kind: borshBytes}, "string": {kind: borshText},
}

func (t *idlTypes) members(fields []idlField, depth int) ([]borshMember, error) {
	members := make([]borshMember, len(fields))
	for i, field := range fields {
		made, err := t.resolve(field.Type, depth)
		if err != nil {
			return nil, fmt.Errorf("%.64q: %w", field.Name, err)
		}
		members[i] = borshMember{field.Name, made}
	}
	return members, nil
}

// resolve reads a type.
func (t *idlTypes) resolve(text json.RawMessage, depth int) (*borshType, error) {
	if t.count++; depth > 16 || t.count > 10_000 {
		return nil, errors.New("types nested too deep, or too many")
	}
	var name string
	if json.Unmarshal(text, &name) == nil {
		if number, ok := idlNumbers[name]; ok {
			return &number, nil
		}
		return nil, fmt.Errorf("type %.32q is not read", name)
	}
	var form map[string]json.RawMessage
	if err := json.Unmarshal(text, &form); err != nil || len(form) != 1 {
		return nil, errors.New("a type is expected")
	}
	for kind, inner := range form {
		switch kind {
		case "option":
			element, err := t.resolve(inner, depth+1)
			return &borshType{kind: borshOption, element: element}, err
		case "vec":
			element, err := t.resolve(inner, depth+1)
			return &borshType{kind: borshVec, element: element}, err
		case "array":
			return t.array(inner, depth)
		case "defined":
			return t.defined(inner, depth)
		}
	}
	return nil, errors.New("a type that is not read")
}

func (t *idlTypes) array(text json.RawMessage, depth int) (*borshType, error) {
	var parts []json.RawMessage
	var length int
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 2 || json.Unmarshal(parts[1], &length) != nil || length < 0 || length > 1<<16 {
		return nil, errors.New("an array with a type and a length is expected")
	}
	element, err := t.resolve(parts[0], depth+1)
	return &borshType{kind: borshArray, size: length, element: element}, err
}

// defined resolves a type of the IDL's own. One that is not encoded as Borsh is
// not read.
func (t *idlTypes) defined(text json.RawMessage, depth int) (*borshType, error) {
	var reference struct {
		Name     string `json:"name"`
		Generics any    `json:"generics"`
	}
	if err := json.Unmarshal(text, &reference); err != nil || reference.Generics != nil {
		return nil, errors.New("a defined type without generics is expected")
	}
	for _, own := range t.form.Types {
		if own.Name != reference.Name {
			continue
		}
		if own.Generics != nil || own.Serialization != nil && own.Serialization != "borsh" {
			return nil, fmt.Errorf("type %.64q is generic, or not encoded as Borsh", own.Name)
		}
		return t.definition(own.Type, depth+1)
	}
	return nil, fmt.Errorf("type %.64q is not defined", reference.Name)
}

func (t *idlTypes) definition(text json.RawMessage, depth int) (*borshType, error) {
	var form struct {
		Kind     string            `json:"kind"`
		Fields   []json.RawMessage `json:"fields"`
		Alias    json.RawMessage   `json:"alias"`
		Variants []struct {
			Name   string            `json:"name"`
			Fields []json.RawMessage `json:"fields"`
		} `json:"variants"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, err
	}
	switch form.Kind {
	case "struct":
		members, err := t.fields(form.Fields, depth)
		return &borshType{kind: borshStruct, members: members}, err
	case "enum":
		made := &borshType{kind: borshEnum}
		for _, variant := range form.Variants {
			members, err := t.fields(variant.Fields, depth)
			if err != nil {
				return nil, err
			}
			made.members = append(made.members, borshMember{variant.Name, &borshType{kind: borshStruct, members: members}})
		}
		return made, nil
	case "type":
		return t.resolve(form.Alias, depth)
	}
	return nil, fmt.Errorf("kind %.32q is not read", form.Kind)
}

// fields are those of a struct: with names, or without.
func (t *idlTypes) fields(list []json.RawMessage, depth int) ([]borshMember, error) {
	fields := make([]idlField, len(list))
	for i, text := range list {
		if json.Unmarshal(text, &fields[i]) != nil || fields[i].Name == "" {
			fields[i] = idlField{fmt.Sprint(i), text}
		}
	}
	return t.members(fields, depth)
}

// read implements source.
func (p *program) read(_ *Folder, call chains.Call, _ int) (reading chains.Reading, ok bool) {
	found := -1
	for i := range p.instructions {
		if !strings.HasPrefix(string(call.Data), string(p.instructions[i].discriminator)) {
			continue
		}
		if found >= 0 {
			return chains.Reading{Problem: "two instructions of the IDL begin alike"}, true
		}
		found = i
	}
	if found < 0 {
		return reading, false
	}
	instruction := &p.instructions[found]
	reading = chains.Reading{Owner: p.name, Function: instruction.name}
	r := &borshReader{data: call.Data[len(instruction.discriminator):], steps: 4 * maxArgs}
	if err := r.read("", &instruction.args); err != nil {
		reading.Problem = "the data does not fit the IDL: " + err.Error()
		return reading, true
	}
	if len(r.data) > 0 {
		r.unread("%d bytes stand behind the arguments", len(r.data))
	}
	instruction.nameAccounts(r, call.Accounts)
	reading.Args, reading.Problem, reading.Complete = r.args, r.problem, r.problem == ""
	return reading, true
}

// nameAccounts lists the accounts of an instruction under their names.
func (i *programInstruction) nameAccounts(r *borshReader, given []chains.Party) {
	if len(given) < len(i.accounts) {
		r.unread("%d accounts are given, the IDL names %d", len(given), len(i.accounts))
	}
	for n, party := range given {
		name := fmt.Sprintf("accounts.%d", n)
		switch {
		case n >= len(i.accounts):
			r.unread("account %d is not named by the IDL", n)
		case i.accounts[n].address != "" && !party.Is([]byte(i.accounts[n].address)):
			r.unread("account %s is another than the IDL says", i.accounts[n].name)
			fallthrough
		default:
			name = "accounts." + i.accounts[n].name
		}
		if party.IsUnknown() {
			r.unread("%s is in a lookup table", name)
		}
		r.add(name, party.String())
	}
}
