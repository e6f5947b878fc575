package descriptors

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2/base58"
)

// errUnread is the error of a type that is valid in a Codama IDL but not supported. It
// makes its instruction unreadable, not the file.
var errUnread = errors.New("is not supported")

// newCodama reads an IDL of Codama, a rootNode of version 1
// (https://github.com/codama-idl/spec). Additional programs only supply types. Display and
// documentation are ignored.
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
	c := &codama{types: map[string]map[string]object{}}
	if err := c.programs(main, root); err != nil {
		return nil, nil, err
	}
	text, err := stringIn(main, "publicKey")
	if err != nil {
		return nil, nil, err
	}
	address, err := solanaAddress(text)
	if err != nil {
		return nil, nil, fmt.Errorf("program.publicKey: %w", err)
	}
	if c.main, err = stringIn(main, "name"); err != nil {
		return nil, nil, err
	}
	p := &program{name: c.main}
	instructions, err := nodes(main, "instructions", "instructionNode")
	if err != nil {
		return nil, nil, err
	}
	if len(instructions) > maxFormats {
		return nil, nil, fmt.Errorf("instructions: %d, of at most %d", len(instructions), maxFormats)
	}
	for _, node := range instructions {
		instruction, err := c.instruction(node)
		if err != nil {
			return nil, nil, fmt.Errorf("instruction %.64q: %w", node["name"], err)
		}
		// An instruction that nothing distinguishes from the others is left out.
		if len(instruction.discriminators) > 0 || instruction.size > 0 || len(instructions) == 1 {
			p.instructions = append(p.instructions, instruction)
		}
	}
	return p, []target{{solanaChain, string(address)}}, nil
}

// codama is an IDL while it is read.
type codama struct {
	types map[string]map[string]object // the defined types of each program
	main  string                       // the program of types that name no program
	count int                          // types that were resolved
}

// programs collects the types of the main program and of the additional ones.
func (c *codama) programs(main, root object) error {
	others, err := nodes(root, "additionalPrograms", "programNode")
	if err != nil {
		return err
	}
	for _, p := range append([]object{main}, others...) {
		if p["kind"] != "programNode" {
			return errors.New("program: must be a programNode")
		}
		name, err := stringIn(p, "name")
		if err != nil {
			return err
		}
		if c.types[name] != nil {
			return fmt.Errorf("two programs are called %.64q", name)
		}
		c.types[name] = map[string]object{}
		defined, err := nodes(p, "definedTypes", "definedTypeNode")
		if err != nil {
			return err
		}
		for _, d := range defined {
			typeName, err := stringIn(d, "name")
			if err != nil {
				return err
			}
			if c.types[name][typeName] != nil {
				return fmt.Errorf("two types are called %.64q", typeName)
			}
			if c.types[name][typeName], err = node(d, "type"); err != nil {
				return err
			}
		}
	}
	return nil
}

// instruction reads an instructionNode. Its subInstructions are other forms of the same
// data, and are ignored.
func (c *codama) instruction(n object) (i programInstruction, err error) {
	if i.name, err = stringIn(n, "name"); err != nil {
		return i, err
	}
	if err = i.codamaAccounts(n); err != nil {
		return i, err
	}
	offsets, err := c.discriminators(&i, n)
	if err != nil {
		return i, err
	}
	arguments, err := nodes(n, "arguments", "instructionArgumentNode")
	if err != nil {
		return i, err
	}
	i.args.kind = wireStruct
	return i, c.arguments(&i, arguments, offsets)
}

// arguments reads the arguments. Those that are discriminators, whose offsets are given by
// name, must have their default value, and a reading does not list them.
func (c *codama) arguments(instruction *programInstruction, arguments []object, offsets map[string]int) error {
	offset, fixed := 0, true
	names := map[string]bool{}
	for _, n := range arguments {
		name, err := stringIn(n, "name")
		if err != nil {
			return err
		}
		if names[name] {
			return fmt.Errorf("two arguments are called %.64q", name)
		}
		names[name] = true
		inner, err := node(n, "type")
		if err != nil {
			return err
		}
		t, err := c.resolve(inner, 0)
		switch {
		case errors.Is(err, errUnread):
			instruction.problem = fmt.Sprintf("argument %.64s: %s", name, err)
			t = &wireType{kind: wireBytes}
		case err != nil:
			return fmt.Errorf("%.64q: %w", name, err)
		}
		if declared, ok := offsets[name]; ok {
			if t, err = c.discriminates(instruction, n, t, declared); err != nil {
				return fmt.Errorf("discriminator %.64q: %w", name, err)
			}
			if instruction.problem == "" && (!fixed || declared != offset) {
				return fmt.Errorf("discriminator %.64q: it is not at byte %d", name, declared)
			}
			delete(offsets, name)
		}
		width, ok := t.width()
		offset, fixed = offset+width, fixed && ok
		if instruction.args.members, err = named(instruction.args.members, name, t); err != nil {
			return err
		}
	}
	if missing := slices.Sorted(maps.Keys(offsets)); len(missing) > 0 {
		return fmt.Errorf("discriminator %.64q: there is no such argument", missing[0])
	}
	return nil
}

