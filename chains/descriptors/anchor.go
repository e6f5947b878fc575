package descriptors

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"
)

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

// newAnchor reads an IDL of Anchor: spec 0.1.0, of Anchor 0.30 and later.
func newAnchor(root object) (source, []target, error) {
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
		made.instructions = append(made.instructions, programInstruction{name: instruction.Name, skip: len(instruction.Discriminator),
			marks: []mark{{0, string(instruction.Discriminator)}}, accounts: accounts, args: wireType{kind: wireStruct, members: args}})
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
		flat = append(flat, programAccount{name: name, address: string(fixed)})
	}
	return flat, nil
}

// idlTypes resolves the types of an IDL.
type idlTypes struct {
	form  *idlForm
	count int
}

var idlNumbers = map[string]wireType{
	"u8": {size: 1}, "u16": {size: 2}, "u32": {size: 4}, "u64": {size: 8}, "u128": {size: 16}, "u256": {size: 32},
	"i8": {size: 1, signed: true}, "i16": {size: 2, signed: true}, "i32": {size: 4, signed: true}, "i64": {size: 8, signed: true},
	"i128": {size: 16, signed: true}, "i256": {size: 32, signed: true},
	"bool": {kind: wireBool, prefix: wireU8}, "pubkey": {kind: wireKey},
	"bytes": {kind: wireSized, prefix: wireU32, element: &wireType{kind: wireBytes}}, "string": {kind: wireSized, prefix: wireU32, element: &wireType{kind: wireText}},
}

func (t *idlTypes) members(fields []idlField, depth int) ([]wireMember, error) {
	members := make([]wireMember, len(fields))
	for i, field := range fields {
		made, err := t.resolve(field.Type, depth)
		if err != nil {
			return nil, fmt.Errorf("%.64q: %w", field.Name, err)
		}
		members[i] = wireMember{field.Name, made}
	}
	return members, nil
}

// resolve reads a type.
func (t *idlTypes) resolve(text json.RawMessage, depth int) (*wireType, error) {
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
			return &wireType{kind: wireOption, prefix: wireU8, element: element}, err
		case "vec":
			element, err := t.resolve(inner, depth+1)
			return &wireType{kind: wireList, prefix: wireU32, element: element}, err
		case "array":
			return t.array(inner, depth)
		case "defined":
			return t.defined(inner, depth)
		}
	}
	return nil, errors.New("a type that is not read")
}

func (t *idlTypes) array(text json.RawMessage, depth int) (*wireType, error) {
	var parts []json.RawMessage
	var length int
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 2 || json.Unmarshal(parts[1], &length) != nil || length < 0 || length > 1<<16 {
		return nil, errors.New("an array with a type and a length is expected")
	}
	element, err := t.resolve(parts[0], depth+1)
	return &wireType{kind: wireArray, size: length, element: element}, err
}

// defined resolves a type of the IDL's own. One that is not encoded as Borsh is
// not read.
func (t *idlTypes) defined(text json.RawMessage, depth int) (*wireType, error) {
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

func (t *idlTypes) definition(text json.RawMessage, depth int) (*wireType, error) {
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
		return &wireType{kind: wireStruct, members: members}, err
	case "enum":
		made := &wireType{kind: wireEnum, prefix: wireU8}
		for _, variant := range form.Variants {
			members, err := t.fields(variant.Fields, depth)
			if err != nil {
				return nil, err
			}
			made.members = append(made.members, wireMember{variant.Name, &wireType{kind: wireStruct, members: members}})
		}
		return made, nil
	case "type":
		return t.resolve(form.Alias, depth)
	}
	return nil, fmt.Errorf("kind %.32q is not read", form.Kind)
}

// fields are those of a struct: with names, or without.
func (t *idlTypes) fields(list []json.RawMessage, depth int) ([]wireMember, error) {
	fields := make([]idlField, len(list))
	for i, text := range list {
		if json.Unmarshal(text, &fields[i]) != nil || fields[i].Name == "" {
			fields[i] = idlField{fmt.Sprint(i), text}
		}
	}
	return t.members(fields, depth)
}
