package secp256k1

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestNoncesEqualDecred compares candidates, the first and later ones, with and without
// additional data.
func TestNoncesEqualDecred(t *testing.T) {
	for i := range cases(t) {
		secret, digest := draw(i)
		var additional []byte
		if i%2 == 1 {
			additional = binary.LittleEndian.AppendUint32(nil, uint32(i))
			additional = append(additional, make([]byte, 28)...)
		}
		checkNonces(t, &secret, &digest, additional)
	}
}

func checkNonces(t *testing.T, secret, digest *[32]byte, additional []byte) {
	t.Helper()
	var got nonces
	got.start(secret, digest, additional)
	for iteration := range uint32(3) {
		reduced := bitsToOctets(digest)
		want := secp256k1.NonceRFC6979(secret[:], reduced[:], additional, nil, iteration).Bytes()
		if got.v != want {
			t.Fatalf("secret %x, digest %x, additional data %x: candidate %d is %x, decred makes %x",
				*secret, *digest, additional, iteration, got.v, want)
		}
		got.reject()
	}
	if got.wipe(); got != (nonces{}) {
		t.Fatalf("not wiped: %x", got)
	}
}

// TestECDSAEqualsLibrary compares signatures with those of libsecp256k1 and its own nonces
// (decred without cgo): the comparison that is cheap enough for a million draws.
func TestECDSAEqualsLibrary(t *testing.T) {
	for i := range cases(t) {
		secret, digest := draw(i)
		checkECDSA(t, secret, digest)
	}
}

// TestDigestsBeyondTheOrder: digests are reduced before the nonce is derived (RFC 6979,
// section 2.3.4), in both builds. Expectations are libsecp256k1's.
func TestDigestsBeyondTheOrder(t *testing.T) {
	secret := [32]byte{31: 7}
	for text, want := range map[string]string{
		"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141": "0000000000000000000000000000000000000000000000000000000000000000",
		"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364142": "0000000000000000000000000000000000000000000000000000000000000001",
		"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff": "000000000000000000000000000000014551231950b75fc4402da1732fc9bebe",
	} {
		got, err := SignECDSA([32]byte(unhex(text)), secret[:])
		testenv.Must(t, err)
		if same, err := SignECDSA([32]byte(unhex(want)), secret[:]); err != nil || same != got {
			t.Errorf("%s: %x, of its remainder %x (%v)", text, got, same, err)
		}
		checkLibrary(t, secret, [32]byte(unhex(text)), got)
	}
}

// checkLibrary compares a signature with go-ethereum's, which without cgo does not reduce
// digests before it derives nonces.
func checkLibrary(t *testing.T, secret, digest [32]byte, got [65]byte) {
	t.Helper()
	if bitsToOctets(&digest) != digest && !withLibsecp256k1 {
		return
	}
	key, err := crypto.ToECDSA(secret[:])
	testenv.Must(t, err)
	want, err := crypto.Sign(digest[:], key)
	if err != nil || !bytes.Equal(got[:], want) {
		t.Fatalf("secret %x, digest %x: %x, go-ethereum makes %x (%v)", secret, digest, got, want, err)
	}
}

// TestRejectedNonces: candidates of zero and beyond the group order are skipped, as RFC
// 6979's step h says.
func TestRejectedNonces(t *testing.T) {
	secret, digest := draw(100)
	for _, rejected := range [][32]byte{{}, order, [32]byte(bytes.Repeat([]byte{0xff}, 32))} {
		for name, sign := range map[string]func(_, _, _ *[32]byte) ([65]byte, bool){"build": signWithNonce, "voi": signWithVoi} {
			if _, ok := sign(&digest, &secret, &rejected); ok {
				t.Errorf("%s: nonce %x is taken", name, rejected)
			}
		}
		candidates := nonces{k: sha256.Sum256(rejected[:]), v: rejected}
		next := [32]byte(nextCandidate(candidates.k[:], rejected[:]))
		got, err := signWithFirst(&candidates, &digest, &secret)
		if want, ok := signWithVoi(&digest, &secret, &next); err != nil || !ok || got != want {
			t.Errorf("after %x: %x (%v), want %x", rejected, got, err, want)
		}
	}
}

// nextCandidate is step h3 and the h2 after it, over crypto/hmac.
func nextCandidate(k, v []byte) []byte {
	mac := func(key, message []byte) []byte {
		h := hmac.New(sha256.New, key)
		h.Write(message)
		return h.Sum(nil)
	}
	k = mac(k, append(slices.Clone(v), 0))
	v = mac(k, v)
	return mac(k, v)
}

// TestNoncesLeaveNoTrace reads the stack after a nonce was derived and wiped: neither the
// secret nor a state of the derivation is on it. The control, which only overwrites the
// state, must leave some, or the test sees nothing.
func TestNoncesLeaveNoTrace(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no stack shrinks
	secret, digest := draw(200)
	secrets := statesOf(&secret, &digest)
	stack := new([8192]byte)
	for name, wipe := range map[string]func(*nonces){
		"wiped": (*nonces).wipe, "control": func(n *nonces) { *n = nonces{} },
	} {
		scrubStack()
		deriveAndWipe(&secret, &digest, wipe)
		readStack(stack)
		slices.Reverse(stack[:])
		found := 0
		for _, part := range secrets {
			found += bytes.Count(stack[:], part)
		}
		if (name == "control") != (found > 0) {
			t.Errorf("%s: %d parts of secrets are on the stack", name, found)
		}
	}
}

//go:noinline
func deriveAndWipe(secret, digest *[32]byte, wipe func(*nonces)) {
	var candidates nonces
	candidates.start(secret, digest, nil)
	candidates.reject()
	wipe(&candidates)
}

// statesOf returns quarters of the secret, and of the derivation's last states, as bytes
// and as the words of SHA-256 on a little-endian processor.
func statesOf(secret, digest *[32]byte) (parts [][]byte) {
	var candidates nonces
	whole := [][32]byte{*secret}
	candidates.start(secret, digest, nil)
	whole = append(whole, candidates.k, candidates.v)
	candidates.reject()
	whole = append(whole, candidates.k, candidates.v)
	for _, state := range whole {
		words := slices.Clone(state[:])
		for word := range slices.Chunk(words, 4) {
			slices.Reverse(word)
		}
		for part := range slices.Chunk(append(slices.Clone(state[:]), words...), 8) {
			parts = append(parts, part)
		}
	}
	return parts
}

// scrubStack grows the stack beyond what the test reads, and overwrites it.
//
//go:noinline
func scrubStack() {
	var room [65536]byte
	clear(room[:])
	_ = append([]byte(nil), room[:8]...)
}

// readStack copies what is below its own frame, backwards.
//
//go:nosplit
//go:noinline
func readStack(into *[8192]byte) {
	var here byte
	for i := range into {
		into[i] = *(*byte)(unsafe.Add(unsafe.Pointer(&here), -1-i))
	}
}
