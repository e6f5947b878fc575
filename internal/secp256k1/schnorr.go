package secp256k1

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"

	voi "gitlab.com/yawning/secp256k1-voi"
)

// SignSchnorr makes a BIP-340 signature with auxiliary data of zeros. public must be the secret's
// public key, compressed (33 bytes, SEC 1): it is not derived again, and not checked.
func SignSchnorr(digest [32]byte, secret []byte, public [33]byte) ([64]byte, error) {
	private, err := evenSecret(secret, public)
	if err != nil {
		return [64]byte{}, err
	}
	defer private.Zero()
	return signSchnorr(digest, private, [32]byte(public[1:]))
}

// SignTaproot is SignSchnorr under the output key that commits to a merkle root,
// or to no script tree if root is empty (BIP-341, BIP-86).
func SignTaproot(digest [32]byte, secret []byte, public [33]byte, root []byte) ([64]byte, error) {
	private, err := evenSecret(secret, public)
	if err != nil {
		return [64]byte{}, err
	}
	defer private.Zero()
	output, err := OutputKey([32]byte(public[1:]), root)
	if err != nil {
		return [64]byte{}, err
	}
	private.Add(private, reduced(tapTweak(public[1:], root)))
	if private.IsZero() != 0 {
		return [64]byte{}, errSecret
	}
	private.ConditionalNegate(private, parity(output.Odd))
	return signSchnorr(digest, private, output.X)
}

// evenSecret returns the scalar d or n − d, whichever has a point with an even y. The
// caller must zero it.
func evenSecret(secret []byte, public [33]byte) (*voi.Scalar, error) {
	private, err := readSecret(secret)
	if err != nil {
		return nil, err
	}
	return private.ConditionalNegate(private, uint64(public[0]&1)), nil
}

func tapTweak(internal, root []byte) *[32]byte {
	return tagTapTweak.hash(internal, root)
}

// tag is the SHA-256 of the tag of a tagged hash (BIP-340).
type tag [sha256.Size]byte

var tagTapTweak, tagNonce, tagChallenge = tagOf("TapTweak"), tagOf("BIP0340/nonce"), tagOf("BIP0340/challenge")

func tagOf(name string) tag { return sha256.Sum256([]byte(name)) }

// hash returns SHA-256(tag ‖ tag ‖ parts).
func (t tag) hash(parts ...[]byte) *[32]byte {
	hash := sha256.New()
	hash.Write(t[:])
	hash.Write(t[:])
	for _, part := range parts {
		hash.Write(part)
	}
	return (*[32]byte)(hash.Sum(nil))
}

func parity(odd bool) uint64 {
	if odd {
		return 1
	}
	return 0
}

// auxiliary is the hash of BIP-340's auxiliary data, 32 zeros.
var auxiliary = tagOf("BIP0340/aux").hash(make([]byte, 32))

// signSchnorr implements BIP-340's default signing, with a secret d whose point has the
// given x and an even y:
//
//	k = hash_nonce(d ⊕ hash_aux(0³²) ‖ x ‖ m)    R = k·G, k negated if y(R) is odd
//	e = hash_challenge(x(R) ‖ x ‖ m)             x(R) ‖ k + e·d
func signSchnorr(digest [32]byte, private *voi.Scalar, x [32]byte) (signature [64]byte, err error) {
	nonce := schnorrNonce(digest, private, x)
	defer nonce.Zero()
	if nonce.IsZero() != 0 {
		return signature, errors.New("bip-340: the nonce of this digest is zero")
	}
	point := multiplyBase(nonce)
	copy(signature[:32], point[1:])
	nonce.ConditionalNegate(nonce, uint64(point[64]&1))
	s := voi.NewScalar().Multiply(challenge(signature[:32], x, digest), private)
	copy(signature[32:], s.Add(s, nonce).Bytes())
	return signature, nil
}

func schnorrNonce(digest [32]byte, private *voi.Scalar, x [32]byte) *voi.Scalar {
	encoded := private.Bytes()
	defer clear(encoded)
	subtle.XORBytes(encoded, encoded, auxiliary[:])
	nonce := tagNonce.hash(encoded, x[:], digest[:])
	defer clear(nonce[:])
	return reduced(nonce)
}

func challenge(rx []byte, x, digest [32]byte) *voi.Scalar {
	return reduced(tagChallenge.hash(rx, x[:], digest[:]))
}
