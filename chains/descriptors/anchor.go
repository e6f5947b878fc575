package descriptors

import (
	"encoding/json"
	"errors"
	"fmt"
)

// idlForm is an IDL. Members that do not affect the encoding of instructions are ignored.
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

// newAnchor reads an IDL of Anchor 0.30 or later, whose specification is 0.1.0.
func newAnchor(root object) (source, []target, error) {
	var form idlForm
	if err := json.Unmarshal(canonical(root), &form); err != nil {
		return nil, nil, err
	}
	address, err := solanaAddress(form.Address)
	switch {
	case form.Metadata.Spec != "0.1.0":
		return nil, nil, fmt.Errorf("metadata.spec %.16q: must be 0.1.0, the specification of Anchor 0.30 and later", form.Metadata.Spec)
	case err != nil:
		return nil, nil, fmt.Errorf("address: %w", err)
	case len(form.Instructions) > maxFormats:
		return nil, nil, fmt.Errorf("instructions: %d, of at most %d", len(form.Instructions), maxFormats)
	}
	types := idlTypes{form: &form}
	p := &program{name: form.Metadata.Name}
	for _, instruction := range form.Instructions {
		args, err := types.members(instruction.Args, 0)
		if err == nil && (len(instruction.Discriminator) == 0 || len(instruction.Discriminator) > 64) {
			err = errors.New("the discriminator must have 1 to 64 bytes")
		}
		if err != nil {
			return nil, nil, fmt.Errorf("instruction %.64q: %w", instruction.Name, err)
		}
		accounts, err := flatAccounts(instruction.Accounts, "", 0)
		if err != nil {
			return nil, nil, fmt.Errorf("instruction %.64q: %w", instruction.Name, err)
		}
		p.instructions = append(p.instructions, programInstruction{name: instruction.Name, skip: len(instruction.Discriminator),
			discriminators: []discriminator{{0, string(instruction.Discriminator)}}, accounts: accounts, args: wireType{kind: wireStruct, members: args}})
	}
	return p, []target{{solanaChain, string(address)}}, nil
}

// flatAccounts lists accounts with those of groups, whose names have the group's as a
// prefix.
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
		var fixed []byte
		if account.Address != "" {
			if fixed, err = solanaAddress(account.Address); err != nil {
				return nil, fmt.Errorf("account %.64q: %w", name, err)
			}
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

// borshTypes are the types of Borsh that have no parameters, besides numbers.
var borshTypes = map[string]*wireType{
	"bool": {kind: wireBool, prefix: wireU8}, "pubkey": {kind: wireKey},
	"bytes": {kind: wireSized, prefix: wireU32, element: &wireType{kind: wireBytes}}, "string": {kind: wireSized, prefix: wireU32, element: &wireType{kind: wireText}},
}

// members resolves the types of fields.
func (t *idlTypes) members(fields []idlField, depth int) ([]wireMember, error) {
	members := make([]wireMember, 0, len(fields))
	for _, field := range fields {
		resolved, err := t.resolve(field.Type, depth)
		if err != nil {
			return nil, fmt.Errorf("%.64q: %w", field.Name, err)
		}
		if members, err = named(members, field.Name, resolved); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// resolve resolves a type.
func (t *idlTypes) resolve(text json.RawMessage, depth int) (*wireType, error) {
	if t.count++; depth > 16 || t.count > 10_000 {
		return nil, errors.New("the types are nested too deep, or there are too many")
	}
	var name string
	if json.Unmarshal(text, &name) == nil {
		if resolved := borshTypes[name]; resolved != nil {
			return resolved, nil
		}
		if number, ok := numberType(name); ok && number.kind == wireNumber {
			return number, nil
		}
		return nil, fmt.Errorf("type %.32q is not supported", name)
	}
	var form map[string]json.RawMessage
	if err := json.Unmarshal(text, &form); err != nil || len(form) != 1 {
		return nil, errors.New("not a type")
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
	return nil, errors.New("a type that is not supported")
}

func (t *idlTypes) array(text json.RawMessage, depth int) (*wireType, error) {
	var parts []json.RawMessage
	var length int
	if err := json.Unmarshal(text, &parts); err != nil || len(parts) != 2 || json.Unmarshal(parts[1], &length) != nil || length < 0 || length > 1<<16 {
		return nil, errors.New("an array must have a type and a length")
	}
	element, err := t.resolve(parts[0], depth+1)
	return &wireType{kind: wireArray, size: length, element: element}, err
}

// defined resolves a type that the IDL defines. It must be encoded as Borsh.
func (t *idlTypes) defined(text json.RawMessage, depth int) (*wireType, error) {
	var reference struct {
		Name     string `json:"name"`
		Generics any    `json:"generics"`
	}
	if err := json.Unmarshal(text, &reference); err != nil || reference.Generics != nil {
		return nil, errors.New("a defined type must have no generics")
	}
	for _, definition := range t.form.Types {
		if definition.Name != reference.Name {
			continue
		}
		if definition.Generics != nil || definition.Serialization != nil && definition.Serialization != "borsh" {
			return nil, fmt.Errorf("type %.64q is generic, or not encoded as Borsh", definition.Name)
		}
		return t.definition(definition.Type, depth+1)
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
		enum := &wireType{kind: wireEnum, prefix: wireU8}
		for _, variant := range form.Variants {
			members, err := t.fields(variant.Fields, depth)
			if err != nil {
				return nil, err
			}
			enum.members = append(enum.members, wireMember{variant.Name, &wireType{kind: wireStruct, members: members}})
		}
		return enum, nil
	case "type":
		return t.resolve(form.Alias, depth)
	}
	return nil, fmt.Errorf("kind %.32q is not supported", form.Kind)
}

// fields resolves the fields of a struct, which have names, or of a tuple, which are
// numbered.
func (t *idlTypes) fields(list []json.RawMessage, depth int) ([]wireMember, error) {
	fields := make([]idlField, len(list))
	for i, text := range list {
		if json.Unmarshal(text, &fields[i]) != nil || fields[i].Name == "" {
			fields[i] = idlField{fmt.Sprint(i), text}
		}
	}
	return t.members(fields, depth)
}
