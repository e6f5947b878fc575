package evm

import (
	"strconv"
	"strings"
)

// kind is the kind of an ABI type, sizes aside.
type kind uint8

const (
	kindUint kind = iota
	kindInt
	kindAddress
	kindBool
	kindFixed  // bytesN
	kindBytes  // bytes
	kindString // string
	kindTuple
	kindArray
)

// abiType is a type of the contract ABI, with the role of its values in their function.
// It is parsed from text such as
//
//	(address:target to,uint256:native value,bytes:call call)[] calls
//
// which is the ABI's own notation, with a role after a colon and the name of the
// parameter after a space. The role of an array is that of its elements.
type abiType struct {
	kind    kind
	size    int       // bytes of uintN, intN and bytesN; elements of an array, −1 if its length is encoded
	members []abiType // of a tuple; of an array its one element
	role    role
	name    string
}

// role is what a value means beyond its type.
type role string

// The roles. Those of calls say how the contract makes a call in its arguments: target,
// native and operation belong to the call next to them.
const (
	roleAmount    role = "amount"    // of the called token, in its smallest unit
	roleAllowance role = "allowance" // what another party may spend
	roleApproval  role = "approval"  // whether another party may spend everything
	roleTarget    role = "target"    // address that the call goes to
	roleNative    role = "native"    // native value that goes with the call
	roleOperation role = "operation" // of a Safe: 0 call, 1 delegatecall
	roleOptional  role = "optional"  // whether the call may fail while the others stand
	roleRequired  role = "required"  // whether no call of the function may
	roleCall      role = "call"      // call data; the contract makes the call
	roleSelf      role = "self"      // call data that the contract runs on itself, for the same caller
	roleOp        role = "op"        // call data that an EntryPoint sends to the account
	// call data that a contract sends to the target, or to itself, for the account "from" (ERC-2771)
	roleForwarded  role = "forwarded"
	roleSent       role = "sent"       // call data that the account "from" sends to the target
	roleFactory    role = "factory"    // address and call data that deploy an account
	rolePacked     role = "packed"     // transactions of a Safe's multiSend
	roleExecutions role = "executions" // executions of ERC-7579 and ERC-7821, as the mode says
	roleCommands   role = "commands"   // commands of a Universal Router, whose inputs are another argument
	roleTime       role = "time"       // seconds since 1970
	// of typed data: the contract that acts on the signature, if the domain names another
	roleVerifier role = "verifier"
)

// parseType parses one type from the start of text and returns the rest.
func parseType(text string) (t abiType, rest string) {
	if strings.HasPrefix(text, "(") {
		t.kind = kindTuple
		t.members, rest = parseTypes(text[1:])
	} else {
		end := strings.IndexAny(text, "[:, )")
		if end < 0 {
			end = len(text)
		}
		t, rest = elementary(text[:end]), text[end:]
	}
	for strings.HasPrefix(rest, "[") {
		digits, after, _ := strings.Cut(rest[1:], "]")
		length := -1
		if digits != "" {
			length = mustAtoi(digits)
		}
		t, rest = abiType{kind: kindArray, size: length, members: []abiType{t}}, after
	}
	return parseName(t, rest)
}

// parseName parses the role and the name after a type.
func parseName(t abiType, text string) (abiType, string) {
	end := strings.IndexAny(text, ",)")
	if end < 0 {
		end = len(text)
	}
	suffix, name, _ := strings.Cut(text[:end], " ")
	t.name = name
	t.setRole(role(strings.TrimPrefix(suffix, ":")))
	return t, text[end:]
}

func (t *abiType) setRole(r role) {
	t.role = r
	if t.kind == kindArray && r != "" {
		t.members[0].setRole(r)
	}
}

// parseTypes parses a list of types up to its closing parenthesis.
func parseTypes(text string) (types []abiType, rest string) {
	for text != "" && text[0] != ')' {
		var t abiType
		t, text = parseType(text)
		types = append(types, t)
		text = strings.TrimPrefix(text, ",")
	}
	return types, strings.TrimPrefix(text, ")")
}

func elementary(name string) abiType {
	switch {
	case name == "address":
		return abiType{kind: kindAddress, size: 20}
	case name == "bool":
		return abiType{kind: kindBool, size: 1}
	case name == "string":
		return abiType{kind: kindString}
	case name == "bytes":
		return abiType{kind: kindBytes}
	case strings.HasPrefix(name, "bytes"):
		return abiType{kind: kindFixed, size: mustAtoi(name[5:])}
	case strings.HasPrefix(name, "uint"):
		return abiType{kind: kindUint, size: mustAtoi(name[4:]) / 8}
	case strings.HasPrefix(name, "int"):
		return abiType{kind: kindInt, size: mustAtoi(name[3:]) / 8}
	}
	panic("evm: no type of the contract ABI: " + name)
}

func mustAtoi(digits string) int {
	number, err := strconv.Atoi(digits)
	if err != nil {
		panic("evm: no size of a type: " + digits)
	}
	return number
}

// String returns the type as selectors are computed from it.
func (t abiType) String() string {
	switch t.kind {
	case kindAddress:
		return "address"
	case kindBool:
		return "bool"
	case kindBytes:
		return "bytes"
	case kindString:
		return "string"
	case kindFixed:
		return "bytes" + strconv.Itoa(t.size)
	case kindInt:
		return "int" + strconv.Itoa(8*t.size)
	case kindTuple:
		return "(" + typeList(t.members) + ")"
	case kindArray:
		if t.size < 0 {
			return t.members[0].String() + "[]"
		}
		return t.members[0].String() + "[" + strconv.Itoa(t.size) + "]"
	}
	return "uint" + strconv.Itoa(8*t.size)
}

func typeList(types []abiType) string {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = t.String()
	}
	return strings.Join(names, ",")
}

// dynamic reports whether values of the type are in a tail.
func (t *abiType) dynamic() bool {
	switch t.kind {
	case kindBytes, kindString:
		return true
	case kindTuple:
		for i := range t.members {
			if t.members[i].dynamic() {
				return true
			}
		}
		return false
	case kindArray:
		return t.size < 0 || t.members[0].dynamic()
	}
	return false
}

// head returns the number of bytes that a value of the type takes among the heads.
func (t *abiType) head() int {
	switch {
	case t.dynamic():
		return word
	case t.kind == kindTuple:
		return heads(t.members)
	case t.kind == kindArray:
		return t.size * t.members[0].head()
	}
	return word
}

func heads(types []abiType) (size int) {
	for i := range types {
		size += types[i].head()
	}
	return size
}

// word is the unit of the contract ABI: 32 bytes.
const word = 32
