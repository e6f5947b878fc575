// Package eip712 reads and hashes typed data (EIP-712) strictly.
//
// # In
//
// One JSON object (RFC 8259) with exactly four members, in any order:
//
//	types        {"EIP712Domain":[{"name","type"}…], "Mail":[…], …}
//	primaryType  the name of one of them, other than EIP712Domain
//	domain       a value of EIP712Domain
//	message      a value of primaryType
//
// # Values
//
//	bool              true or false
//	string            text
//	address           "0x" and 40 hex digits; mixed case must be the EIP-55 checksum
//	bytes, bytesN     "0x" and hex digits of whole bytes; of bytesN exactly N
//	uintN, intN       a JSON integer of magnitude up to 2^53−1, or text: decimal
//	                  without leading zeros, or "0x" and hex digits; in range
//	T[], T[n]         an array, of T[n] with exactly n elements
//	a struct          an object with exactly the members of its type
//
// # Refused
//
// Wallets hash typed data that they read loosely, and two of them that read one
// text differently sign different things. Refused here: duplicate, missing, null
// or additional members, undefined, cyclic or duplicate types and members, names
// that are no identifiers, the aliases int and uint, numbers with a fraction or an
// exponent or out of range, hex of odd or wrong length, arrays of a wrong length,
// more than MaxDepth levels, and text after the object. Each refusal is a
// *chains.ParseError with the member's path and the byte offset.
//
// # Out
//
// [TypedData.Digest] is keccak256(0x19 ‖ 0x01 ‖ domainSeparator ‖ hashStruct(message)).
package eip712
