// Package pkcs11 keeps keys in an HSM, through the PKCS#11 module (a C library) of its
// vendor. Secrets are generated in the HSM and never leave it.
//
//	const uri = "pkcs11:token=prod?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/countersign/pin"
//	keys, err := pkcs11.Open(ctx, uri, pkcs11.Options{})
//	defer keys.Close()
//	info, err := keys.Generate(ctx, "org", "hot wallet", keystore.CurveSecp256k1)
//
// docs/hsm.md is a walkthrough with SoftHSM. The package needs cgo; without it, Open
// returns an error that says so.
//
// # Keys
//
// A Store has the private keys on the token that can sign, on secp256k1 (CKK_EC) and
// Ed25519 (CKK_EC_EDWARDS). The id of a key is its CKA_ID: as a UUID if it has 16 bytes,
// otherwise in hex. The organization of a key is in its CKA_LABEL:
//
//	organization "/" name         % and / in the organization are written %25 and %2F
//
// The URI can give the whole token to one organization instead; the label is then the name:
//
//	pkcs11:token=prod?countersign-organization=6e1f8f5e-1111-4222-8333-444455556666&…
//
// Organizations that share a token are separated by this package alone. To have the HSM
// separate them, give each its own token and PIN.
//
// A private key needs a public object with the same CKA_ID, or a public key in Options.PublicKeys,
// because PKCS#11 cannot derive one. Public objects can be planted and destroyed without a PIN, so
// a key must prove its public key by a signature before it is used. Of several public keys, the one
// under which the signature verifies is taken, and a proved key keeps its public key. Private keys
// of one organization that share a CKA_ID are all skipped, because a request could not choose
// between them. Skipped lists the keys that are not used, with the reasons; Extractable lists those
// in use whose secret can be extracted from the token.
//
// New keys get a UUID as CKA_ID. If the token stores fewer bytes (a YubiHSM 2 stores two),
// they get random bytes of that length.
//
// # Signatures
//
// Every signature is verified before it is returned, in the same step that determines v and lowers
// s. The error of one that does not verify is keystore.ErrSignatureCheck. Tokens use random nonces:
// equal digests have different ECDSA signatures. PKCS#11 has no mechanism for BIP-340: a key is
// found by its taproot address, but keystore.AsSchnorr returns an error.
//
// # Failures
//
// A Store uses at most Options.Sessions sessions, each in one goroutine at a time. A
// session in which anything fails is never used again. If the session, the login, the
// token's slot or the handle of a key is gone, the operation is retried once in a new
// session, after another login if necessary. If that fails too, the error is
// keystore.ErrUnavailable, and the next call tries again. A token that was removed is found
// in whichever slot it returns to. Ready reports whether a key could sign now.
//
// A process never retries a PIN that the token has refused. Nor does it try any PIN on a
// token that reports that the last one was wrong, that one more wrong PIN locks it, or that
// it is locked (CKF_USER_PIN_COUNT_LOW, _FINAL_TRY, _LOCKED), unless the URI has
// countersign-retry-pin=yes (a locked token is never tried): a supervisor that restarts a program with a wrong
// PIN must not lock the token. The error is ErrPIN.
//
// All calls obey their context, even while the token is busy or hangs. An operation that has begun
// continues in its own goroutine, for which Close waits five seconds. A key whose generation
// finishes after the caller has given up is deleted. With one or two sessions, switching to that
// goroutine costs up to a fifth of SoftHSM's throughput, with more sessions nothing. A call without
// a cancellable context runs in the caller's goroutine.
//
// # The app-proof key
//
// OpenProofSigner returns the P-256 key for Config.ProofSigner. It has sessions of its own,
// in a pool like a Store's. A Store does not find the key.
//
// # What stays in memory
//
// The PIN is kept in a keystore.Secret, to log in again. The Go bindings of PKCS#11
// (crypto11 and miekg/pkcs11) take it as a string: every login leaves a copy to the
// garbage collector and one on the C heap.
//
// # Implementation
//
// crypto11 opens the module, logs in to the token, and must be closed last. It supports neither
// secp256k1 nor Ed25519, and its session pool keeps dead sessions. So the other binding to the same
// module, miekg/pkcs11, does the rest, with our own sessions. A program can open any number of
// Stores and ProofSigners, by any path of the module: it is initialized once and finalized when the
// last of them is closed, because some modules answer CKR_OK to a second C_Initialize. p11-kit's
// client and proxy modules keep separate state for each binding and are initialized for each.
// Opening fails if something else in the program has initialized the module.
package pkcs11
