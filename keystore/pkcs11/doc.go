// Package pkcs11 keeps keys in an HSM, through its PKCS#11 module: a C library
// that comes with it. Secrets are made in the HSM and never leave it.
//
//	const uri = "pkcs11:token=prod?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/countersign/pin"
//	keys, err := pkcs11.Open(ctx, uri, pkcs11.Options{})
//	defer keys.Close()
//	info, err := keys.Generate(ctx, "org", "hot wallet", keystore.CurveSecp256k1)
//
// docs/hsm.md goes from nothing to a signature with SoftHSM. The package needs
// cgo; without it, Open says so.
//
// # Which keys there are
//
// The private keys on the token that can sign, on secp256k1 (CKK_EC) and Ed25519
// (CKK_EC_EDWARDS). A key's id is its CKA_ID: 16 bytes are a UUID, anything else
// is hex. Whose it is, its CKA_LABEL says:
//
//	organization "/" name         % and / in the organization are written %25 and %2F
//
// or the URI does, for a whole token, and then the label is the name:
//
//	pkcs11:token=prod?countersign-organization=6e1f8f5e-1111-4222-8333-444455556666&…
//
// Organizations that share a token are kept apart by this package. Where the
// HSM is to keep them apart, give each a token and a PIN of its own.
//
// A private key needs a public object with the same CKA_ID beside it, or a
// public key in Options.PublicKeys: PKCS#11 does not derive one. Public objects
// can be planted without a PIN, so that a key is believed to have a public key
// when it has signed for it, once in a process. Keys that cannot be used are
// left out; LeftOut says why.
//
// # Signatures
//
// Every signature is verified before it is returned, in the step that finds out
// v and lowers s; one that does not verify is keystore.ErrSignatureCheck. Tokens
// draw nonces: equal digests have different ECDSA signatures. There is no BIP-340
// in PKCS#11: a key is found by its taproot address, but keystore.AsSchnorr says
// that it cannot sign for it.
//
// # Failures
//
// Options.Sessions sessions are used at most, each by one goroutine at a time. A
// session in which anything fails is never used again. If the session, the
// login, the token's slot or the handle of a key turns out to be gone, the
// operation is tried once more, in a new session, logged in anew. If that fails
// too, the error is ErrUnavailable, and the next call tries again; a token that
// was away is found where it is back. A PIN that the token refuses is not tried
// again before the program is restarted: tokens lock themselves.
//
// All calls obey their context, also while the token is busy or hangs; only Open
// waits for the login. What was begun goes on behind the caller's back, in a
// goroutine of its own; Close waits for it. A key that is made when nobody waits
// for it any more is removed again. With one or two sessions, waking that goroutine
// up costs up to a fifth of SoftHSM's throughput, with more of them nothing. A
// call whose context cannot end has no need of it, and runs where it is called.
//
// # The app-proof key
//
// OpenProofSigner is the P-256 key for Config.ProofSigner, by way of crypto11.
// A Store does not find it.
//
// # What stays in memory
//
// The PIN is in a keystore.Secret, for logging in anew. The bindings of PKCS#11
// for Go (crypto11 and miekg/pkcs11) take it as a string: a copy is left to the
// garbage collector with every login, and one to the C heap.
//
// # How
//
// crypto11 opens the module, finds and logs in to the token, and must close it
// last; it knows neither secp256k1 nor Ed25519, and its session pool keeps dead
// sessions. So a second binding to the same module, miekg/pkcs11, does the rest,
// with sessions of our own under the same login. A program can open any number
// of Stores and ProofSigners; but if something else in it has initialised the
// module, opening one fails.
package pkcs11
