// Package chains says what a chain is to the engine.
//
// A [Chain] reads raw unsigned bytes strictly into a [Transaction]: a view over
// those very bytes. One encoding of a transaction is accepted, nothing may be
// left over, and what is signed later is a hash of the bytes that were read,
// with the signature spliced into them. No chain decodes to a struct, encodes
// the struct again and signs that: it is where signers have signed something
// else than they showed.
//
// What a reader refuses as malformed is a [ParseError] that names the field and
// the byte offset; nothing can allow it. A transaction that is well-formed but
// dangerous carries a [Hazard] by name, which the engine refuses unless the
// name is allowed.
//
// [Summary] is what a person, a policy and a record see of a transaction. It
// depends on the bytes alone.
//
// The chains are in the packages below: each has the same files, so that who
// knows one finds everything in the next.
package chains
