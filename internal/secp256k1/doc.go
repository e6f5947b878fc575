// Package secp256k1 makes and verifies signatures with two libraries that are written to
// run in constant time: libsecp256k1, as go-ethereum links it with cgo, and
// gitlab.com/yawning/secp256k1-voi, which is pure Go and uses formally verified field
// arithmetic (fiat-crypto).
//
//	               with cgo                        without
//	SignECDSA      libsecp256k1                    secp256k1-voi
//	SignSchnorr    libsecp256k1 for k·G, and voi   secp256k1-voi
//	VerifySchnorr  libsecp256k1                    secp256k1-voi
//	PublicKey      libsecp256k1                    secp256k1-voi
//	OnCurve        libsecp256k1                    secp256k1-voi
//	OutputKey      libsecp256k1 for t·G, and voi   secp256k1-voi
//
// Signatures are deterministic and the same in both builds: ECDSA by RFC 6979 with a low
// s, BIP-340 with auxiliary data of zeros.
//
// The nonces of RFC 6979 are derived in Go, for both builds and before the curve library
// is called. libsecp256k1 derives the same ones, but with portable C that takes a fifth of
// a signature; crypto/sha256 uses the processor's instructions on every platform that has
// them. The alternative, a compression function with such instructions in the C preamble,
// would have been a hash function of our own for one platform. The price is that a secret
// is hashed on a Go stack, as it is for BIP-340 and Ed25519: the state is wiped, and so is
// the part of the stack that crypto/sha256 used. No branch or index depends on a secret,
// except whether a nonce is rejected, as in libsecp256k1: one in 2¹²⁷ is.
//
// Where secp256k1-voi is used, the schemes are composed here from its points and scalars, because
// its own private keys multiply the generator three times for a signature whose public key is
// known, and keep copies of the secret that cannot be wiped. go-ethereum's copy of libsecp256k1 has
// no BIP-340. This package does no arithmetic on the curve or its fields itself. Tests compare
// every signature, byte for byte, with those of libsecp256k1, btcec and decred.
//
// secp256k1-voi has not been audited and has not changed since September 2023. Its
// arithmetic uses 64-bit words: constant time is not promised on 32-bit processors.
//
// Do not link the system's libsecp256k1 together with go-ethereum's copy: their symbols
// collide, and signatures are wrong without an error.
package secp256k1
