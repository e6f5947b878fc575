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

// errUnread is of a type that a Codama IDL may have and that is not read: it makes one
// instruction unread, and not the file.
var errUnread = errors.New("is not read")

// newCodama reads an IDL of Codama, a rootNode of version 1
// (https://github.com/codama-idl/spec). Its main program is read; those besides only
// supply types. Display and documentation are not looked at.
func newCodama(root object) (source, []target, error) {
	version, _ := root["version"].(string)
	main, ok := root["program"].(object)
	switch {
	case root["standard"] != "codama":
		return nil, nil, errors.New(`standard: a rootNode of Codama has "codama"`)
	case !strings.HasPrefix(version, "1."):
		return nil, nil, fmt.Errorf("version %.32q: IDLs of Codama 1 are read", version)
	case !ok:
		return nil, nil, errors.New("program: a programNode is expected")
	}
	c := &codama{types: map[string]map[string]object{}}
	if err := c.programs(main, root); err != nil {
		return nil, nil, err
	}
	text, err := stringIn(main, "publicKey")
	if err != nil {
		return nil, nil, err
	}
	address := base58.Decode(text[:min(len(text), 64)])
	if len(address) != 32 {
		return nil, nil, fmt.Errorf("program.publicKey %.64q: the program's address is expected", text)
	}
	made := &program{}
	if made.name, err = stringIn(main, "name"); err != nil {
		return nil, nil, err
	}
	instructions, err := nodes(main, "instructions", "instructionNode")
	if err != nil {
		return nil, nil, err
	}
	if len(instructions) > maxFormats {
		return nil, nil, fmt.Errorf("instructions: %d, at most %d are read", len(instructions), maxFormats)
	}
	c.main = made.name
	for _, node := range instructions {
		instruction, err := c.instruction(node)
		if err != nil {
			return nil, nil, fmt.Errorf("instruction %.64q: %w", node["name"], err)
		}
		// One that nothing tells from the others is not read.
		if len(instruction.marks) > 0 || instruction.size > 0 || len(instructions) == 1 {
			made.instructions = append(made.instructions, instruction)
		}
	}
	return made, []target{{solanaChain, string(address)}}, nil
}

// codama is an IDL that is being read.
type codama struct {
	types map[string]map[string]object // the defined types of each program
	main  string                       // the program whose types are meant where none is named
	count int
}

// programs collects the types of the main program and of those besides.
func (c *codama) programs(main, root object) error {
	others, err := nodes(root, "additionalPrograms", "programNode")
	if err != nil {
		return err
	}
	for _, p := range append([]object{main}, others...) {
		if p["kind"] != "programNode" {
			return errors.New("program: a programNode is expected")
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
			own, err := stringIn(d, "name")
			if err != nil {
				return err
			}
			if c.types[name][own] != nil {
				return fmt.Errorf("two types are called %.64q", own)
			}
			if c.types[name][own], err = node(d, "type"); err != nil {
				return err
			}
		}
	}
	return nil
}

// instruction reads an instructionNode. Its subInstructions are forms of the same data,
// and say nothing besides.
func (c *codama) instruction(n object) (made programInstruction, err error) {
	if made.name, err = stringIn(n, "name"); err != nil {
		return made, err
	}
	if err = made.codamaAccounts(n); err != nil {
		return made, err
	}
	marked, err := c.marks(&made, n)
	if err != nil {
		return made, err
	}
	arguments, err := nodes(n, "arguments", "instructionArgumentNode")
	if err != nil {
		return made, err
	}
	made.args.kind = wireStruct
	return made, c.arguments(&made, arguments, marked)
}

// marked is where a field discriminator says that an argument stands.
type marked map[string]int

