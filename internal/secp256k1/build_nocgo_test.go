//go:build !cgo

package secp256k1

const withLibsecp256k1 = false
