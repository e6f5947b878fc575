package keystore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// signers returns handles to a secp256k1 key, another one, and an Ed25519 key.
func signers(t *testing.T) (one, other, solana keystore.Key) {
	t.Helper()
	store := memory.New()
	t.Cleanup(func() { _ = store.Close() })
	var keys []keystore.Key
	for _, curve := range []keystore.Curve{keystore.CurveSecp256k1, keystore.CurveSecp256k1, keystore.CurveEd25519} {
		info, err := store.Generate(t.Context(), "org", "", curve)
		testenv.Must(t, err)
		key, err := store.Find(t.Context(), "org", keystore.ByID(info.ID))
		testenv.Must(t, err)
		keys = append(keys, key)
	}
	return keys[0], keys[1], keys[2]
}

// The faulty keys sign with one key, change the signature, and have the public key of another.

type faultyECDSA struct {
	keystore.Key
	with   keystore.ECDSASigner
	change func(signature []byte)
	err    error
}

func (k faultyECDSA) SignECDSA(ctx context.Context, digest [32]byte) ([65]byte, error) {
	signature, err := k.with.SignECDSA(ctx, digest)
	k.change(signature[:])
	return signature, errors.Join(err, k.err)
}

type faultyLowR struct {
	keystore.Key
	keystore.ECDSASigner
	change func(signature []byte)
}

func (k faultyLowR) SignLowR(ctx context.Context, digest [32]byte) ([65]byte, error) {
	signature, err := k.Key.(keystore.LowRSigner).SignLowR(ctx, digest)
	k.change(signature[:])
	return signature, err
}

type faultySchnorr struct {
	keystore.Key
	with   keystore.SchnorrSigner
	change func(signature []byte)
}

func (k faultySchnorr) SignSchnorr(ctx context.Context, digest [32]byte, tweak keystore.TaprootTweak) ([64]byte, error) {
	signature, err := k.with.SignSchnorr(ctx, digest, tweak)
	k.change(signature[:])
	return signature, err
}

type faultyEd25519 struct {
	keystore.Key
	with   keystore.Ed25519Signer
	change func(signature []byte)
}

func (k faultyEd25519) SignEd25519(ctx context.Context, message []byte) ([64]byte, error) {
	signature, err := k.with.SignEd25519(ctx, message)
	k.change(signature[:])
	return signature, err
}

// TestVerifiedLowR refuses each flipped bit, and a signature that verifies but whose r is
// high.
func TestVerifiedLowR(t *testing.T) {
	one, _, _ := signers(t)
	signLow := func(digest [32]byte, change func([]byte)) error {
		key := faultyLowR{one, one.(keystore.ECDSASigner), change}
		_, err := keystore.Verified(key).(keystore.LowRSigner).SignLowR(t.Context(), digest)
		return err
	}
	testenv.Must(t, signLow([32]byte{1}, func([]byte) {}))
	for bit := range 65 * 8 {
		if err := signLow([32]byte{1}, func(signature []byte) { signature[bit/8] ^= 1 << (bit % 8) }); !errors.Is(err, keystore.ErrSignatureCheck) {
			t.Errorf("bit %d: %v", bit, err)
		}
	}
	for i := range byte(255) {
		plain, err := one.(keystore.ECDSASigner).SignECDSA(t.Context(), [32]byte{i})
		testenv.Must(t, err)
		err = signLow([32]byte{i}, func(signature []byte) { copy(signature, plain[:]) })
		if high := plain[0] >= 0x80; high != errors.Is(err, keystore.ErrSignatureCheck) {
			t.Errorf("digest %d, r high: %v: %v", i, high, err)
		}
	}
}

// sign makes whatever signature the verified key is capable of.
func sign(t *testing.T, key keystore.Key) ([]byte, error) {
	t.Helper()
	key = keystore.Verified(key)
	if signer, err := keystore.AsECDSA(key); err == nil {
		signature, err := signer.SignECDSA(t.Context(), [32]byte{1})
		return signature[:], err
	}
	if signer, err := keystore.AsSchnorr(key); err == nil {
		signature, err := signer.SignSchnorr(t.Context(), [32]byte{1}, keystore.KeyPath())
		return signature[:], err
	}
	if signer, err := keystore.AsEd25519(key); err == nil {
		signature, err := signer.SignEd25519(t.Context(), []byte("message"))
		return signature[:], err
	}
	t.Fatal("a key without capabilities")
	return nil, nil
}

