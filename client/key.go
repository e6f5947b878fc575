package client

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/countersign-dev/countersign/internal/secret"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/stamp/signer"
)

// Key is an API key and the organization that it is registered in. It is safe for concurrent use.
type Key struct {
	OrganizationID string
	*signer.Signer
}

// NewSigner makes the signer of a key's secret. signer.New does so for the curves of the
// standard library, P-256 and Ed25519, and stamp.NewSigner, which links more, for all.
type NewSigner func(curve signer.Curve, secret []byte) (*signer.Signer, error)

// ReadKey reads an API key on P-256 or Ed25519 from a file, see ParseKey.
func ReadKey(path string) (*Key, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	defer secret.Wipe(content)
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
//
// A key on secp256k1 needs ParseKeyWith.
func ParseKey(content []byte) (*Key, error) { return ParseKeyWith(content, signer.New) }

// ParseKeyWith is ParseKey for the curves of newSigner.
func ParseKeyWith(content []byte, newSigner NewSigner) (*Key, error) {
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
	scalar := make([]byte, hex.DecodedLen(len(private)))
	defer secret.Wipe(scalar)
	if _, err := hex.Decode(scalar, private); err != nil || len(scalar) != secret.Size {
		return nil, errors.New("privateKey: expected 64 hex digits")
	}
	made, err := newSigner(signer.Curve(curve), scalar)
	if err != nil {
		return nil, err
	}
	if derived := hex.EncodeToString(made.PublicKey()); derived != public {
		return nil, fmt.Errorf("publicKey is not that of privateKey, which is %s", derived)
	}
	return &Key{organization, made}, nil
}
