package stamp

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
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
	// all.
	Activities []string

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
		return fmt.Errorf("%w: scheme %s, but the key is registered on %s", ErrMismatch, sent.scheme, c.curve)
	case c.passkey != nil:
		return c.passkey.verify(c.key, sent, body)
	case !c.key.verify(sent.scheme, body, sent.signature):
		return fmt.Errorf("%w: %s over the body of %d bytes", ErrSignature, sent.scheme, len(body))
	}
	return nil
}

// VerifyNobody takes as long as Verify does, and never succeeds: for a stamp
// whose organization or credential is not known, so that the time an answer
// takes does not tell.
func VerifyNobody(sent *Stamp, body []byte) error {
	nobody := decoys()[sent.curve]
	if sent.assertion != nil {
		_ = nobody.passkey.verify(nobody.key, sent, body)
	} else {
		_ = nobody.key.verify(sent.scheme, body, sent.signature)
	}
	return fmt.Errorf("%w: %s is not registered", ErrMismatch, sent.id)
}

// decoys returns a credential of each kind; those of API keys by their curve.
// Their keys are the generators of the curves, whose secret, 1, proves nothing
// here.
var decoys = sync.OnceValue(func() map[Curve]*Credential {
	made := map[Curve]*Credential{}
	for curve, generator := range map[Curve]string{
		CurveP256:      "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296",
		CurveSecp256k1: "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
		CurveEd25519:   "5866666666666666666666666666666666666666666666666666666666666666",
	} {
		publicKey, err := hex.DecodeString(generator)
		if err != nil {
			panic("stamp: a decoy is not hex")
		}
		credential, err := NewAPIKey(curve, publicKey)
		if err != nil {
			panic("stamp: a decoy is no key: " + err.Error())
		}
		made[curve] = credential
	}
	made[""] = &Credential{key: made[CurveP256].key, passkey: newRelyingParty("nobody.invalid", nil)}
	return made
})