// arguments reads the arguments. Those that discriminate have their default, and are
// none that a reading lists.
func (c *codama) arguments(made *programInstruction, arguments []object, at marked) error {
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
			made.problem = fmt.Sprintf("argument %.64s: %s", name, err)
			t = &wireType{kind: wireBytes}
		case err != nil:
			return fmt.Errorf("%.64q: %w", name, err)
		}
		if place, is := at[name]; is {
			if t, err = c.discriminates(made, n, t, place); err != nil {
				return fmt.Errorf("discriminator %.64q: %w", name, err)
			}
			if made.problem == "" && (!fixed || place != offset) {
				return fmt.Errorf("discriminator %.64q: it is not at byte %d", name, place)
			}
			delete(at, name)
		}
		width, ok := t.width()
		offset, fixed = offset+width, fixed && ok
		made.args.members = append(made.args.members, wireMember{name, t})
	}
	if left := slices.Sorted(maps.Keys(at)); len(left) > 0 {
		return fmt.Errorf("a discriminator is argument %.64q, which there is none of", left[0])
	}
	return nil
}

// discriminates adds the value of an argument as a mark, and returns it as a constant
// that lists nothing.
func (c *codama) discriminates(made *programInstruction, argument object, t *wireType, at int) (*wireType, error) {
	value, err := node(argument, "defaultValue")
	if err != nil {
		return nil, err
	}
	raw, err := encodeValue(t, value)
	if err != nil {
		return nil, err
	}
	made.marks = append(made.marks, mark{at, string(raw)})
	return &wireType{kind: wireBehind, constant: raw, element: &wireType{kind: wireStruct}}, nil
}

// marks reads the discriminators: constants and sizes at once, fields with the
// arguments.
func (c *codama) marks(made *programInstruction, n object) (at marked, err error) {
	list, err := nodes(n, "discriminators", "")
	if err != nil {
		return nil, err
	}
	at = marked{}
	for _, d := range list {
		switch d["kind"] {
		case "sizeDiscriminatorNode":
			if made.size, err = sizeOf(d, "size"); err == nil && made.size == 0 {
				err = errors.New("a size above 0 is expected")
			}
		case "fieldDiscriminatorNode":
			var name string
			var offset int
			if name, err = stringIn(d, "name"); err == nil {
				offset, err = sizeOf(d, "offset")
			}
			at[name] = offset
		case "constantDiscriminatorNode":
			var raw []byte
			var offset int
			if raw, err = c.constant(d, "constant"); err == nil {
				offset, err = sizeOf(d, "offset")
			}
			made.marks = append(made.marks, mark{offset, string(raw)})
		default:
			err = fmt.Errorf("%.64q is not known as a discriminator", d["kind"])
		}
		if err != nil {
			return nil, err
		}
	}
	return at, nil
}

// codamaAccounts reads the accounts. A default of one binds nothing: the caller may
// give another.
func (i *programInstruction) codamaAccounts(n object) error {
	list, err := nodes(n, "accounts", "instructionAccountNode")
	if err != nil {
		return err
	}
	if len(list) > maxArgs {
		return fmt.Errorf("%d accounts: at most %d are read", len(list), maxArgs)
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
		i.left = asNothing
	default:
		return errors.New("optionalAccountStrategy: programId or omitted is expected")
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
		if raw := base58.Decode(text[:min(len(text), 64)]); len(raw) == 32 && t.kind == wireKey {
			return raw, nil
		}
	}
	return nil, fmt.Errorf("a value %.64q that does not fit its type", value["kind"])
}

// encodedBytes reads the bytes of a bytesValueNode.
func encodedBytes(value object) (raw []byte, err error) {
	text, ok := value["data"].(string)
	if !ok || len(text) > maxText {
		return nil, errors.New("data: a short text is expected")
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
	return nil, errors.New("encoding: base16, base58, base64 or utf8 is expected")
}

// constant encodes a constantValueNode.
func (c *codama) constant(n object, name string) ([]byte, error) {
	found, err := node(n, name)
	if err != nil {
		return nil, err
	}
	of, err := node(found, "type")
	if err != nil {
		return nil, err
	}
	value, err := node(found, "value")
	if err != nil {
		return nil, err
	}
	t, err := c.resolve(of, 0)
	if err != nil {
		return nil, err
	}
	raw, err := encodeValue(t, value)
	if err == nil && len(raw) == 0 {
		err = errors.New("a constant without bytes")
	}
	return raw, err
}
