package stamp_test

import (
	"crypto/elliptic"
	"encoding/base64"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
)

// vector is a stamp by a public stamper package and the body it covers.
type vector struct {
	HeaderName, HeaderValue string
	Body                    string
	Decoded                 struct{ PublicKey, Scheme string }
	PasskeyPublicJwk        struct{ X, Y string }
	CredentialID            string
}

func (v *vector) header() stamp.Header { return stamp.Header{Name: v.HeaderName, Value: v.HeaderValue} }

func vectors(t testing.TB) map[string]*vector {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("vectors: %v, %v", paths, err)
	}
	all := map[string]*vector{}
	for _, path := range paths {
		one := new(vector)
		readJSON(t, path, one)
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = one
	}
	return all
}

func readJSON(t testing.TB, path string, into any) {
	t.Helper()
	testenv.JSON(t, testenv.Read(t, path), into)
}

// credential registers the key of a vector.
func (v *vector) credential(t testing.TB) *stamp.Credential {
	t.Helper()
	if v.CredentialID != "" {
		return passkey(t, unbase64(t, v.CredentialID), coseP256(t, unbase64(t, v.PasskeyPublicJwk.X), unbase64(t, v.PasskeyPublicJwk.Y)), "example.com")
	}
	return apiKey(t, v.curve(), testenv.Hex(t, v.Decoded.PublicKey))
}

func apiKey(t testing.TB, curve stamp.Curve, publicKey []byte) *stamp.Credential {
	t.Helper()
	credential, err := stamp.NewAPIKey(curve, publicKey)
	testenv.Must(t, err)
	return credential
}

func passkey(t testing.TB, id, coseKey []byte, rpID string, origins ...string) *stamp.Credential {
	t.Helper()
	credential, err := stamp.NewPasskey(id, coseKey, rpID, origins...)
	testenv.Must(t, err)
	return credential
}

// coseP256 encodes a COSE key of ES256.
func coseP256(t testing.TB, x, y []byte) []byte {
	return cose(t, map[int]any{1: 2, 3: -7, -1: 1, -2: x, -3: y})
}

func cose(t testing.TB, key map[int]any) []byte {
	t.Helper()
	mode, err := cbor.CTAP2EncOptions().EncMode() // as authenticators write it
	testenv.Must(t, err)
	encoded, err := mode.Marshal(key)
	testenv.Must(t, err)
	return encoded
}

func unbase64(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	testenv.Must(t, err)
	return raw
}

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// verify parses and verifies as the engine does.
func verify(credential *stamp.Credential, header stamp.Header, body string) error {
	sent, err := stamp.Parse(header)
	if err != nil {
		return err
	}
	return credential.Verify(sent, []byte(body), now)
}

func TestVectors(t *testing.T) {
	for name, vector := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			credential := vector.credential(t)
			testenv.Must(t, verify(credential, vector.header(), vector.Body))
			for _, test := range otherForms(t, vector) {
				if err := verify(credential, test, vector.Body); err != nil {
					t.Errorf("as %s %.20s…: %v", test.Name, test.Value, err)
				}
			}
		})
	}
}

// otherForms returns the other ways in which the stamp may be sent.
func otherForms(t *testing.T, v *vector) []stamp.Header {
	t.Helper()
	text := []byte(v.HeaderValue)
	passkey := v.HeaderName == stamp.HeaderPasskey
	if !passkey {
		text = unbase64(t, v.HeaderValue)
	}
	var forms []stamp.Header
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		value := encoding.EncodeToString(text)
		forms = append(forms, stamp.Header{Name: stamp.HeaderAPIKey, Value: value}, stamp.Header{Name: "x-stamp", Value: value})
		if passkey {
			forms = append(forms, stamp.Header{Name: stamp.HeaderPasskey, Value: value})
		}
	}
	if passkey {
		forms = append(forms, stamp.Header{Name: stamp.HeaderAPIKey, Value: v.HeaderValue})
	}
	return forms
}

func TestSuite(t *testing.T) {
	var suite struct {
		Body, Stamp string
		Decoded     struct{ PublicKey string }
	}
	readJSON(t, testenv.Suite(t, "stamps", "docs_real_tkcli.json"), &suite)
	credential := apiKey(t, stamp.CurveP256, testenv.Hex(t, suite.Decoded.PublicKey))
	header := stamp.Header{Name: "X-Stamp", Value: suite.Stamp}
	testenv.Must(t, verify(credential, header, suite.Body))
	if err := verify(credential, header, suite.Body+" "); !errors.Is(err, stamp.ErrSignature) {
		t.Errorf("another body: %v", err)
	}
}

// TestMutations changes every byte of the body, of the stamp as sent, and of the JSON in
// it.
func TestMutations(t *testing.T) {
	for name, vector := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			credential := vector.credential(t)
			header := vector.header()
			mutate(vector.Body, func(body string) {
				if verify(credential, header, body) == nil {
					t.Errorf("verifies over %q", body)
				}
			})
			mutate(header.Value, func(value string) {
				if verify(credential, stamp.Header{Name: header.Name, Value: value}, vector.Body) == nil && !padded(value, header.Value) {
					t.Errorf("verifies with %q", value)
				}
			})
			if header.Name == stamp.HeaderAPIKey {
				mutate(string(unbase64(t, header.Value)), func(text string) {
					value := base64.RawURLEncoding.EncodeToString([]byte(text))
					if verify(credential, stamp.Header{Name: header.Name, Value: value}, vector.Body) == nil {
						t.Errorf("verifies with %q", text)
					}
				})
			}
		})
	}
}

// mutate calls try with every text that is one change away.
func mutate(text string, try func(string)) {
	for i := range len(text) {
		for bit := range testenv.Some(8) {
			try(text[:i] + string([]byte{text[i] ^ 1<<bit}) + text[i+1:])
		}
		try(text[:i] + text[i+1:])
		try(text[:i])
		try(text[:i] + "A" + text[i:])
	}
	try(text + "\x00")
}

// padded reports whether only the padding differs, which is allowed.
func padded(changed, original string) bool { return strings.TrimRight(changed, "=") == original }

func TestChangedKey(t *testing.T) {
	for name, vector := range vectors(t) {
		if vector.CredentialID != "" {
			continue
		}
		original := vector.credential(t)
		raw := testenv.Hex(t, vector.Decoded.PublicKey)
		for i := range raw {
			for bit := range 8 {
				changed := append([]byte(nil), raw...)
				changed[i] ^= 1 << bit
				credential, err := stamp.NewAPIKey(vector.curve(), changed)
				if err != nil {
					continue // not a point of the curve
				}
				if credential.ID() == original.ID() || verify(credential, vector.header(), vector.Body) == nil {
					t.Fatalf("%s: verifies under %x", name, changed)
				}
			}
		}
	}
}

// curve returns the curve of an API key's vector.
func (v *vector) curve() stamp.Curve {
	switch {
	case strings.Contains(v.Decoded.Scheme, "SECP256K1"):
		return stamp.CurveSecp256k1
	case strings.Contains(v.Decoded.Scheme, "ED25519"):
		return stamp.CurveEd25519
	}
	return stamp.CurveP256
}

var p256 = elliptic.P256()
