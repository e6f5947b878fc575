package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/spf13/cobra"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
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
	defer keystore.Wipe(secret)
	signer, err := stamp.NewSigner(stamp.CurveP256, secret)
	if err != nil {
		return apiKey{}, err
	}
	return apiKey{organizationID, hex.EncodeToString(signer.PublicKey()), hex.EncodeToString(secret), stamp.CurveP256}, nil
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
	*stamp.Signer
}

// newStamper reads the file of an API key.
func newStamper(content []byte) (*stamper, error) {
	key, err := api.ParseKey(content)
	if err != nil {
		return nil, err
	}
	return &stamper{key.OrganizationID, key.Signer}, nil
}
