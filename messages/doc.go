// Package messages reads what is signed beside transactions: typed data, personal
// messages, delegations, off-chain messages. It is the second typed door: what comes
// in is a structure that is read strictly, shown, has effects and hazards, and is
// hashed here. A hash is never signed as such.
//
// A message implements chains.Transaction, so that it goes the road of one.
// [Reader.Read] tells by encoding and hash function which kind a payload is:
//
//	EIP712 + NO_OP                   package eip712, package structures
//	EIP7702_AUTHORIZATION + NO_OP    package delegation
//	HEX or TEXT + KECCAK256          package personal: the preimage
//	HEX or TEXT + NOT_APPLICABLE     package solanamsg; a message of a transaction is read as one
//	HEX + SHA256                     raw_data of a Tron transaction, read as one
//
// All else is refused, with what to send instead.
package messages
