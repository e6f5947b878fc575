//go:build cgo

package console

const (
	cgo       = true
	secp256k1 = "libsecp256k1"
)