func TestVerifiedAccepts(t *testing.T) {
	one, _, solana := signers(t)
	same := func([]byte) {}
	for _, key := range []keystore.Key{
		one, solana,
		faultyECDSA{one, one.(keystore.ECDSASigner), same, nil},
		faultySchnorr{one, one.(keystore.SchnorrSigner), same},
		faultyEd25519{solana, solana.(keystore.Ed25519Signer), same},
	} {
		if _, err := sign(t, key); err != nil {
			t.Errorf("%T: %v", key, err)
		}
	}
}

// TestVerifiedRefusesFlippedBits flips each bit of a signature of each scheme.
func TestVerifiedRefusesFlippedBits(t *testing.T) {
	one, _, solana := signers(t)
	for bit := range 65 * 8 {
		flip := func(signature []byte) {
			if bit/8 < len(signature) {
				signature[bit/8] ^= 1 << (bit % 8)
			}
		}
		mustNotSign(t, fmt.Sprintf("ECDSA, bit %d", bit), faultyECDSA{one, one.(keystore.ECDSASigner), flip, nil})
		if bit < 64*8 {
			mustNotSign(t, fmt.Sprintf("BIP-340, bit %d", bit), faultySchnorr{one, one.(keystore.SchnorrSigner), flip})
			mustNotSign(t, fmt.Sprintf("Ed25519, bit %d", bit), faultyEd25519{solana, solana.(keystore.Ed25519Signer), flip})
		}
	}
}

// faultySoftware is a faulty key that keystore.Verified treats as a software key of this module.
type faultySoftware struct{ faultyECDSA }

func (faultySoftware) ComputesRecoveryID() {}

// TestVerifiedSoftware: for software keys, flipped bits of r and s, another key's signature, and
// invalid recovery ids are refused. Which of the two valid recovery ids it is, is not checked.
func TestVerifiedSoftware(t *testing.T) {
	one, other, solana := signers(t)
	if _, ok := one.(interface{ ComputesRecoveryID() }); !ok {
		t.Errorf("%T is not treated as a software key", one)
	}
	signer := one.(keystore.ECDSASigner)
	faulty := func(key keystore.Key, change func([]byte)) keystore.Key {
		return faultySoftware{faultyECDSA{key, signer, change, nil}}
	}
	for bit := range 64 * 8 {
		mustNotSign(t, fmt.Sprintf("bit %d", bit), faulty(one, func(s []byte) { s[bit/8] ^= 1 << (bit % 8) }))
	}
	for bit := range 7 {
		mustNotSign(t, fmt.Sprintf("bit %d of the recovery id", bit+1), faulty(one, func(s []byte) { s[64] ^= 2 << bit }))
	}
	mustNotSign(t, "high s", faulty(one, makeHigh))
	mustNotSign(t, "zeros", faulty(one, func(s []byte) { clear(s) }))
	mustNotSign(t, "another key's", faulty(other, func([]byte) {}))
	mustNotSign(t, "another curve's", faulty(solana, func([]byte) {}))
	if _, err := sign(t, faulty(one, func(s []byte) { s[64] ^= 1 })); err != nil {
		t.Errorf("the other recovery id is refused: %v", err)
	}
}

func mustNotSign(t *testing.T, what string, key keystore.Key) {
	t.Helper()
	signature, err := sign(t, key)
	if !errors.Is(err, keystore.ErrSignatureCheck) {
		t.Errorf("%s: %v, want ErrSignatureCheck", what, err)
	}
	for _, b := range signature {
		if b != 0 {
			t.Errorf("%s: an invalid signature is returned along with the error", what)
			return
		}
	}
}

