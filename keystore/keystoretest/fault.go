package keystoretest

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/countersign-dev/countersign/keystore"
)

// Fault is something that a key service or an HSM does wrong when it is asked to sign.
type Fault string

// The faults. Of the first group, Fault.Alter returns the signature unchanged: what the
// service does is up to Backend.Fault.
const (
	NoFault   Fault = ""
	Throttled Fault = "throttled"      // too many requests
	Denied    Fault = "denied"         // the right to sign is missing
	Gone      Fault = "gone"           // the key does not exist any more
	Away      Fault = "away"           // the service cannot be reached
	Slow      Fault = "slow"           // the service does not answer
	Broken    Fault = "broken"         // the service reports a failure of its own
	Nonsense  Fault = "nonsense"       // the answer is not one of the service's protocol
	HighS     Fault = "high s"         // a signature on secp256k1 with s in the upper half
	LowS      Fault = "low s"          // the same with s in the lower half
	PaddedDER Fault = "padded DER"     // integers with a leading zero that they do not need
	OtherKey  Fault = "another key's"  // a signature of another key
	OtherText Fault = "of another"     // a signature of another digest or message
	Flipped   Fault = "flipped bit"    // one bit is wrong
	Truncated Fault = "truncated"      // the last byte is missing
	Longer    Fault = "longer"         // a byte follows
	Empty     Fault = "empty"          // there is no signature
	Zeros     Fault = "zeros"          // a signature of the right form, of zeros
	Ones      Fault = "ones"           // the same of ones
	Swapped   Fault = "swapped halves" // s in place of r, and r in place of s
	Twice     Fault = "twice"          // two signatures
)

// harmless are faults that a keystore corrects.
var harmless = []Fault{NoFault, HighS, LowS, PaddedDER}

// inService are the faults that are the service's, and not of a signature.
var inService = map[Fault]func(error) bool{
	Throttled: func(err error) bool { _, ok := errors.AsType[*keystore.ThrottledError](err); return ok },
	Denied:    func(err error) bool { return errors.Is(err, keystore.ErrDenied) },
	Gone: func(err error) bool {
		return errors.Is(err, keystore.ErrKeyNotFound) || errors.Is(err, keystore.ErrWithdrawn)
	},
	Away:     unavailable,
	Slow:     func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
	Broken:   unavailable,
	Nonsense: func(err error) bool { return unavailable(err) || errors.Is(err, keystore.ErrSignatureCheck) },
}

func unavailable(err error) bool { return errors.Is(err, keystore.ErrUnavailable) }

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{
		Throttled, Denied, Gone, Away, Slow, Broken, Nonsense, HighS, LowS, PaddedDER, OtherKey, OtherText,
		Flipped, Truncated, Longer, Empty, Zeros, Ones, Swapped, Twice,
	}
}

// patience is how long a signature by a service that does not answer is waited for.
const patience = 50 * time.Millisecond

// faults signs with each key while the service has each fault, and once more after it.
func (s suite) faults(t *testing.T) {
	store, keys := s.open(t)
	handles := map[string]keystore.Key{}
	for _, key := range keys {
		handles[key.OrganizationID+key.ID] = find(t, store, key)
	}
	had := 0
	for _, fault := range Faults() {
		if !s.Fault(t, store, fault) {
			continue
		}
		had++
		for _, key := range keys {
			checkFault(t, fault, key, handles[key.OrganizationID+key.ID])
		}
		if !s.Fault(t, store, NoFault) {
			t.Fatal("Backend.Fault(NoFault) must return true")
		}
		for _, key := range keys {
			checkFault(t, NoFault, key, find(t, store, key))
		}
	}
	if had == 0 {
		t.Error("Backend.Fault has no fault")
	}
}

