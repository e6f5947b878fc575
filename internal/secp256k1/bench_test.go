package secp256k1

import (
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// BenchmarkSign times signatures whose public key is known, and btcec's BIP-340.
func BenchmarkSign(b *testing.B) {
	secret, digest := draw(7)
	public := compressed(secret)
	private, _ := btcec.PrivKeyFromBytes(secret[:])
	for name, sign := range map[string]func() error{
		"ecdsa":   func() error { _, err := SignECDSA(digest, secret[:]); return err },
		"schnorr": func() error { _, err := SignSchnorr(digest, secret[:], public); return err },
		"taproot": func() error { _, err := SignTaproot(digest, secret[:], public, nil); return err },
		"schnorr-btcec": func() error {
			_, err := schnorr.Sign(private, digest[:], schnorr.CustomNonce([32]byte{}), schnorr.FastSign())
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				testenv.Must(b, sign())
			}
		})
	}
}

// BenchmarkVerify times the verifications of one BIP-340 signature.
func BenchmarkVerify(b *testing.B) {
	secret, digest := draw(7)
	public := compressed(secret)
	signature, err := SignSchnorr(digest, secret[:], public)
	testenv.Must(b, err)
	x := [32]byte(public[1:])
	for name, verify := range map[string]func() bool{
		"build": func() bool { return VerifySchnorr(x, digest, signature) },
		"voi":   func() bool { return verifyWithoutRecovery(x, digest, signature) },
		"btcec": func() bool { return verifyBtcec(x[:], digest[:], signature[:]) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if !verify() {
					b.Fatal("does not verify")
				}
			}
		})
	}
}
