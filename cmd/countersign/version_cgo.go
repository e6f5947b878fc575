//go:build cgo

package main

const (
	cgo       = true
	secp256k1 = "libsecp256k1"
)
