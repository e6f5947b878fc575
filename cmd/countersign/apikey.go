package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	secp256k1ecdsa "github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/stamp"
)

// apiKey is the file of an API key: who sends requests has it, and nobody else.
type apiKey struct {
	OrganizationID string      `json:"organizationId"`
	PublicKey      string      `json:"publicKey"`  // hex; compressed, or 32 bytes on Ed25519
	PrivateKey     string      `json:"privateKey"` // hex: the scalar, or the seed on Ed25519
	Curve          stamp.Curve `json:"curve"`
}

// newAPIKey makes a key on P-256.
func newAPIKey(organizationID string) (apiKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return apiKey{}, err
	}
	secret, err := key.Bytes()
	if err != nil {
		return apiKey{}, err
	}
	public, err := compressed(&key.PublicKey)
	return apiKey{organizationID, public, hex.EncodeToString(secret), stamp.CurveP256}, err
}

// compressed is a point in hex, as SEC 1 compresses it.
func compressed(public *ecdsa.PublicKey) (string, error) {
	point, err := public.Bytes()
	if err != nil {
		return "", err
	}
	parity := point[len(point)-1] & 1
	return hex.EncodeToString(append([]byte{2 + parity}, point[1:1+len(point)/2]...)), nil
}

// apiKeyFlag names the file of an API key.
type apiKeyFlag struct{ path string }

func (f *apiKeyFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "api-key", "", "`FILE` with the API key, mode 0600, as init makes it")
}

// open reads the API key. From here on the process leaves no core dump.
func (f *apiKeyFlag) open(ctx context.Context) (*stamper, error) {
	if f.path == "" {
		return nil, usagef("--api-key is missing: the file of an API key, as init makes it")
	}
	content, err := readSecretFile(ctx, f.path)
	if err != nil {
		return nil, fmt.Errorf("--api-key: %w", err)
	}
	defer keystore.Wipe(content)
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	made, err := newStamper(content)
	if err != nil {
		return nil, fmt.Errorf("--api-key %s: %w", f.path, err)
	}
	return made, nil
}

// stamper stamps requests with an API key.
type stamper struct {
	organizationID string
	publicKey      string // hex
	scheme         stamp.Scheme
	sign           func(body []byte) (string, error)
}

// newStamper reads the file of an API key. It is told if the public key is not
// that of the private one.
func newStamper(content []byte) (*stamper, error) {
	var organization, public, private, curve []byte
	if err := strictjson.Decode(content,
		strictjson.Member{Name: "organizationId", Value: &organization},
		strictjson.Member{Name: "publicKey", Value: &public},
		strictjson.Member{Name: "privateKey", Value: &private},
		strictjson.Member{Name: "curve", Value: &curve},
	); err != nil {
		return nil, err
	}
	secret, err := hex.DecodeString(string(private))
	if err != nil || len(secret) != 32 {
		return nil, errors.New("privateKey: 64 hex digits are expected")
	}
	defer keystore.Wipe(secret)
	made := &stamper{organizationID: string(organization)}
	if err := made.useKey(stamp.Curve(curve), secret); err != nil {
		return nil, err
	}
	if made.publicKey != string(public) {
		return nil, fmt.Errorf("publicKey is not that of privateKey, which is %s", made.publicKey)
	}
	return made, nil
}

func (s *stamper) useKey(curve stamp.Curve, secret []byte) error {
	switch curve {
	case stamp.CurveP256:
		return s.useP256(secret)
	case stamp.CurveSecp256k1:
		return s.useSecp256k1(secret)
	case stamp.CurveEd25519:
		return s.useEd25519(secret)
	}
	return fmt.Errorf("curve %q is none: use %s, %s or %s", curve, stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519)
}

func (s *stamper) useP256(secret []byte) error {
	key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret)
	if err != nil {
		return errors.New("privateKey: not a key of P-256")
	}
	s.scheme = stamp.SchemeP256
	s.sign = func(body []byte) (string, error) {
		digest := sha256.Sum256(body)
		signature, err := key.Sign(rand.Reader, digest[:], crypto.SHA256)
		return hex.EncodeToString(signature), err
	}
	s.publicKey, err = compressed(&key.PublicKey)
	return err
}

func (s *stamper) useSecp256k1(secret []byte) error {
	var scalar secp256k1.ModNScalar
	if scalar.SetByteSlice(secret) || scalar.IsZero() {
		return errors.New("privateKey: not a key of secp256k1")
	}
	key := secp256k1.NewPrivateKey(&scalar)
	s.scheme = stamp.SchemeSecp256k1
	s.publicKey = hex.EncodeToString(key.PubKey().SerializeCompressed())
	s.sign = func(body []byte) (string, error) {
		digest := sha256.Sum256(body)
		return hex.EncodeToString(secp256k1ecdsa.Sign(key, digest[:]).Serialize()), nil
	}
	return nil
}

func (s *stamper) useEd25519(secret []byte) error {
	key := ed25519.NewKeyFromSeed(secret)
	s.scheme = stamp.SchemeEd25519
	s.publicKey = hex.EncodeToString(key[ed25519.SeedSize:])
	s.sign = func(body []byte) (string, error) { return hex.EncodeToString(ed25519.Sign(key, body)), nil }
	return nil
}

// stamp stamps a body: exactly these bytes.
func (s *stamper) stamp(body []byte) (stamp.Header, error) {
	signature, err := s.sign(body)
	if err != nil {
		return stamp.Header{}, err
	}
	text := jsonLine(struct {
		PublicKey string       `json:"publicKey"`
		Scheme    stamp.Scheme `json:"scheme"`
		Signature string       `json:"signature"`
	}{s.publicKey, s.scheme, signature})
	return stamp.Header{Name: stamp.HeaderAPIKey, Value: base64.RawURLEncoding.EncodeToString(text)}, nil
}
