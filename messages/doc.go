// Package messages reads what is signed besides transactions: typed data, personal
// messages, delegations, off-chain messages. Each is a structure that is read
// strictly, shown, has effects and hazards, and is hashed here. A bare hash is never
// signed.
//
// A message implements chains.Transaction and is judged and signed as one.
// [Reader.Read] decides by encoding and hash function what kind a payload is:
//
//	EIP712 + NO_OP                   package eip712, package structures
//	EIP7702_AUTHORIZATION + NO_OP    package delegation
//	HEX or TEXT + KECCAK256          package personal: the preimage
//	HEX or TEXT + NOT_APPLICABLE     package solanamsg, or the message of a Solana transaction
//	HEX or TEXT + SHA256             raw_data of a Tron transaction
//	HEX or TEXT + DOUBLE_SHA256      package bip137: the preimage
//
// Everything else is refused, with an error that says what to send instead.
package messages
