package otp_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
)

// hsm is a signer whose private key is out of reach.
type hsm struct{ key *ecdsa.PrivateKey }

func (h hsm) Public() crypto.PublicKey { return &h.key.PublicKey }

func (h hsm) Sign(random io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	return h.key.Sign(random, digest, opts)
}

func newKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	testenv.Must(t, err)
	return key
}

var (
	issuedAt = time.Date(2026, time.May, 4, 3, 2, 1, 999, time.UTC)
	verified = otp.Verified{ID: "0fcd14f5-dae7-4331-82ca-ebaddd849534", OrganizationID: org, Type: otp.TypeEmail, Contact: "user@example.com"}
)

func TestToken(t *testing.T) {
	key := newKey(t, elliptic.P256())
	for range 50 { // enough for signatures with leading zeros
		token, err := otp.NewToken(verified, "036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296", "", issuedAt)
		testenv.Must(t, err)
		signed, err := token.Sign(hsm{key})
		testenv.Must(t, err)
		got, err := otp.VerifyToken(signed, &key.PublicKey, verified.OrganizationID, issuedAt)
		if err != nil || got != token {
			t.Fatalf("%+v, %v; want %+v", got, err, token)
		}
		if _, err := jwt.Parse(signed, func(*jwt.Token) (any, error) { return &key.PublicKey, nil },
			jwt.WithTimeFunc(func() time.Time { return issuedAt })); err != nil {
			t.Fatalf("golang-jwt: %v", err)
		}
	}
}

