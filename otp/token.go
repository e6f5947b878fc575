package otp

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/countersign-dev/countersign/stamp"
)

// The default and the longest lifetime of a verification token.
const (
	DefaultTokenLifetime = time.Hour
	MaxTokenLifetime     = 24 * time.Hour
)

// maxTokenKey bounds the publicKey that a request has copied into its token, in bytes.
const maxTokenKey = 130

// ErrToken means that a token was not issued here, was changed, or has expired.
var ErrToken = errors.New("otp: verification token not valid")

// Token is the content of a verification token: a JWT (RFC 7519), signed with ES256,
// with these claims. Clients of VERIFY_OTP_V2 read exp as a decimal string of milliseconds:
// see Token.SignMillis.
type Token struct {
	ID             string    // claim id: the one-time password's
	Type           Type      // claim verification_type
	Contact        string    // claim contact
	OrganizationID string    // claim organization_id
	PublicKey      string    // claim public_key, as the request gave it; may be empty
	IssuedAt       time.Time // claim iat, in seconds
	ExpiresAt      time.Time // claim exp, in seconds, or in milliseconds as a string
}

// NewToken returns a token. Its lifetime is the request's expirationSeconds, a
// decimal string: default 3600, at most 86400. The error is a *ParameterError; to
// check the parameters before a code is tried, pass the zero Verified.
func NewToken(verified Verified, publicKey, expirationSeconds string, now time.Time) (Token, error) {
	lifetime, err := seconds("expirationSeconds", expirationSeconds, DefaultTokenLifetime, MaxTokenLifetime)
	if err != nil {
		return Token{}, err
	}
	if publicKey != "" && !isPublicKey(publicKey) {
		return Token{}, badParameter("publicKey", publicKeyRule)
	}
	issued := now.UTC().Truncate(time.Second)
	return Token{
		ID: verified.ID, Type: verified.Type, Contact: verified.Contact, OrganizationID: verified.OrganizationID,
		PublicKey: publicKey, IssuedAt: issued, ExpiresAt: issued.Add(lifetime),
	}, nil
}

const publicKeyRule = "must be a public key in hex: compressed, 66 digits, on P-256 or secp256k1; uncompressed, " +
	"130, on P-256; or 64 digits of Ed25519"

// isPublicKey reports whether a token can be for a key: one that can stamp requests. A token for
// anything else would have used up its code for nothing.
func isPublicKey(text string) bool {
	if len(text) > maxTokenKey {
		return false
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return false
	}
	if _, err := ecdh.P256().NewPublicKey(raw); err == nil {
		return true
	}
	return slices.ContainsFunc([]stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519}, func(curve stamp.Curve) bool {
		_, err := stamp.NewAPIKey(curve, raw)
		return err == nil
	})
}

type claims struct {
	ID             string `json:"id"`
	Type           Type   `json:"verification_type"`
	Contact        string `json:"contact"`
	OrganizationID string `json:"organization_id"`
	PublicKey      string `json:"public_key,omitempty"`
	jwt.RegisteredClaims
	ExpiresAt expiry `json:"exp"` // instead of that of RegisteredClaims
}

func (c *claims) GetExpirationTime() (*jwt.NumericDate, error) {
	if c.ExpiresAt.IsZero() {
		return nil, nil //nolint:nilnil // the interface's way to say that there is none
	}
	return jwt.NewNumericDate(c.ExpiresAt.Time), nil
}

// expiry is the claim exp: a number of seconds, or a string of milliseconds.
type expiry struct {
	time.Time
	millis bool
}

func (e expiry) MarshalJSON() ([]byte, error) {
	if e.millis {
		return strconv.AppendQuote(nil, strconv.FormatInt(e.UnixMilli(), 10)), nil
	}
	return strconv.AppendInt(nil, e.Unix(), 10), nil
}

// UnmarshalJSON implements json.Unmarshaler. It reads what MarshalJSON writes.
func (e *expiry) UnmarshalJSON(text []byte) error {
	digits, quoted := bytes.CutPrefix(text, []byte(`"`))
	value, err := strconv.ParseInt(string(bytes.TrimSuffix(digits, []byte(`"`))), 10, 64)
	if err != nil || value <= 0 {
		return errors.New("exp is neither a number of seconds nor a string of milliseconds")
	}
	if e.millis = quoted; quoted {
		e.Time = time.UnixMilli(value)
	} else {
		e.Time = time.Unix(value, 0)
	}
	return nil
}

