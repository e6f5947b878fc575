package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/stamp"
)

// apiKey is the content of an API key file, which only the sender of requests has.
type apiKey struct {
	OrganizationID string      `json:"organizationId"`
	PublicKey      string      `json:"publicKey"`  // hex; compressed, or 32 bytes on Ed25519
	PrivateKey     string      `json:"privateKey"` // hex: the scalar, or the seed on Ed25519
	Curve          stamp.Curve `json:"curve"`
}

// newAPIKey generates an API key.
func newAPIKey(organizationID string, curve stamp.Curve) (apiKey, error) {
	secret := make([]byte, keystore.SecretSize)
	defer keystore.Wipe(secret)
	_, _ = rand.Read(secret) // never fails
	signer, err := stamp.NewSigner(curve, secret)
	for err != nil && slices.Contains(apiKeyCurves, curve) { // a secret of zero or not below the order: one in 2^32
		_, _ = rand.Read(secret)
		signer, err = stamp.NewSigner(curve, secret)
	}
	if err != nil {
		return apiKey{}, err
	}
	return apiKey{organizationID, hex.EncodeToString(signer.PublicKey()), hex.EncodeToString(secret), curve}, nil
}

// apiKeyCurves are the curves of API keys, the default first.
var apiKeyCurves = []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519}

// parseAPIKeyCurve parses the curve of an API key: "API_KEY_CURVE_P256", or "p256" for
// short.
func parseAPIKeyCurve(name string) (stamp.Curve, error) {
	const prefix = "API_KEY_CURVE_"
	curve := stamp.Curve(prefix + strings.TrimPrefix(strings.ToUpper(name), prefix))
	if !slices.Contains(apiKeyCurves, curve) {
		return "", usagef("--curve %q: use p256, secp256k1 or ed25519", name)
	}
	return curve, nil
}

// apiKeyFlag names the file of an API key.
type apiKeyFlag struct{ path string }

func (f *apiKeyFlag) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.path, "api-key", "", "`FILE` with the API key, mode 0600, as init creates it")
}

// open reads the API key. From here on the process leaves no core dump.
func (f *apiKeyFlag) open(ctx context.Context) (*api.Key, error) {
	if f.path == "" {
		return nil, usagef("--api-key is missing: the file of an API key, as init creates it")
	}
	content, err := readSecretFile(ctx, f.path)
	if err != nil {
		return nil, fmt.Errorf("--api-key: %w", err)
	}
	defer keystore.Wipe(content)
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	key, err := api.ParseKeyWith(content, stamp.NewSigner)
	if err != nil {
		return nil, fmt.Errorf("--api-key %s: %w: expected a file as 'countersign init' and 'apikey new' write it", f.path, err)
	}
	return key, nil
}
