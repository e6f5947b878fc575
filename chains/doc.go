// Package chains defines what a chain is to the engine.
//
// A [Chain] parses raw unsigned bytes strictly into a [Transaction], which is a view of
// those bytes. Exactly one encoding of a transaction is accepted, with nothing left
// over. What is signed is a hash of the very bytes that were parsed, and the signature
// is spliced into them. No chain decodes to a struct and signs a re-encoding of it: that
// is how signers have signed something other than what they showed.
//
// Malformed bytes are refused with a [ParseError] that names the field and the byte
// offset; no setting allows them. A well-formed but dangerous transaction carries a
// [Hazard], which the engine refuses unless its name is allowed.
//
// A [Summary] is what a person, a policy and a record see of a transaction. It depends
// on the bytes alone.
//
// The chains are the packages below. docs/adding-a-chain.md lists the files that each of them has.
package chains
