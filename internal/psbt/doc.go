// Package psbt reads partially signed Bitcoin transactions strictly: version 0 (BIP-174) and
// version 2 (BIP-370), with the taproot fields of BIP-371 and the MuSig2 fields of BIP-373.
//
//	70736274 ff                           "psbt" and 0xff
//	global map  input map…  output map…   one map per input and per output
//
//	map     record… 00
//	record  <key length> <key type> <key data>  <value length> <value>
//
// Lengths and key types are compact sizes, each in its shortest form. Version
// 0 has the whole unsigned transaction in its global map, which says how many
// maps follow; version 2 has its parts in the maps and two counts.
//
// [Read] accepts exactly one encoding and no trailing bytes: it refuses a map or a byte too many, a
// key that is in a map twice, a field of the other version, a missing field, and a known field
// whose key or value has the wrong shape. Unknown and proprietary fields are kept.
//
// The result is a view over the bytes: nothing is re-encoded. Records are added by
// splicing them in with [AppendSpliced], at the offset that [Map.InsertAt] returns.
//
// Package psbt does not judge whether the transaction should be signed: see package bitcoin.
package psbt
