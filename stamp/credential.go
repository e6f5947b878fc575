package stamp

import (
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"
)

// Credential is a key that an organization has registered for a user. Make one
// with NewAPIKey or NewPasskey; it is not changed afterwards, and safe for
// concurrent use.
type Credential struct {
	// ExpiresAt is from when the credential is not valid any more. Zero: it
	// does not expire.
	ExpiresAt time.Time

	// Activities are the activity types that the credential may submit. Empty:
	// all, but for those that the engine wants named (activity.Operation).
	Activities []string

	// RequireUserVerification takes a passkey's stamp only if its authenticator
	// has verified the user, by a PIN or biometrics (WebAuthn, flag UV).
	RequireUserVerification bool

	// AllowCrossOrigin takes stamps of a passkey that were made in a page that
	// another origin has embedded.
	AllowCrossOrigin bool

	id        ID
	curve     Curve
	publicKey string // as a record keeps it
	key       verifier
	passkey   *relyingParty
}

// verifier checks a signature over a message, in the form of its scheme.
type verifier interface {
	verify(scheme Scheme, message, signature []byte) bool
}

// NewAPIKey makes the credential of an API key: of 33 bytes on P-256 and
// secp256k1 (a compressed point, SEC 1), of 32 on Ed25519 (RFC 8032).
func NewAPIKey(curve Curve, publicKey []byte) (*Credential, error) {
	if size := curve.publicKeySize(); size == 0 {
		return nil, fmt.Errorf("API key: unknown curve %q: use %s, %s or %s", curve, CurveP256, CurveSecp256k1, CurveEd25519)
	} else if len(publicKey) != size {
		return nil, fmt.Errorf("API key on %s: public key: %d bytes, want %d", curve, len(publicKey), size)
	}
	key, err := newVerifier(curve, publicKey)
	if err != nil {
		return nil, fmt.Errorf("API key on %s: public key: %w", curve, err)
	}
	return &Credential{id: APIKeyID(publicKey), curve: curve, publicKey: hex.EncodeToString(publicKey), key: key}, nil
}

// NewPasskey makes the credential of a passkey: the id that its authenticator
// gave it, its public key as a COSE key (RFC 9053), and the relying party it
// was made for. Without origins a stamp of any origin is taken.
func NewPasskey(credentialID, coseKey []byte, rpID string, origins ...string) (*Credential, error) {
	if len(credentialID) == 0 || rpID == "" {
		return nil, errors.New("passkey: a credential id and the id of its relying party are needed")
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

// PublicKeyText returns the public key as a record keeps it: hex, or base64url
// of the COSE key of a passkey.
func (c *Credential) PublicKeyText() string { return c.publicKey }

// IsPasskey reports whether the credential is a passkey rather than an API key.
func (c *Credential) IsPasskey() bool { return c.passkey != nil }

// Allows reports whether the credential may submit activities of a type.
func (c *Credential) Allows(activityType string) bool {
	return len(c.Activities) == 0 || slices.Contains(c.Activities, activityType)
}

// Verify checks that the stamp was made with this credential, over exactly this
// body, and that the credential is valid at the given time. Its errors are
// ErrSignature, ErrExpired and ErrMismatch, with what is wrong.
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
		return fmt.Errorf("%w: the stamp is of %s, the credential is %s", ErrMismatch, sent.id, c.id)
	case sent.curve != c.curve:
		_ = VerifyDummy(sent, body) // for the time that it takes
		return fmt.Errorf("%w: scheme %s, but the key is registered on %s", ErrMismatch, sent.scheme, c.curve)
	case c.passkey != nil:
		return c.passkey.verify(c.key, passkeyRules{c.RequireUserVerification, c.AllowCrossOrigin}, sent, body)
	case !c.key.verify(sent.scheme, body, sent.signature):
		return fmt.Errorf("%w: %s over the body of %d bytes", ErrSignature, sent.scheme, len(body))
	}
	return nil
}

// VerifyDummy does the work of Verify and always fails: for a stamp whose
// organization or credential is not registered, so that timing does not reveal
// whether it is.
func VerifyDummy(sent *Stamp, body []byte) error {
	if sent.assertion != nil {
		_ = dummyParty.verify(passkeyDecoy(sent.signature), passkeyRules{}, sent, body)
	} else {
		_ = decoys()[sent.curve].verify(sent.scheme, body, sent.signature)
	}
	return fmt.Errorf("%w: %s is not registered", ErrMismatch, sent.id)
}

var dummyParty = newRelyingParty("unregistered.invalid", nil)

// verifyAs verifies with a key, and with the decoy as well if the signature does
// not look like one of that key, which then fails at once: the time depends on
// the stamp, not on the key that was registered.
func verifyAs(key, decoy verifier, scheme Scheme, message, signature []byte) bool {
	if kindOf(key) != kindOf(decoy) {
		_ = decoy.verify(scheme, message, signature)
	}
	return key.verify(scheme, message, signature)
}

// kindOf is the algorithm and, of RSA, the size of its signatures.
func kindOf(key verifier) string {
	if public, ok := key.(rsaKey); ok {
		return fmt.Sprintf("RSA %d", public.pub.Size())
	}
	return fmt.Sprintf("%T", key)
}

// passkeyDecoy returns a key of the algorithm that makes signatures like this
// one: RSA from 256 bytes on, Ed25519 of 64, ECDSA of any other length.
func passkeyDecoy(signature []byte) verifier {
	switch n := len(signature); {
	case n >= minRSABits/8 && n <= maxRSABits/8:
		// All ones: greater than whatever signature a real key could have made.
		modulus := new(big.Int).Lsh(big.NewInt(1), uint(8*n))
		return rsaKey{&rsa.PublicKey{N: modulus.Sub(modulus, big.NewInt(1)), E: 65537}}
	case n == ed25519.SignatureSize:
		return decoys()[CurveEd25519]
	}
	return decoys()[CurveP256]
}

// decoys returns a key on each curve: their generators, whose secret, 1, proves
// nothing here.
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
			panic("stamp: a decoy is no key: " + err.Error())
		}
	}
	return keys
})