func TestVerifiedRefuses(t *testing.T) {
	one, other, solana := signers(t)
	ecdsa := one.(keystore.ECDSASigner)
	for name, key := range map[string]keystore.Key{
		"high s":                  faultyECDSA{one, ecdsa, makeHigh, nil},
		"recovery id of high s":   faultyECDSA{one, ecdsa, func(s []byte) { makeHigh(s); s[64] ^= 1 }, nil},
		"recovery id 2":           faultyECDSA{one, ecdsa, func(s []byte) { s[64] += 2 }, nil},
		"recovery id 27":          faultyECDSA{one, ecdsa, func(s []byte) { s[64] += 27 }, nil},
		"zeros, ECDSA":            faultyECDSA{one, ecdsa, func(s []byte) { clear(s) }, nil},
		"another key's, ECDSA":    faultyECDSA{other, ecdsa, func([]byte) {}, nil},
		"another curve's, ECDSA":  faultyECDSA{solana, ecdsa, func([]byte) {}, nil},
		"zeros, BIP-340":          faultySchnorr{one, one.(keystore.SchnorrSigner), func(s []byte) { clear(s) }},
		"another key's, BIP-340":  faultySchnorr{other, one.(keystore.SchnorrSigner), func([]byte) {}},
		"another curve's, BIP":    faultySchnorr{solana, one.(keystore.SchnorrSigner), func([]byte) {}},
		"zeros, Ed25519":          faultyEd25519{solana, solana.(keystore.Ed25519Signer), func(s []byte) { clear(s) }},
		"s plus order, Ed25519":   faultyEd25519{solana, solana.(keystore.Ed25519Signer), addOrder},
		"another curve's Ed25519": faultyEd25519{one, solana.(keystore.Ed25519Signer), func([]byte) {}},
	} {
		t.Run(name, func(t *testing.T) { mustNotSign(t, name, key) })
	}
}

// makeHigh replaces s by n−s and adjusts v, which gives a valid signature with a high s.
func makeHigh(signature []byte) {
	s := new(big.Int).SetBytes(signature[32:64])
	s.Sub(crypto.S256().Params().N, s).FillBytes(signature[32:64])
	signature[64] ^= 1
}

// addOrder adds the group order to the scalar of an Ed25519 signature, which lax verifiers
// accept.
func addOrder(signature []byte) {
	order, _ := new(big.Int).SetString("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed", 16)
	var big32 [32]byte
	reverse := func(b []byte) []byte {
		for i := range 32 {
			big32[31-i] = b[i]
		}
		return big32[:]
	}
	s := new(big.Int).SetBytes(reverse(signature[32:]))
	s.Add(s, order)
	little := [32]byte(reverse(s.FillBytes(make([]byte, 32))))
	copy(signature[32:], little[:])
}

// TestVerifyECDSAErrors: the error distinguishes an invalid signature from another key's.
func TestVerifyECDSAErrors(t *testing.T) {
	one, other, _ := signers(t)
	signature, err := other.(keystore.ECDSASigner).SignECDSA(t.Context(), [32]byte{1})
	testenv.Must(t, err)
	const another = "signed by another key"
	if err := keystore.VerifyECDSA(one.PublicKey(), [32]byte{1}, signature); err == nil || !strings.Contains(err.Error(), another) {
		t.Errorf("another key's: %v", err)
	}
	if err := keystore.VerifyECDSA(one.PublicKey(), [32]byte{1}, [65]byte{}); err == nil || strings.Contains(err.Error(), another) {
		t.Errorf("zeros: %v", err)
	}
}

func TestVerifiedReturnsErrors(t *testing.T) {
	one, _, _ := signers(t)
	own := errors.New("the device is on fire")
	if _, err := sign(t, faultyECDSA{one, one.(keystore.ECDSASigner), func([]byte) {}, own}); !errors.Is(err, own) {
		t.Errorf("%v, want the key's own error", err)
	}
}

// TestVerifiedKeepsCapabilities: a verified key has exactly the capabilities of the key.
func TestVerifiedKeepsCapabilities(t *testing.T) {
	one, _, solana := signers(t)
	for name, key := range map[string]keystore.Key{
		"secp256k1": one, "Ed25519": solana, "nothing": struct{ keystore.Key }{one},
		"ECDSA": faultyECDSA{Key: one}, "low r": faultyLowR{Key: one}, "BIP-340": faultySchnorr{Key: one},
	} {
		verified := keystore.Verified(key)
		if capabilities(verified) != capabilities(key) {
			t.Errorf("%s: verified %v, unverified %v", name, capabilities(verified), capabilities(key))
		}
		if verified.ID() != key.ID() || verified.PublicKey() != key.PublicKey() {
			t.Errorf("%s: the verified key is another one", name)
		}
		if keystore.Verified(verified) != verified {
			t.Errorf("%s: a verified key is wrapped again", name)
		}
	}
}

