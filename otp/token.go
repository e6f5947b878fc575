package otp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// Lifetimes of verification tokens.
const (
	DefaultTokenLifetime = time.Hour
	MaxTokenLifetime     = 24 * time.Hour
)

// maxTokenKey bounds the public key that a request has copied into its token.
const maxTokenKey = 512

// ErrToken says that the token is not one of ours, was changed, or has expired.
var ErrToken = errors.New("otp: verification token not valid")

// Token is what a verification token says. Its form is a JWT (RFC 7519) with
// the algorithm ES256, and these claims beside iat and exp, in seconds.
type Token struct {
	ID             string    // claim id: the one-time password's
	Type           Type      // claim verification_type
	Contact        string    // claim contact
	OrganizationID string    // claim organization_id
	PublicKey      string    // claim public_key, as the request gave it; may be empty
	IssuedAt       time.Time // claim iat
	ExpiresAt      time.Time // claim exp
}

// NewToken makes the content of a token. The lifetime is the request's
// expirationSeconds, a decimal string: default 3600, at most 86400. The error
// is a *ParameterError; to learn of it before a code is tried, pass the zero
// Verified.
func NewToken(verified Verified, publicKey, expirationSeconds string, now time.Time) (Token, error) {
	lifetime, err := seconds("expirationSeconds", expirationSeconds, DefaultTokenLifetime, MaxTokenLifetime)
	if err != nil {
		return Token{}, err
	}
	if len(publicKey) > maxTokenKey || !printable(publicKey, "") {
		return Token{}, badParameter("publicKey", "at most %d printable characters are expected", maxTokenKey)
	}
	issued := now.UTC().Truncate(time.Second)
	return Token{
		ID: verified.ID, Type: verified.Type, Contact: verified.Contact, OrganizationID: verified.OrganizationID,
		PublicKey: publicKey, IssuedAt: issued, ExpiresAt: issued.Add(lifetime),
	}, nil
}

// claims is the JSON of a token.
type claims struct {
	ID             string `json:"id"`
	Type           Type   `json:"verification_type"`
	Contact        string `json:"contact"`
	OrganizationID string `json:"organization_id"`
	PublicKey      string `json:"public_key,omitempty"`
	jwt.RegisteredClaims
}

// Sign makes the token, signed by a key on P-256.
func (t Token) Sign(signer crypto.Signer) (string, error) {
	public, ok := signer.Public().(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return "", errors.New("otp: the key for verification tokens is not on P-256")
	}
	token := jwt.NewWithClaims(es256{}, claims{
		ID: t.ID, Type: t.Type, Contact: t.Contact, OrganizationID: t.OrganizationID, PublicKey: t.PublicKey,
		RegisteredClaims: jwt.RegisteredClaims{
			IssuedAt:  jwt.NewNumericDate(t.IssuedAt),
			ExpiresAt: jwt.NewNumericDate(t.ExpiresAt),
		},
	})
	return token.SignedString(signer)
}

// TokenLeeway is how far the clock of the engine may be ahead of a verifier's.
const TokenLeeway = 5 * time.Minute

// VerifyToken verifies a token of an organization against the key that the
// caller trusts, at a time: it expires at its ExpiresAt. A token has one
// spelling: white space is refused. The error wraps ErrToken.
func VerifyToken(token string, trusted *ecdsa.PublicKey, organizationID string, now time.Time) (Token, error) {
	if trusted == nil || trusted.Curve != elliptic.P256() {
		return Token{}, fmt.Errorf("%w: the trusted key is not on P-256", ErrToken)
	}
	if strings.ContainsAny(token, " \t\r\n") { // which base64 skips
		return Token{}, fmt.Errorf("%w: white space", ErrToken)
	}
	var said claims
	_, err := jwt.ParseWithClaims(token, &said,
		func(*jwt.Token) (any, error) { return trusted, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodES256.Alg()}),
		jwt.WithTimeFunc(func() time.Time { return now }),
		jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(),
	)
	if err != nil {
		return Token{}, fmt.Errorf("%w: %w", ErrToken, err)
	}
	if said.ID == "" || said.OrganizationID == "" || said.Contact == "" || said.IssuedAt == nil {
		return Token{}, fmt.Errorf("%w: it is signed by this key, but is no verification token", ErrToken)
	}
	switch {
	case said.IssuedAt.After(now.Add(TokenLeeway)):
		return Token{}, fmt.Errorf("%w: used before issued", ErrToken)
	case said.OrganizationID != organizationID:
		return Token{}, fmt.Errorf("%w: it is of another organization", ErrToken)
	}
	return Token{
		ID: said.ID, Type: said.Type, Contact: said.Contact, OrganizationID: said.OrganizationID, PublicKey: said.PublicKey,
		IssuedAt: said.IssuedAt.UTC(), ExpiresAt: said.ExpiresAt.UTC(),
	}, nil
}

// es256 is jwt's ES256 for keys that are not at hand, as in an HSM: golang-jwt
// signs with *ecdsa.PrivateKey only.
type es256 struct{}

// Alg implements jwt.SigningMethod.
func (es256) Alg() string { return jwt.SigningMethodES256.Alg() }

// Verify implements jwt.SigningMethod.
func (es256) Verify(signing string, signature []byte, key any) error {
	return jwt.SigningMethodES256.Verify(signing, signature, key)
}

// Sign implements jwt.SigningMethod: r ‖ s, 32 bytes each, big-endian (RFC 7518,
// section 3.4). A crypto.Signer gives them in DER.
func (es256) Sign(signing string, key any) ([]byte, error) {
	digest := crypto.SHA256.New()
	digest.Write([]byte(signing))
	der, err := key.(crypto.Signer).Sign(rand.Reader, digest.Sum(nil), crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("otp: sign the verification token: %w", err)
	}
	var rs struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &rs); err != nil || len(rest) > 0 || rs.R.BitLen() > 256 || rs.S.BitLen() > 256 || rs.R.Sign() <= 0 || rs.S.Sign() <= 0 {
		return nil, errors.New("otp: the key for verification tokens made a malformed signature")
	}
	out := make([]byte, 64)
	rs.R.FillBytes(out[:32])
	rs.S.FillBytes(out[32:])
	return out, nil
}
