// Package ur encodes messages as text for QR codes, which carry them across an air gap.
//
// A message is a Uniform Resource (BCR-2020-005): deterministic CBOR with a type. A
// short message is a single code. A long one is split into fragments, from which a
// fountain code (BCR-2024-001) generates an endless sequence of parts: any set of parts
// slightly larger than the message completes it, whichever parts the camera misses.
//
//	ur:eth-sign-request/<bytewords>
//	ur:psbt/7-17/<bytewords>
//
// An [Encoder] generates the parts of a message and a [Collector] reassembles messages.
// The collector's input is untrusted and in any order: its memory, and its work for
// each part, are bounded.
//
// The package has Countersign's own types ([Request], [Vote], [Answer]) and those of other wallets
// ([EthSignRequest], [SolSignRequest], [TronSignRequest], PSBTs). They are read strictly: unknown
// members, duplicate keys, indefinite lengths and trailing bytes are refused.
//
// BBQr (bbqr.org), the sequence of codes that Bitcoin wallets use, is read but not written.
package ur
