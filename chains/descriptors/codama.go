package descriptors

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func newCodama(root object) (source, []target, error) {
	version, _ := root["version"].(string)
	main, ok := root["program"].(object)
	switch {
	case root["standard"] != "codama":
		return nil, nil, errors.New(`standard: must be "codama"`)
	case !strings.HasPrefix(version, "1."):
		return nil, nil, fmt.Errorf("version %.32q: only Codama 1 is supported", version)
	case !ok:
		return nil, nil, errors.New("program: must be a programNode")
	}
	c := &codama{defined: map[string]map[string]object{}}
	c.collectTypes(append([]object{main}, c.nodes(root, "additionalPrograms", "programNode")...))
	address := c.address(main, "publicKey", "program.publicKey")
	c.main = c.text(main, "name")
	return c.program(c.main, address, c.nodes(main, "instructions", "instructionNode"), c.instruction)
}

func (c *codama) collectTypes(programs []object) {
	for _, p := range programs {
		if p["kind"] != "programNode" {
			c.fail("program: must be a programNode")
		}
		name := c.text(p, "name")
		if c.defined[name] != nil {
			c.fail("two programs are called %.64q", name)
		}
		types := map[string]object{}
		c.defined[name] = types
		for _, d := range c.nodes(p, "definedTypes", "definedTypeNode") {
			typeName := c.text(d, "name")
			if types[typeName] != nil {
				c.fail("two types are called %.64q", typeName)
			}
			types[typeName] = c.node(d, "type")
		}
	}
}

// instruction reads an instructionNode. Its subInstructions are other forms of the same
// data, and are ignored.
func (c *codama) instruction(n object) (i programInstruction) {
	c.accounts(&i, n)
	offsets := c.discriminators(&i, n)
	i.args.kind = wireStruct
	c.arguments(&i, c.nodes(n, "arguments", "instructionArgumentNode"), offsets)
	return i
}

// arguments reads the arguments. Those that are discriminators, whose offsets are given by
// name, must have their default value, and a reading does not list them.
func (c *codama) arguments(instruction *programInstruction, arguments []object, offsets map[string]int) {
	offset, fixed := 0, true
	for _, n := range arguments {
		name := c.text(n, "name")
		t := c.argument(instruction, n, name)
		if declared, ok := offsets[name]; ok {
			c.in("discriminator ", name, func() {
				raw := c.encode(t, c.node(n, "defaultValue"))
				instruction.discriminators = append(instruction.discriminators, discriminator{declared, string(raw)})
				t = &wireType{kind: wireAfterConstant, constant: raw, element: &wireType{kind: wireStruct}}
				if instruction.problem == "" && (!fixed || declared != offset) {
					c.fail("it is not at byte %d", declared)
				}
			})
			delete(offsets, name)
		}
		width, ok := t.width()
		offset, fixed = offset+width, fixed && ok
		instruction.args.members = c.named(instruction.args.members, name, t)
	}
	for _, missing := range slices.Sorted(maps.Keys(offsets)) {
		c.fail("discriminator %.64q: there is no such argument", missing)
	}
}

// argument resolves the type of an argument. If it is not supported, the instruction cannot be
// read.
func (c *codama) argument(instruction *programInstruction, n object, name string) *wireType {
	inner := c.node(n, "type")
	if c.err != nil {
		return &wireType{}
	}
	t := c.resolve(inner, 0)
	switch {
	case errors.Is(c.err, errUnread):
		instruction.problem = fmt.Sprintf("argument %.64s: %s", name, c.err)
		c.err = nil
		return &wireType{kind: wireBytes}
	case c.err != nil:
		c.err = fmt.Errorf("%.64q: %w", name, c.err)
	}
	return t
}

// discriminators reads constant and size discriminators, and returns the offsets of field
// discriminators by the name of their argument.
func (c *codama) discriminators(instruction *programInstruction, n object) (offsets map[string]int) {
	offsets = map[string]int{}
	for _, d := range c.nodes(n, "discriminators", "") {
		switch d["kind"] {
		case "sizeDiscriminatorNode":
			if instruction.size = c.size(d, "size"); instruction.size == 0 {
				c.fail("size: must be above 0")
			}
		case "fieldDiscriminatorNode":
			offsets[c.text(d, "name")] = c.size(d, "offset")
		case "constantDiscriminatorNode":
			raw := c.constant(c.node(d, "constant"))
			instruction.discriminators = append(instruction.discriminators,
				discriminator{c.size(d, "offset"), string(raw)})
		default:
			c.fail("%.64q is not a known discriminator", d["kind"])
		}
	}
	return offsets
}

// accounts reads the accounts. Default values are ignored, since a caller may pass another account.
func (c *codama) accounts(i *programInstruction, n object) {
	list := c.nodes(n, "accounts", "instructionAccountNode")
	if len(list) > maxArgs {
		c.fail("%d accounts, of at most %d", len(list), maxArgs)
	}
	for _, a := range list {
		optional, _ := a["isOptional"].(bool)
		i.accounts = append(i.accounts, programAccount{name: c.text(a, "name"), optional: optional})
	}
	switch strategy := n["optionalAccountStrategy"]; strategy {
	case nil, "programId":
	case "omitted":
		i.absent = movesUp
	default:
		c.fail("optionalAccountStrategy: must be programId or omitted")
	}
	if rest := c.nodes(n, "remainingAccounts", "instructionRemainingAccountsNode"); len(rest) == 1 {
		if value, _ := rest[0]["value"].(object); value["kind"] == "argumentValueNode" {
			i.rest = c.text(value, "name")
		}
	}
}
