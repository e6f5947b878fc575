package deployment

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	api "github.com/countersign-dev/countersign/client"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/stamp"
)

// APIKey is the content of an API key file, which only the sender of requests has.
type APIKey struct {
	OrganizationID string      `json:"organizationId"`
	PublicKey      string      `json:"publicKey"`  // hex; compressed, or 32 bytes on Ed25519
	PrivateKey     string      `json:"privateKey"` // hex: the scalar, or the seed on Ed25519
	Curve          stamp.Curve `json:"curve"`
}

// NewAPIKey generates an API key.
func NewAPIKey(organizationID string, curve stamp.Curve) (APIKey, error) {
	secret := make([]byte, keystore.SecretSize)
	defer keystore.Wipe(secret)
	_, _ = rand.Read(secret) // never fails
	signer, err := stamp.NewSigner(curve, secret)
	for err != nil && slices.Contains(apiKeyCurves, curve) { // a secret of zero or not below the order: one in 2^32
		_, _ = rand.Read(secret)
		signer, err = stamp.NewSigner(curve, secret)
	}
	if err != nil {
		return APIKey{}, err
	}
	return APIKey{organizationID, hex.EncodeToString(signer.PublicKey()), hex.EncodeToString(secret), curve}, nil
}

// apiKeyCurves are the curves of API keys, the default first.
var apiKeyCurves = []stamp.Curve{stamp.CurveP256, stamp.CurveSecp256k1, stamp.CurveEd25519}

// ParseAPIKeyCurve parses the curve of an API key: "API_KEY_CURVE_P256", or "p256" for
// short.
func ParseAPIKeyCurve(name string) (stamp.Curve, error) {
	const prefix = "API_KEY_CURVE_"
	curve := stamp.Curve(prefix + strings.TrimPrefix(strings.ToUpper(name), prefix))
	if !slices.Contains(apiKeyCurves, curve) {
		return "", console.Usagef("--curve %q: use p256, secp256k1 or ed25519", name)
	}
	return curve, nil
}

// APIKeyFlag names the file of an API key.
type APIKeyFlag struct{ Path string }

// Register adds the flag to a command.
func (f *APIKeyFlag) Register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Path, "api-key", "", "`FILE` with the API key, mode 0600, as init creates it")
}

// Open reads the API key. From here on the process leaves no core dump.
func (f *APIKeyFlag) Open(ctx context.Context) (*api.Key, error) {
	if f.Path == "" {
		return nil, console.Usagef("--api-key is missing: the file of an API key, as init creates it")
	}
	content, err := console.ReadSecretFile(ctx, f.Path)
	if err != nil {
		return nil, fmt.Errorf("--api-key: %w", err)
	}
	defer keystore.Wipe(content)
	if err := harden.NoCoreDumps(); err != nil {
		return nil, err
	}
	key, err := api.ParseKeyWith(content, stamp.NewSigner)
	if err != nil {
		return nil, fmt.Errorf("--api-key %s: %w: expected a file as 'countersign init' and 'apikey new' write it", f.Path, err)
	}
	return key, nil
}
