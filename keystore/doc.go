// Package keystore defines keys as handles that sign, without access to secret bytes.
//
// A [Keystore] finds handles by organization and [Locator]. A handle is a [Key]: an id, a
// public key, and the signature schemes that it supports, which are found by type assertion:
//
//	[ECDSASigner]   ECDSA on secp256k1, with recovery id (Ethereum, Tron, Tempo, Bitcoin)
//	[LowRSigner]    the same with a low r, as Bitcoin's wallets expect
//	[SchnorrSigner] BIP-340 on secp256k1, with taproot tweaks (Bitcoin)
//	[Ed25519Signer] Ed25519 (Solana)
//
// The backends are the packages memory (secrets provided by the embedder), file (a directory of
// age-encrypted files) and pkcs11 (an HSM; linked only by programs that import it). To write
// another backend, implement Keystore and run the contract suite in package keystoretest.
// [FinishECDSA] completes and verifies what devices and services return; the errors of this
// package say what went wrong, such as [ErrDenied] and [ThrottledError].
//
// # Who may sign what
//
// The holder of a Key can sign any digest with it. The engine never hands one out: everything
// that it signs has been parsed by a chain first. An embedder that calls Find is responsible
// for what it signs with the handle.
//
// # Secrets
//
// Keystores hold secrets in a [Secret] and nowhere else. It prints, logs and marshals as
// "[redacted]", and Destroy overwrites it. Its bytes are outside the Go heap, in pages that are
// locked in memory and excluded from core dumps where the system allows it. [Secret.Reveal] is
// the only access to them. A secret is passed to a keystore as [SecretBytes], a slice that its
// creator wipes.
package keystore
