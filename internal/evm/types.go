package evm

import (
	"slices"
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

func (t *abiType) setRole(r role) {
	t.role = r
	if t.kind == kindArray && r != "" {
		t.members[0].setRole(r)
	}
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
		return slices.ContainsFunc(t.members, func(member abiType) bool { return member.dynamic() })
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