// discriminates adds the default value of an argument as a discriminator, and returns the
// argument's type as a constant that a reading does not list.
func (c *codama) discriminates(instruction *programInstruction, argument object, t *wireType, offset int) (*wireType, error) {
	value, err := node(argument, "defaultValue")
	if err != nil {
		return nil, err
	}
	raw, err := encodeValue(t, value)
	if err != nil {
		return nil, err
	}
	instruction.discriminators = append(instruction.discriminators, discriminator{offset, string(raw)})
	return &wireType{kind: wireAfterConstant, constant: raw, element: &wireType{kind: wireStruct}}, nil
}

// discriminators reads constant and size discriminators, and returns the offsets of field
// discriminators by the name of their argument.
func (c *codama) discriminators(instruction *programInstruction, n object) (offsets map[string]int, err error) {
	list, err := nodes(n, "discriminators", "")
	if err != nil {
		return nil, err
	}
	offsets = map[string]int{}
	for _, d := range list {
		switch d["kind"] {
		case "sizeDiscriminatorNode":
			if instruction.size, err = sizeOf(d, "size"); err == nil && instruction.size == 0 {
				err = errors.New("size: must be above 0")
			}
		case "fieldDiscriminatorNode":
			var name string
			var offset int
			if name, err = stringIn(d, "name"); err == nil {
				offset, err = sizeOf(d, "offset")
			}
			offsets[name] = offset
		case "constantDiscriminatorNode":
			var raw []byte
			var offset int
			if raw, err = c.constant(d, "constant"); err == nil {
				offset, err = sizeOf(d, "offset")
			}
			instruction.discriminators = append(instruction.discriminators, discriminator{offset, string(raw)})
		default:
			err = fmt.Errorf("%.64q is not a known discriminator", d["kind"])
		}
		if err != nil {
			return nil, err
		}
	}
	return offsets, nil
}

// codamaAccounts reads the accounts. Default values are ignored, since a caller may pass
// another account.
func (i *programInstruction) codamaAccounts(n object) error {
	list, err := nodes(n, "accounts", "instructionAccountNode")
	if err != nil {
		return err
	}
	if len(list) > maxArgs {
		return fmt.Errorf("%d accounts, of at most %d", len(list), maxArgs)
	}
	for _, a := range list {
		name, err := stringIn(a, "name")
		if err != nil {
			return err
		}
		optional, _ := a["isOptional"].(bool)
		i.accounts = append(i.accounts, programAccount{name: name, optional: optional})
	}
	switch strategy := n["optionalAccountStrategy"]; strategy {
	case nil, "programId":
	case "omitted":
		i.absent = movesUp
	default:
		return errors.New("optionalAccountStrategy: must be programId or omitted")
	}
	rest, err := nodes(n, "remainingAccounts", "instructionRemainingAccountsNode")
	if err != nil {
		return err
	}
	if len(rest) == 1 {
		if value, err := node(rest[0], "value"); err == nil && value["kind"] == "argumentValueNode" {
			i.rest, err = stringIn(value, "name")
			return err
		}
	}
	return nil
}

// encodeValue encodes a value of a type: a number, bytes, a text or an address.
func encodeValue(t *wireType, value object) ([]byte, error) {
	switch value["kind"] {
	case "numberValueNode":
		number, ok := value["number"].(int64)
		if !ok {
			break
		}
		if raw, ok := t.encode(big.NewInt(number)); ok {
			return raw, nil
		}
	case "bytesValueNode":
		raw, err := encodedBytes(value)
		if size, fixed := t.width(); err != nil || t.kind == wireBytes || t.kind == wireFixed && t.element.kind == wireBytes && fixed && size == len(raw) {
			return raw, err
		}
	case "stringValueNode":
		if text, ok := value["string"].(string); ok && t.kind == wireText {
			return []byte(text), nil
		}
	case "publicKeyValueNode":
		text, _ := value["publicKey"].(string)
		if raw, err := solanaAddress(text); err == nil && t.kind == wireKey {
			return raw, nil
		}
	}
	return nil, fmt.Errorf("%.64q: the value does not fit its type", value["kind"])
}

var errEncoding = errors.New("encoding: must be base16, base58, base64 or utf8")

// encodedBytes decodes a bytesValueNode.
func encodedBytes(value object) (raw []byte, err error) {
	text, ok := value["data"].(string)
	if !ok || len(text) > maxText {
		return nil, fmt.Errorf("data: must be a text of at most %d bytes", maxText)
	}
	switch value["encoding"] {
	case "base16":
		return hex.DecodeString(text)
	case "base58":
		if raw = base58.Decode(text); len(raw) == 0 && text != "" {
			err = errors.New("data: not base58")
		}
		return raw, err
	case "base64":
		return base64.StdEncoding.Strict().DecodeString(text)
	case "utf8":
		return []byte(text), nil
	}
	return nil, errEncoding
}

// constant encodes a constantValueNode.
func (c *codama) constant(n object, name string) ([]byte, error) {
	constant, err := node(n, name)
	if err != nil {
		return nil, err
	}
	value, err := node(constant, "value")
	if err != nil {
		return nil, err
	}
	t, err := c.member(constant, "type", -1)
	if err != nil {
		return nil, err
	}
	raw, err := encodeValue(t, value)
	if err == nil && len(raw) == 0 {
		err = errors.New("the constant is empty")
	}
	return raw, err
}