// Sign returns the token as a JWT, signed by a P-256 key.
func (t Token) Sign(signer crypto.Signer) (string, error) { return t.sign(signer, false) }

// SignMillis is Sign with exp as current clients of the hosted service read it, such as
// verifyOtpVerificationToken of @turnkey/crypto: as a decimal string of milliseconds since
// the epoch. Generic readers of JWTs refuse that; VerifyToken reads both forms.
func (t Token) SignMillis(signer crypto.Signer) (string, error) { return t.sign(signer, true) }

func (t Token) sign(signer crypto.Signer, millis bool) (string, error) {
	public, ok := signer.Public().(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return "", errors.New("otp: the key for verification tokens is not a P-256 key")
	}
	token := jwt.NewWithClaims(es256{}, &claims{
		ID: t.ID, Type: t.Type, Contact: t.Contact, OrganizationID: t.OrganizationID, PublicKey: t.PublicKey,
		RegisteredClaims: jwt.RegisteredClaims{IssuedAt: jwt.NewNumericDate(t.IssuedAt)},
		ExpiresAt:        expiry{t.ExpiresAt, millis},
	})
	return token.SignedString(signer)
}

// TokenLeeway is how far the engine's clock may be ahead of the verifier's.
const TokenLeeway = 5 * time.Minute

// VerifyToken verifies a JWT that Sign returned for the organization, under the key
// that the caller trusts. From its ExpiresAt on the token is refused. So is white
// space, which would give a token several spellings. The error wraps ErrToken.
func VerifyToken(token string, trusted *ecdsa.PublicKey, organizationID string, now time.Time) (Token, error) {
	if trusted == nil || trusted.Curve != elliptic.P256() {
		return Token{}, fmt.Errorf("%w: the trusted key is not a P-256 key", ErrToken)
	}
	if strings.ContainsAny(token, " \t\r\n") { // the base64 decoder skips it
		return Token{}, fmt.Errorf("%w: it contains white space", ErrToken)
	}
	var payload claims
	_, err := jwt.ParseWithClaims(token, &payload,
		func(*jwt.Token) (any, error) { return trusted, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodES256.Alg()}),
		jwt.WithTimeFunc(func() time.Time { return now }),
		jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(),
	)
	if err != nil {
		return Token{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if payload.ID == "" || payload.OrganizationID == "" || payload.Contact == "" || payload.IssuedAt == nil {
		return Token{}, fmt.Errorf("%w: signed by this key, but not a verification token", ErrToken)
	}
	switch {
	case payload.IssuedAt.After(now.Add(TokenLeeway)):
		return Token{}, fmt.Errorf("%w: it was issued in the future", ErrToken)
	case payload.OrganizationID != organizationID:
		return Token{}, fmt.Errorf("%w: issued for another organization", ErrToken)
	}
	return Token{
		ID: payload.ID, Type: payload.Type, Contact: payload.Contact, OrganizationID: payload.OrganizationID, PublicKey: payload.PublicKey,
		IssuedAt: payload.IssuedAt.UTC(), ExpiresAt: payload.ExpiresAt.UTC(),
	}, nil
}

// es256 is ES256 for any crypto.Signer, such as a key in an HSM: golang-jwt signs
// only with *ecdsa.PrivateKey.
type es256 struct{}

func (es256) Alg() string { return jwt.SigningMethodES256.Alg() }

func (es256) Verify(signing string, signature []byte, key any) error {
	return jwt.SigningMethodES256.Verify(signing, signature, key)
}

// Sign implements jwt.SigningMethod. It converts the signer's DER to r ‖ s, 32 bytes
// each, big-endian (RFC 7518, section 3.4).
func (es256) Sign(signing string, key any) ([]byte, error) {
	digest := crypto.SHA256.New()
	digest.Write([]byte(signing))
	der, err := key.(crypto.Signer).Sign(rand.Reader, digest.Sum(nil), crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("otp: sign the verification token: %w", err)
	}
	var rs struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &rs); err != nil || len(rest) > 0 || rs.R.BitLen() > 256 ||
		rs.S.BitLen() > 256 || rs.R.Sign() <= 0 || rs.S.Sign() <= 0 {
		return nil, errors.New("otp: the key for verification tokens returned a malformed signature")
	}
	out := make([]byte, 64)
	rs.R.FillBytes(out[:32])
	rs.S.FillBytes(out[32:])
	return out, nil
}
