package descriptors

import "strconv"

// anchor reads an IDL of Anchor 0.30 or later, whose specification is 0.1.0. Members that do not
// affect the encoding of instructions are ignored.
type anchor struct {
	idl
	definitions []object
}

func (a *anchor) instruction(n object) (i programInstruction) {
	i.args = wireType{kind: wireStruct, members: a.members(a.objects(n, "args"), 0)}
	constant := a.discriminator(n)
	i.skip, i.discriminators = len(constant), []discriminator{{0, string(constant)}}
	i.accounts = a.accounts(nil, a.objects(n, "accounts"), "", 0)
	return i
}

func (a *anchor) discriminator(n object) (constant []byte) {
	list, _ := n["discriminator"].([]any)
	for _, element := range list {
		if number, ok := element.(int64); ok && number >= 0 && number <= 0xff {
			constant = append(constant, byte(number))
		}
	}
	if len(constant) != len(list) || len(list) == 0 || len(list) > 64 {
		a.fail("the discriminator must have 1 to 64 bytes")
	}
	return constant
}

// accounts appends accounts with those of groups, whose names have the group's as a prefix.
func (a *anchor) accounts(flat []programAccount, list []object, group string, depth int) []programAccount {
	if depth > 4 || len(list) > maxArgs {
		a.fail("too many accounts")
		return nil
	}
	for _, n := range list {
		name := joined(group, a.text(n, "name"))
		if inner := a.objects(n, "accounts"); len(inner) > 0 {
			flat = a.accounts(flat, inner, name, depth+1)
			continue
		}
		account := programAccount{name: name}
		if n["address"] != nil {
			a.in("account ", name, func() { account.address = string(a.address(n, "address", "address")) })
		}
		flat = append(flat, account)
	}
	return flat
}

// borshTypes are the types of Borsh that have no parameters, besides numbers.
var borshTypes = map[string]*wireType{
	"bool": {kind: wireBool, prefix: wireU8}, "pubkey": {kind: wireKey},
	"bytes":  {kind: wireSized, prefix: wireU32, element: &wireType{kind: wireBytes}},
	"string": {kind: wireSized, prefix: wireU32, element: &wireType{kind: wireText}},
}

func (a *anchor) members(fields []object, depth int) (members []wireMember) {
	for _, field := range fields {
		name := a.text(field, "name")
		var t *wireType
		a.in("", name, func() { t = a.resolve(field["type"], depth) })
		members = a.named(members, name, t)
	}
	return members
}

func (a *anchor) resolve(node any, depth int) *wireType {
	if !a.bound(depth) {
		return &wireType{}
	}
	form, _ := node.(object)
	if name, ok := node.(string); ok {
		if resolved := borshTypes[name]; resolved != nil {
			return resolved
		}
		if number, ok := numberType(name); ok && number.kind == wireNumber {
			return number
		}
		a.fail("type %.32q is not supported", name)
	}
	if len(form) != 1 {
		a.fail("not a type")
	}
	for kind, inner := range form {
		switch kind {
		case "option":
			return &wireType{kind: wireOption, prefix: wireU8, element: a.resolve(inner, depth+1)}
		case "vec":
			return &wireType{kind: wireList, prefix: wireU32, element: a.resolve(inner, depth+1)}
		case "array":
			parts, _ := inner.([]any)
			if len(parts) == 2 {
				if length, ok := parts[1].(int64); ok && length >= 0 && length <= 1<<16 {
					return &wireType{kind: wireArray, size: int(length), element: a.resolve(parts[0], depth+1)}
				}
			}
			a.fail("an array must have a type and a length")
			return &wireType{}
		case "defined":
			return a.defined(inner, depth)
		}
	}
	a.fail("a type that is not supported")
	return &wireType{}
}

// defined resolves a type that the IDL defines. It must be encoded as Borsh.
func (a *anchor) defined(node any, depth int) *wireType {
	reference, _ := node.(object)
	name, _ := reference["name"].(string)
	if name == "" || reference["generics"] != nil {
		a.fail("a defined type must have a name and no generics")
	}
	for _, definition := range a.definitions {
		if definition["name"] != name {
			continue
		}
		borsh := definition["serialization"] == nil || definition["serialization"] == "borsh"
		if definition["generics"] != nil || !borsh {
			a.fail("type %.64q is generic, or not encoded as Borsh", name)
		}
		form, _ := definition["type"].(object)
		return a.definition(form, depth+1)
	}
	a.fail("type %.64q is not defined", name)
	return &wireType{}
}

func (a *anchor) definition(form object, depth int) *wireType {
	kind, _ := form["kind"].(string)
	switch kind {
	case "struct":
		return &wireType{kind: wireStruct, members: a.fields(form, depth)}
	case "enum":
		enum := &wireType{kind: wireEnum, prefix: wireU8}
		for _, variant := range a.objects(form, "variants") {
			members := &wireType{kind: wireStruct, members: a.fields(variant, depth)}
			enum.members = append(enum.members, wireMember{a.text(variant, "name"), members})
		}
		return enum
	case "type":
		return a.resolve(form["alias"], depth)
	}
	a.fail("kind %.32q is not supported", kind)
	return &wireType{}
}

// fields resolves the fields of a struct, which have names, or of a tuple, which are numbered.
func (a *anchor) fields(form object, depth int) []wireMember {
	var fields []object
	for i, element := range a.list(form, "fields") {
		field, _ := element.(object)
		if name, _ := field["name"].(string); name == "" {
			field = object{"name": strconv.Itoa(i), "type": element}
		}
		fields = append(fields, field)
	}
	return a.members(fields, depth)
}
