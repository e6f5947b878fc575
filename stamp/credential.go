package stamp

import (
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Credential is a key that an organization has registered for a user, created by
// [NewAPIKey] or [NewPasskey]. Set its fields before it is used; after that it is safe for
// concurrent use.
type Credential struct {
	// ExpiresAt is the time from which the credential is no longer valid. If zero,
	// it does not expire.
	ExpiresAt time.Time

	// Activities are the activity types that the credential may submit. If empty, it
	// may submit all types but those that must be named (activity.Type.MustBeNamed).
	Activities []string

	// Addresses are the networks that the credential may be used from: see
	// access.ParseNetwork. If empty, it may be used from anywhere.
	Addresses []netip.Prefix

	// RequireUserVerification refuses a passkey's stamps unless the authenticator has
	// verified the user, by a PIN or biometrics (WebAuthn, flag UV).
	RequireUserVerification bool

	// AllowCrossOrigin accepts a passkey's stamps from pages that another origin has
	// embedded.
	AllowCrossOrigin bool

	id        ID
	curve     Curve
	publicKey string // as in a record
	key       verifier
	passkey   *relyingParty
}

// verifier verifies signatures over messages, in the encoding of the scheme.
type verifier interface {
	verify(scheme Scheme, message, signature []byte) bool
}

// NewAPIKey returns the credential of an API key. The public key has 33 bytes on P-256 and
// secp256k1 (a compressed point, SEC 1), and 32 on Ed25519 (RFC 8032).
func NewAPIKey(curve Curve, publicKey []byte) (*Credential, error) {
	if size := publicKeySize(curve); size == 0 {
		return nil, fmt.Errorf("API key: unknown curve %q: use %s, %s or %s", curve, CurveP256, CurveSecp256k1,
			CurveEd25519)
	} else if len(publicKey) != size {
		return nil, fmt.Errorf("API key on %s: public key: %d bytes, want %d", curve, len(publicKey), size)
	}
	key, err := newVerifier(curve, publicKey)
	if err != nil {
		return nil, fmt.Errorf("API key on %s: public key: %w", curve, err)
	}
	return &Credential{id: APIKeyID(publicKey), curve: curve, publicKey: hex.EncodeToString(publicKey), key: key}, nil
}

// NewPasskey returns the credential of a passkey: the credential id from its
// authenticator, its public key as a COSE key (RFC 9053), and its relying party. Without
// origins, stamps of any origin are accepted.
func NewPasskey(credentialID, coseKey []byte, rpID string, origins ...string) (*Credential, error) {
	if len(credentialID) == 0 || rpID == "" {
		return nil, errors.New("passkey: a credential id and the id of its relying party are required")
	}
	key, err := parseCOSEKey(coseKey)
	if err != nil {
		return nil, fmt.Errorf("passkey: %w", err)
	}
	return &Credential{
		id: PasskeyID(credentialID), key: key,
		publicKey: base64.RawURLEncoding.EncodeToString(coseKey),
		passkey:   newRelyingParty(rpID, origins),
	}, nil
}

// ID identifies the credential within its organization.
func (c *Credential) ID() ID { return c.id }

// PublicKeyText returns the public key as in a record: hex, or for a passkey the COSE key
// in base64url.
func (c *Credential) PublicKeyText() string { return c.publicKey }

// Curve returns the curve of an API key. That of a passkey is empty.
func (c *Credential) Curve() Curve { return c.curve }

// IsPasskey reports whether the credential is a passkey rather than an API key.
func (c *Credential) IsPasskey() bool { return c.passkey != nil }

// Allows reports whether the credential may submit activities of a type.
func (c *Credential) Allows(activityType string) bool {
	return len(c.Activities) == 0 || slices.Contains(c.Activities, activityType)
}

// Verify checks that the stamp is by this credential over exactly this body, and that the
// credential has not expired. Its errors wrap [ErrSignature], [ErrExpired] or
// [ErrMismatch].
func (c *Credential) Verify(sent *Stamp, body []byte, now time.Time) error {
	err := c.verifySignature(sent, body)
	if err == nil && !c.ExpiresAt.IsZero() && !now.Before(c.ExpiresAt) {
		return fmt.Errorf("%w: since %s", ErrExpired, c.ExpiresAt.UTC().Format(time.RFC3339))
	}
	return err
}

func (c *Credential) verifySignature(sent *Stamp, body []byte) error {
	switch {
	case sent.id != c.id:
		return fmt.Errorf("%w: the stamp is by %s, the credential is %s", ErrMismatch, sent.id, c.id)
	case sent.curve != c.curve:
		_ = VerifyDummy(sent, body) // takes as long as verifying
		return fmt.Errorf("%w: scheme %s, but the key is registered on %s", ErrMismatch, sent.scheme, c.curve)
	case c.passkey != nil:
		return c.passkey.verify(c.key, passkeyRules{c.RequireUserVerification, c.AllowCrossOrigin}, sent, body)
	case !c.key.verify(sent.scheme, body, sent.signature):
		return fmt.Errorf("%w: %s over the body of %d bytes", ErrSignature, sent.scheme, len(body))
	}
	return nil
}

// VerifyDummy does the work of [Credential.Verify] and always fails. It is for stamps whose
// organization or credential is not registered, so that timing does not reveal whether it
// is.
func VerifyDummy(sent *Stamp, body []byte) error {
	if sent.assertion != nil {
		_ = dummyParty.verify(passkeyDecoy(sent.signature), passkeyRules{}, sent, body)
	} else {
		_ = decoys()[sent.curve].verify(sent.scheme, body, sent.signature)
	}
	return fmt.Errorf("%w: %s is not registered", ErrMismatch, sent.id)
}

var dummyParty = newRelyingParty("unregistered.invalid", nil)

// verifyAs verifies with key. If the signature's form does not fit the key, which then fails
// at once, it also verifies with the decoy. The time thus depends on the stamp, not on the
// registered key.
func verifyAs(key, decoy verifier, scheme Scheme, message, signature []byte) bool {
	if kindOf(key) != kindOf(decoy) {
		_ = decoy.verify(scheme, message, signature)
	}
	return key.verify(scheme, message, signature)
}

// kindOf returns the algorithm of a key and, for RSA, the size of its signatures.
func kindOf(key verifier) string {
	if public, ok := key.(rsaKey); ok {
		return fmt.Sprintf("RSA %d", public.pub.Size())
	}
	return fmt.Sprintf("%T", key)
}

// passkeyDecoy returns a key of the algorithm whose signatures have this length: RSA from
// 256 bytes, Ed25519 at 64, ECDSA at any other length.
func passkeyDecoy(signature []byte) verifier {
	switch n := len(signature); {
	case n >= minRSABits/8 && n <= maxRSABits/8:
		// All ones: larger than any signature.
		modulus := new(big.Int).Lsh(big.NewInt(1), uint(8*n))
		return rsaKey{&rsa.PublicKey{N: modulus.Sub(modulus, big.NewInt(1)), E: 65537}}
	case n == ed25519.SignatureSize:
		return decoys()[CurveEd25519]
	}
	return decoys()[CurveP256]
}

// decoys returns a key on each curve: the generators. That their secret, 1, is known does
// not matter.
var decoys = sync.OnceValue(func() map[Curve]verifier {
	keys := map[Curve]verifier{}
	for curve, generator := range map[Curve]string{
		CurveP256:      "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
		CurveSecp256k1: "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
		CurveEd25519:   "5866666666666666666666666666666666666666666666666666666666666666",
	} {
		publicKey, err := hex.DecodeString(generator)
		if err != nil {
			panic("stamp: a decoy is not hex")
		}
		if keys[curve], err = newVerifier(curve, publicKey); err != nil {
			panic("stamp: invalid decoy: " + err.Error())
		}
	}
	return keys
})
