package secp256k1

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
)

// BenchmarkTimingLeak reports |t| of Welch's test on the times of two classes of
// signatures, whose secrets, nonces or both differ (Reparaz, Balasch, Verbauwhede,
// "Dude, is my code constant time?", 2017). Above 10 the classes can be told apart;
// below 5 the measurements show no difference. btcec, which is not constant time,
// is the control: it must be well above 10.
//
// For a fixed pair of secret and digest the nonce is fixed as well. The pair is chosen
// so that its nonce is the lowest of 4,096, for which multiplication in variable time
// is fastest.
func BenchmarkTimingLeak(b *testing.B) {
	for name, sign := range map[string]func(secret, digest [32]byte, public [33]byte){
		"ecdsa": func(secret, digest [32]byte, _ [33]byte) { _, _ = SignECDSA(digest, secret[:]) },
		"bip340": func(secret, digest [32]byte, public [33]byte) {
			_, _ = SignSchnorr(digest, secret[:], public)
		},
		"control-btcec": func(secret, digest [32]byte, _ [33]byte) {
			private, _ := btcec.PrivKeyFromBytes(secret[:])
			_, _ = schnorr.Sign(private, digest[:], schnorr.CustomNonce([32]byte{}), schnorr.FastSign())
		},
	} {
		b.Run(name, func(b *testing.B) { measureLeak(b, sign) })
	}
}

func measureLeak(b *testing.B, sign func(secret, digest [32]byte, public [33]byte)) {
	fixedSecret, fixedDigest := lowNonce()
	fixedPublic := compressed(fixedSecret)
	var times [2][]float64
	for i := range b.N {
		class := rand.IntN(2)
		secret, digest := draw(1000 + i)
		public := compressed(secret)
		if class == 0 {
			secret, digest, public = fixedSecret, fixedDigest, fixedPublic
		}
		start := time.Now()
		sign(secret, digest, public)
		times[class] = append(times[class], float64(time.Since(start)))
	}
	b.ReportMetric(welch(cropped(times[0]), cropped(times[1])), "|t|")
}

// lowNonce returns the pair with the lowest ECDSA nonce of 4,096, under a secret of 1.
func lowNonce() (secret, digest [32]byte) {
	secret[31] = 1
	lowest := [32]byte{0xff}
	for i := range 4096 {
		_, drawn := draw(100_000 + i)
		var candidates nonces
		if candidates.start(&secret, &drawn, nil); slices.Compare(candidates.v[:], lowest[:]) < 0 {
			digest, lowest = drawn, candidates.v
		}
	}
	return secret, digest
}

func compressed(secret [32]byte) [33]byte {
	_, public := btcec.PrivKeyFromBytes(secret[:])
	return [33]byte(public.SerializeCompressed())
}

// cropped drops the slowest tenth: interrupts and garbage collections.
func cropped(times []float64) []float64 {
	slices.Sort(times)
	return times[:len(times)*9/10]
}

func welch(a, b []float64) float64 {
	meanA, varianceA := moments(a)
	meanB, varianceB := moments(b)
	return math.Abs(meanA-meanB) / math.Sqrt(varianceA/float64(len(a))+varianceB/float64(len(b)))
}

func moments(values []float64) (mean, variance float64) {
	for _, value := range values {
		mean += value / float64(len(values))
	}
	for _, value := range values {
		variance += (value - mean) * (value - mean) / float64(len(values)-1)
	}
	return mean, variance
}
