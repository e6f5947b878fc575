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
// A private key needs a public object with the same CKA_ID, or a public key in
// Options.PublicKeys: PKCS#11 does not derive one. Public objects can be planted and
// destroyed without a PIN, so a key is what its private object proves: it signs once
// before its public key is believed; of several public keys, the one that verifies is
// taken; and a key that has proved itself keeps its public key. Private keys of one
// organization that share a CKA_ID are all skipped, as a request cannot say which it
// means. Skipped says why keys are not used, Extractable which of those in use can be
// taken out of the token.
//
// New keys get a UUID as CKA_ID. Where the token keeps fewer bytes (a YubiHSM 2 keeps
// two), they get random bytes of the length that it keeps.
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
// too, the error is keystore.ErrUnavailable, and the next call tries again; a token
// that was removed is found again in whichever slot it returns to. Ready tells whether
// a key could sign now.
//
// A PIN that the token refuses is not tried again by this process. Nor is any PIN
// tried on a token which reports that the last one was wrong, that one more locks it,
// or that it is locked (CKF_USER_PIN_COUNT_LOW, _FINAL_TRY, _LOCKED), unless
// Options.RetryPIN says so: a supervisor that restarts a program with a wrong PIN must
// not lock the token. The error is ErrPIN.
//
// All calls obey their context, also while the token is busy or hangs. What was begun
// goes on in the background, in a goroutine of its own. Close waits five seconds for
// it. A key that is made when its caller has left is removed again. With one or two
// sessions, waking that goroutine up costs up to a fifth of SoftHSM's throughput, with
// more of them nothing. A call whose context cannot end has no need of it, and runs
// where it is called.
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
// crypto11 opens the module, logs in to the token, and must close it last; it knows
// neither secp256k1 nor Ed25519, and its session pool keeps dead sessions. So a second
// binding to the same module, miekg/pkcs11, does the rest, with sessions of our own. A
// program can open any number of Stores and ProofSigners, by any path of the module: it
// is initialized once and finalized when the last of them is closed, as some modules
// answer CKR_OK to a second C_Initialize. p11-kit's client and proxy modules give each
// binding a state of its own, and are initialized for each. If something else in the
// program has initialized the module, opening one fails.
package pkcs11
