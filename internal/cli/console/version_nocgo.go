//go:build !cgo

package console

const (
	cgo       = false
	secp256k1 = "secp256k1-voi"
)
