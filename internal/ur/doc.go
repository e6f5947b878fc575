// Package ur carries messages across an air gap as text that fits into QR codes.
//
// A message is deterministic CBOR with a type, a Uniform Resource (BCR-2020-005).
// A short one is a single code. A long one is split into fragments, and a
// fountain code (BCR-2024-001) makes an endless sequence of parts from them: any
// set of parts that is a little larger than the message completes it, whichever
// parts a camera misses.
//
//	ur:eth-sign-request/<bytewords>
//	ur:psbt/7-17/<bytewords>
//
// [NewEncoder] makes the parts of a message and [Collector] puts messages
// together. A collector takes whatever a camera read, in any order, from anyone:
// its memory and its work for each part are bounded.
//
// The package has the types that Countersign takes and makes, its own
// ([Request], [Vote], [Answer]) and those of other wallets ([EthSignRequest],
// [SolSignRequest], [TronSignRequest], PSBTs). They are read strictly: unknown
// members, duplicate keys, indefinite lengths and trailing bytes are refused.
//
// BBQr (bbqr.org), the series of codes that Bitcoin wallets use, is read and not
// written.
package ur
