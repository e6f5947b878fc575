// Package keystore says what a key is to the engine: a handle that signs, never
// a piece of bytes.
//
// A [Keystore] finds handles by organization and [Locator]. A handle is a [Key]:
// an id, a public key, and the signature schemes it is capable of, which are
// found by type assertion:
//
//	[ECDSASigner]   ECDSA on secp256k1, with recovery id (Ethereum, Tron, Tempo, Bitcoin)
//	[SchnorrSigner] BIP-340 on secp256k1, with taproot tweaks (Bitcoin)
//	[Ed25519Signer] Ed25519 (Solana)
//
// Backends are the packages memory (keys an embedder brings), file (a directory
// of age-encrypted files) and, linked only by who imports it, pkcs11. To write
// another one, implement Keystore and run the suite in package keystoretest
// against it: it is the contract in executable form.
//
// # Who may sign what
//
// A holder of a Key can sign any digest with it. The engine never hands one
// out: everything it signs has been parsed by a chain first. An embedder who
// calls Find holds a handle, and what is signed with it is theirs to answer for.
//
// # Secrets
//
// [Secret] is the one type that holds secret bytes. It prints, logs and marshals
// as "[redacted]", lives outside the Go heap in pages that are locked in memory
// and left out of core dumps where the system allows it, and is overwritten by
// Destroy. [Secret.Reveal] is the only way to its bytes.
package keystore
