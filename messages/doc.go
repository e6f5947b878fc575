// Package messages signs what is signed besides transactions: typed data, personal
// messages, delegations, off-chain messages. Each is a structure that its chain reads
// strictly, shows, has effects and hazards for, and hashes itself. A bare hash is never
// signed.
//
// A message implements chains.Transaction and is judged and signed as one. Encoding and
// hash function of a payload say which form it has, and the chains read it:
//
//	EIP712 + NO_OP                   typed data: Ethereum (EIP-712), Tron (TIP-712)
//	EIP7702_AUTHORIZATION + NO_OP    an authorization: Ethereum
//	HEX or TEXT + KECCAK256          the preimage of a personal message: Ethereum, Tron
//	HEX or TEXT + NOT_APPLICABLE     an off-chain message, a text, or the message of a transaction: Solana
//	HEX or TEXT + SHA256             raw_data of a transaction: Tron
//	HEX or TEXT + DOUBLE_SHA256      the preimage of a message of BIP-137: Bitcoin
//
// Everything else is refused, with an error that says what to send instead.
package messages
