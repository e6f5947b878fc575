package descriptors

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// idl reads the JSON of an IDL into a program. Anchor's and Codama's IDLs are two notations of
// one thing, each with a front end of its own. The first error is kept, and what is read after
// it is not used.
type idl struct {
	err   error
	types int // that were resolved
}

func (r *idl) fail(format string, values ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, values...)
	}
}

// in reads a named part, whose errors begin with what it is.
func (r *idl) in(what, name string, read func()) {
	if r.err != nil {
		return
	}
	if read(); r.err != nil {
		r.err = fmt.Errorf("%s%.64q: %w", what, name, r.err)
	}
}

// readInstruction reads an instruction, all but its name.
type readInstruction func(n object) programInstruction

// program reads the instructions of the program at an address.
func (r *idl) program(name string, address []byte, list []object, read readInstruction) (source, []target, error) {
	if len(list) > maxFormats {
		r.fail("instructions: %d, of at most %d", len(list), maxFormats)
	}
	p := &program{name: name}
	for _, n := range list {
		var instruction programInstruction
		name, _ := n["name"].(string)
		r.in("instruction ", name, func() {
			r.text(n, "name")
			instruction = read(n)
			instruction.name = name
		})
		// An instruction that nothing distinguishes from the others is left out.
		if len(instruction.discriminators) > 0 || instruction.size > 0 || len(list) == 1 {
			p.instructions = append(p.instructions, instruction)
		}
	}
	if r.err != nil {
		return nil, nil, r.err
	}
	return p, []target{{solanaChain, string(address)}}, nil
}

// bound bounds the types that are resolved. ok is false if there is an error.
func (r *idl) bound(depth int) (ok bool) {
	if r.types++; depth > 16 || r.types > 20_000 {
		r.fail("the types are nested too deep, or there are too many")
	}
	return r.err == nil
}

// named adds a member whose name no other member has: it would mean either.
func (r *idl) named(members []wireMember, name string, t *wireType) []wireMember {
	if slices.ContainsFunc(members, func(before wireMember) bool { return before.name == name }) {
		r.fail("two are named %.64q: a name would mean either", name)
	}
	return append(members, wireMember{name, t})
}

// list returns a member that must be a list. A missing one is empty.
func (r *idl) list(n object, name string) []any {
	list, ok := n[name].([]any)
	if !ok && n[name] != nil {
		r.fail("%s: must be a list", name)
	}
	return list
}

// objects returns a member that must be a list of objects.
func (r *idl) objects(n object, name string) (list []object) {
	for i, element := range r.list(n, name) {
		member, ok := element.(object)
		if !ok {
			r.fail("%s.%d: must be an object", name, i)
		}
		list = append(list, member)
	}
	return list
}

// nodes returns a member that must be a list of Codama's nodes of a kind, or of any kind if that
// is empty.
func (r *idl) nodes(n object, name, kind string) (list []object) {
	for i, element := range r.list(n, name) {
		node, _ := element.(object)
		if elementKind, ok := node["kind"].(string); !ok || kind != "" && elementKind != kind {
			r.fail("%s.%d: must be a %s", name, i, cmp.Or(kind, "node"))
		}
		list = append(list, node)
	}
	return list
}

// node returns a member that must be one of Codama's nodes.
func (r *idl) node(n object, name string) object {
	member, _ := n[name].(object)
	if _, ok := member["kind"].(string); !ok {
		r.fail("%s: must be a node", name)
	}
	return member
}

// text returns a member that must be a text.
func (r *idl) text(n object, name string) string {
	text, ok := n[name].(string)
	if !ok || text == "" {
		r.fail("%s: must be a text", name)
	}
	return text
}

// size returns a member that must be a number of bytes or elements.
func (r *idl) size(n object, name string) int {
	size, ok := n[name].(int64)
	if !ok || size < 0 || size > 1<<16 {
		r.fail("%s: must be a number from 0 to %d", name, 1<<16)
		return 0
	}
	return int(size)
}

func (r *idl) address(n object, name, member string) []byte {
	text, _ := n[name].(string)
	address, err := solanaAddress(text)
	if err != nil {
		r.fail("%s: %w", member, err)
	}
	return address
}

// errUnread is the error of a type that is valid in a Codama IDL but not supported. It
// makes its instruction unreadable, not the file.
var errUnread = errors.New("is not supported")
