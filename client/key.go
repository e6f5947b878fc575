package client

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/stamp"
)

// Key is an API key and the organization that it is registered in. It is safe for
// concurrent use.
type Key struct {
	OrganizationID string
	*stamp.Signer
}

// ReadKey reads an API key from a file, see ParseKey.
func ReadKey(path string) (*Key, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(content)
	key, err := ParseKey(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// ParseKey parses an API key in the form that 'countersign init' and 'countersign apikey
// new' write:
//
//	{"organizationId":"…","publicKey":"<hex>","privateKey":"<hex>","curve":"API_KEY_CURVE_P256"}
//
// The public key must match the private one. ParseKey does not keep content; the caller
// should wipe it.
func ParseKey(content []byte) (*Key, error) {
	var organization, public, curve string
	var private []byte
	if err := strictjson.Read(content, "API key",
		strictjson.Required("organizationId", &organization),
		strictjson.Required("publicKey", &public),
		strictjson.Required("privateKey", &private),
		strictjson.Required("curve", &curve),
	); err != nil {
		return nil, err
	}
	secret := make([]byte, hex.DecodedLen(len(private)))
	defer keystore.Wipe(secret)
	if _, err := hex.Decode(secret, private); err != nil || len(secret) != keystore.SecretSize {
		return nil, errors.New("privateKey: expected 64 hex digits")
	}
	signer, err := stamp.NewSigner(stamp.Curve(curve), secret)
	if err != nil {
		return nil, err
	}
	if derived := hex.EncodeToString(signer.PublicKey()); derived != public {
		return nil, fmt.Errorf("publicKey is not that of privateKey, which is %s", derived)
	}
	return &Key{organization, signer}, nil
}
