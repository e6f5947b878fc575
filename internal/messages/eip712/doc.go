// Package eip712 reads and hashes typed data (EIP-712) strictly.
//
// # Input
//
// One JSON object (RFC 8259) with exactly these four members, in any order:
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
//	bytes, bytesN     "0x" and an even number of hex digits; for bytesN exactly N bytes
//	uintN, intN       a JSON integer of magnitude up to 2^53−1, or text: decimal
//	                  without leading zeros, or "0x" and hex digits
//	T[], T[n]         an array; for T[n] with exactly n elements
//	a struct          an object with exactly the members of its type
//
// # Refused
//
// Two wallets that read the same text differently sign different things. Refused are
// duplicate, missing, null and additional members; undefined, cyclic and duplicate
// types and members; names that are not identifiers; the aliases int and uint; numbers
// with a fraction or an exponent, or out of range; hex and arrays of a wrong length;
// more than MaxDepth levels; and text after the object. Each refusal is a
// *chains.ParseError with the path of the member and the byte offset.
//
// # Output
//
// [TypedData.Digest] is keccak256(0x19 ‖ 0x01 ‖ domainSeparator ‖ hashStruct(message)).
package eip712