// checkFault makes every signature of a key. Those of a harmless fault must verify, all others
// must fail with an error of the right class, and without a signature.
func checkFault(t *testing.T, fault Fault, key Key, handle keystore.Key) {
	t.Helper()
	for scheme, sign := range signatures(keystore.Verified(handle)) {
		ctx, cancel := context.WithCancel(t.Context())
		if fault == Slow {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), patience)
		}
		signature, err := sign(ctx, [32]byte{1, 2, 3})
		cancel()
		fits := func(err error) bool { return errors.Is(err, keystore.ErrSignatureCheck) }
		if class, ok := inService[fault]; ok {
			fits = class
		}
		switch {
		case slices.Contains(harmless, fault):
			if err != nil {
				t.Errorf("fault %q: %s of key %s: %v", fault, scheme, key.ID, err)
			}
		case !fits(err):
			t.Errorf("fault %q: %s of key %s: %v is not the error for it", fault, scheme, key.ID, err)
		case len(bytes.Trim(signature, "\x00")) > 0:
			t.Errorf("fault %q: %s of key %s: a signature is returned along with %v", fault, scheme, key.ID, err)
		}
	}
}

// Answer is a signature that a simulated service has made, in the service's own form.
type Answer struct {
	Signature []byte        // r ‖ s or DER, or an Ed25519 signature
	Ed25519   bool          // it is one
	OtherKey  func() []byte // makes the signature that another key would give
	OtherText func() []byte // makes the signature of something else
}

// Alter returns the signature that a service with this fault answers with. A fault that is not
// of signatures, or not of signatures of this form, changes nothing.
func (f Fault) Alter(answer Answer) []byte {
	signature := slices.Clone(answer.Signature)
	switch f {
	case OtherKey:
		return answer.OtherKey()
	case OtherText:
		return answer.OtherText()
	case Flipped:
		signature[len(signature)-2] ^= 4
	case Truncated:
		return signature[:len(signature)-1]
	case Longer:
		return append(signature, 0)
	case Empty:
		return []byte{}
	case Twice:
		return append(signature, signature...)
	case HighS, LowS, PaddedDER, Zeros, Ones, Swapped:
		return f.alterHalves(signature, answer.Ed25519)
	}
	return signature
}

// order is the order of secp256k1.
var order, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)

// alterHalves changes r and s in whatever form they are.
func (f Fault) alterHalves(signature []byte, isEd25519 bool) []byte {
	r, s, isDER := halves(signature)
	switch f {
	case HighS, LowS:
		if !isEd25519 && (f == HighS) != (s.Cmp(new(big.Int).Rsh(order, 1)) > 0) {
			s.Sub(order, s)
		}
	case Zeros:
		r, s = new(big.Int), new(big.Int)
	case Ones:
		r, s = big.NewInt(1), big.NewInt(1)
	case Swapped:
		r, s = s, r
	}
	if !isDER {
		both := make([]byte, 64)
		r.FillBytes(both[:32])
		s.FillBytes(both[32:])
		return both
	}
	var builder cryptobyte.Builder
	builder.AddASN1(asn1.SEQUENCE, func(sequence *cryptobyte.Builder) {
		for _, half := range []*big.Int{r, s} {
			if f == PaddedDER { // 33 bytes always
				sequence.AddASN1(asn1.INTEGER, func(content *cryptobyte.Builder) { content.AddBytes(half.FillBytes(make([]byte, 33))) })
			} else {
				sequence.AddASN1BigInt(half)
			}
		}
	})
	return builder.BytesOrPanic()
}

// halves reads r and s.
func halves(signature []byte) (r, s *big.Int, isDER bool) {
	r, s = new(big.Int), new(big.Int)
	input := cryptobyte.String(signature)
	var sequence cryptobyte.String
	if input.ReadASN1(&sequence, asn1.SEQUENCE) && input.Empty() && sequence.ReadASN1Integer(r) &&
		sequence.ReadASN1Integer(s) && sequence.Empty() {
		return r, s, true
	}
	return new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]), false
}