func TestTokenExpires(t *testing.T) {
	key := newKey(t, elliptic.P256())
	token, err := otp.NewToken(verified, "", "60", issuedAt)
	testenv.Must(t, err)
	signed, err := token.Sign(key)
	testenv.Must(t, err)
	if _, err := otp.VerifyToken(signed, &key.PublicKey, verified.OrganizationID, token.ExpiresAt.Add(-time.Millisecond)); err != nil {
		t.Errorf("just before it expires: %v", err)
	}
	if _, err := otp.VerifyToken(signed, &key.PublicKey, verified.OrganizationID, token.IssuedAt.Add(-otp.TokenLeeway)); err != nil {
		t.Errorf("by a clock that is slow: %v", err)
	}
	if _, err := otp.VerifyToken(signed, &key.PublicKey, "another", issuedAt); !errors.Is(err, otp.ErrToken) {
		t.Errorf("for another organization: %v", err)
	}
	for _, spelled := range []string{signed + "\n", "\r" + signed, strings.Replace(signed, ".", "\n.", 1)} {
		if _, err := otp.VerifyToken(spelled, &key.PublicKey, verified.OrganizationID, issuedAt); !errors.Is(err, otp.ErrToken) {
			t.Errorf("with a line break: %v", err)
		}
	}
	for name, now := range map[string]time.Time{"when it expires": token.ExpiresAt, "before it was issued": token.IssuedAt.Add(-otp.TokenLeeway - time.Second)} {
		if _, err := otp.VerifyToken(signed, &key.PublicKey, verified.OrganizationID, now); !errors.Is(err, otp.ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTokenChanged changes each character of a token.
func TestTokenChanged(t *testing.T) {
	key := newKey(t, elliptic.P256())
	token, err := otp.NewToken(verified, "", "", issuedAt)
	testenv.Must(t, err)
	signed, err := token.Sign(key)
	testenv.Must(t, err)
	for i := range signed {
		for _, to := range []string{"A", "B", ".", "", "-", "=", " "} {
			changed := signed[:i] + to + signed[i+1:]
			if changed == signed {
				continue
			}
			if _, err := otp.VerifyToken(changed, &key.PublicKey, verified.OrganizationID, issuedAt); !errors.Is(err, otp.ErrToken) {
				t.Fatalf("character %d as %q: %v", i, to, err)
			}
		}
	}
	for name, trusted := range map[string]*ecdsa.PublicKey{
		"another key": &newKey(t, elliptic.P256()).PublicKey, "another curve": &newKey(t, elliptic.P384()).PublicKey, "no key": nil,
	} {
		if _, err := otp.VerifyToken(signed, trusted, verified.OrganizationID, issuedAt); !errors.Is(err, otp.ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTokenForged checks that VerifyToken refuses JWTs that the key signed for other
// purposes, and those that anyone with the public key can create.
func TestTokenForged(t *testing.T) {
	key := newKey(t, elliptic.P256())
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	testenv.Must(t, err)
	claims := func(change func(jwt.MapClaims)) jwt.MapClaims {
		claims := jwt.MapClaims{
			"id": "a", "verification_type": "OTP_TYPE_EMAIL", "contact": "b", "organization_id": "c",
			"iat": issuedAt.Unix(), "exp": issuedAt.Unix() + 60,
		}
		if change != nil {
			change(claims)
		}
		return claims
	}
	without := func(name string) jwt.MapClaims { return claims(func(claims jwt.MapClaims) { delete(claims, name) }) }
	for name, test := range map[string]struct {
		method jwt.SigningMethod
		key    any
		claims jwt.Claims
		ok     bool
	}{
		"valid":           {jwt.SigningMethodES256, key, claims(nil), true},
		"none":            {jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, claims(nil), false},
		"HS256":           {jwt.SigningMethodHS256, public, claims(nil), false},
		"no id":           {jwt.SigningMethodES256, key, without("id"), false},
		"no contact":      {jwt.SigningMethodES256, key, without("contact"), false},
		"no organization": {jwt.SigningMethodES256, key, without("organization_id"), false},
		"no iat":          {jwt.SigningMethodES256, key, without("iat"), false},
		"no exp":          {jwt.SigningMethodES256, key, without("exp"), false},
	} {
		signed, err := jwt.NewWithClaims(test.method, test.claims).SignedString(test.key)
		testenv.Must(t, err)
		if _, err := otp.VerifyToken(signed, &key.PublicKey, "c", issuedAt); test.ok != (err == nil) || !test.ok && !errors.Is(err, otp.ErrToken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTokenParameters(t *testing.T) {
	for seconds, want := range map[string]time.Duration{"": time.Hour, "1": time.Second, "86400": 24 * time.Hour} {
		token, err := otp.NewToken(verified, "", seconds, issuedAt)
		if err != nil || token.ExpiresAt.Sub(token.IssuedAt) != want {
			t.Errorf("%q: %v, %v", seconds, token.ExpiresAt.Sub(token.IssuedAt), err)
		}
	}
	for _, seconds := range []string{"0", "86401", "-1", "1.5", "x"} {
		if _, err := otp.NewToken(verified, "", seconds, issuedAt); !errors.Is(err, otp.ErrParameter) {
			t.Errorf("%q: %v", seconds, err)
		}
	}
	p256 := newKey(t, elliptic.P256())
	uncompressed, err := p256.PublicKey.Bytes()
	testenv.Must(t, err)
	good := hex.EncodeToString(elliptic.MarshalCompressed(elliptic.P256(), p256.X, p256.Y)) //nolint:staticcheck // the form of API keys
	for key, ok := range map[string]bool{
		"": true, good: true, hex.EncodeToString(uncompressed): true, strings.ToUpper(good): true,
		"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798": true, // the generator of secp256k1
		"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a":   true, // RFC 8032, 7.1, test 1
		"zz": false, "<x>": false, "02ab": false, "0x" + good: false, good + "00": false, good[2:] + "zz": false, "a\n": false,
		"02" + strings.Repeat("ff", 32): false, "05" + good[2:]: false, strings.Repeat("00", 33): false, strings.Repeat("00", 65): false,
		"04" + strings.Repeat("01", 64): false, strings.Repeat("aa", 512): false,
	} {
		if _, err := otp.NewToken(verified, key, "", issuedAt); ok != (err == nil) {
			t.Errorf("public key %.140q: %v", key, err)
		}
	}
}

// brokenSigner is an HSM that does not return a signature.
type brokenSigner struct {
	hsm
	answer []byte
	err    error
}

func (s brokenSigner) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	return s.answer, s.err
}

func TestTokenBrokenSigner(t *testing.T) {
	token, err := otp.NewToken(verified, "", "", issuedAt)
	testenv.Must(t, err)
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	testenv.Must(t, err)
	for name, signer := range map[string]crypto.Signer{"P-384": newKey(t, elliptic.P384()), "Ed25519": ed} {
		if _, err := token.Sign(signer); err == nil || !strings.Contains(err.Error(), "not a P-256 key") {
			t.Errorf("%s: %v", name, err)
		}
	}
	key := hsm{newKey(t, elliptic.P256())}
	absent := errors.New("the token is absent")
	if _, err := token.Sign(brokenSigner{key, nil, absent}); !errors.Is(err, absent) {
		t.Errorf("error %v, want the signer's", err)
	}
	wide := append([]byte{2, 33, 1}, make([]byte, 32)...)
	for name, answer := range map[string][]byte{
		"nothing": nil, "raw": bytes.Repeat([]byte{0x11}, 64), "trailing bytes": {0x30, 6, 2, 1, 1, 2, 1, 1, 0},
		"r is 0": {0x30, 6, 2, 1, 0, 2, 1, 1}, "s is 0": {0x30, 6, 2, 1, 1, 2, 1, 0},
		"r too long": slices.Concat([]byte{0x30, 38}, wide, []byte{2, 1, 1}), "s too long": slices.Concat([]byte{0x30, 38, 2, 1, 1}, wide),
	} {
		if text, err := token.Sign(brokenSigner{key, answer, nil}); err == nil || !strings.Contains(err.Error(), "malformed signature") {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}
