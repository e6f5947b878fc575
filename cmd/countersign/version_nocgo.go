//go:build !cgo

package main

const (
	cgo       = false
	secp256k1 = "secp256k1-voi"
)