// TestVerifiedLacks: the methods of a capability that the verified key lacks sign nothing.
func TestVerifiedLacks(t *testing.T) {
	_, _, solana := signers(t)
	signature, err := keystore.Verified(solana).(keystore.ECDSASigner).SignECDSA(t.Context(), [32]byte{1})
	if !errors.Is(err, keystore.ErrUnsupported) || signature != [65]byte{} {
		t.Errorf("%x, %v", signature, err)
	}
}

func capabilities(key keystore.Key) [4]bool {
	_, ecdsa := keystore.AsECDSA(key)
	_, schnorr := keystore.AsSchnorr(key)
	_, ed25519 := keystore.AsEd25519(key)
	_, low := keystore.As[keystore.LowRSigner](key)
	return [4]bool{ecdsa == nil, schnorr == nil, ed25519 == nil, low}
}

// selfVerifying is a key that can claim to verify its signatures.
type selfVerifying struct {
	keystore.Key
	keystore.Ed25519Signer
	verifies bool
}

func (k *selfVerifying) VerifiesSignatures() bool { return k.verifies }

func TestSelfVerifying(t *testing.T) {
	_, _, solana := signers(t)
	for _, verifies := range []bool{true, false} {
		key := &selfVerifying{solana, solana.(keystore.Ed25519Signer), verifies}
		if unchanged := keystore.Verified(key) == keystore.Key(key); unchanged != verifies {
			t.Errorf("a key with VerifiesSignatures=%v is returned unchanged: %v", verifies, unchanged)
		}
	}
}

func TestUnsupportedNamesTheKey(t *testing.T) {
	one, _, _ := signers(t)
	_, err := keystore.AsEd25519(one)
	want := fmt.Sprintf("keystore: unsupported by this key: key %s (CURVE_SECP256K1) cannot make Ed25519 signatures", one.ID())
	if !errors.Is(err, keystore.ErrUnsupported) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestAsSchnorrNamesAlternative: a secp256k1 key without BIP-340 is in an HSM and can sign for
// another address.
func TestAsSchnorrNamesAlternative(t *testing.T) {
	one, _, solana := signers(t)
	for key, alternative := range map[keystore.Key]bool{ecdsaOnly(one): true, solana: false} {
		_, err := keystore.AsSchnorr(key)
		if !errors.Is(err, keystore.ErrUnsupported) || strings.Contains(err.Error(), "P2WPKH") != alternative {
			t.Errorf("%v: %v", key.PublicKey().Curve(), err)
		}
	}
}

// ecdsaOnly returns a key that makes ECDSA signatures only.
func ecdsaOnly(key keystore.Key) keystore.Key {
	return &faultyECDSA{key, key.(keystore.ECDSASigner), func([]byte) {}, nil}
}

// TestVerifiedErrors: the error names the fault of the signature.
func TestVerifiedErrors(t *testing.T) {
	one, _, solana := signers(t)
	same := func([]byte) {}
	ecdsa := func(change func(signature []byte)) keystore.Key {
		return faultyECDSA{one, one.(keystore.ECDSASigner), change, nil}
	}
	for problem, key := range map[string]keystore.Key{
		"ecdsa: recovery id 2":  ecdsa(func(signature []byte) { signature[64] = 2 }),
		"ecdsa: s is high":      ecdsa(func(signature []byte) { signature[32] |= 0x80 }),
		"check failed: ecdsa: ": ecdsa(func(signature []byte) { clear(signature[:32]) }), // followed by the library's message
		"is not secp256k1":      faultySchnorr{solana, one.(keystore.SchnorrSigner), same},
		"check failed: bip-340": faultySchnorr{one, one.(keystore.SchnorrSigner), func(signature []byte) { copy(signature, bytes.Repeat([]byte{0xff}, 64)) }},
	} {
		if _, err := sign(t, key); !errors.Is(err, keystore.ErrSignatureCheck) || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v, want ErrSignatureCheck with %s", err, problem)
		}
	}
	if _, err := keystore.KeyPath().OutputKey(solana.PublicKey()); err == nil || !strings.Contains(err.Error(), "CURVE_ED25519 is not secp256k1") {
		t.Errorf("an output key of Ed25519: %v", err)
	}
}
