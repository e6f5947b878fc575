// Package secp256k1 makes and verifies signatures over the group of
// gitlab.com/yawning/secp256k1-voi, which is pure Go, uses formally verified
// field arithmetic (fiat-crypto), and is written to run in constant time. With cgo,
// libsecp256k1 multiplies the generator, in half the time and also in constant time.
//
//	SignSchnorr    BIP-340 with auxiliary data of zeros, in every build
//	SignECDSA      RFC 6979, low s: where go-ethereum's libsecp256k1 is not linked
//	VerifySchnorr  BIP-340: libsecp256k1 with cgo, secp256k1-voi without
//	OnCurve        whether an x-only key is on the curve, by secp256k1-voi
//	OutputKey      BIP-341's tweak of a public key, cached
//
// The schemes are composed here from the library's points and scalars, because its own
// private keys multiply the generator three times for a signature whose public key is
// known, and keep copies of the secret that cannot be wiped. This package does no
// arithmetic on the curve or its fields itself. Tests compare every signature, byte for
// byte, with those of libsecp256k1, btcec and decred.
//
// secp256k1-voi has not been audited and has not changed since September 2023. Its
// arithmetic uses 64-bit words: constant time is not promised on 32-bit processors.
//
// Do not link the system's libsecp256k1 together with go-ethereum's copy: their symbols
// collide, and signatures are wrong without an error.
package secp256k1
