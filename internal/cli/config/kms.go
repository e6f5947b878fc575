package config

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// KMSKey is a key in a key service, see remote.Pin. 'countersign keys add' writes it.
type KMSKey struct {
	URI          string `yaml:"uri"`
	PublicKey    string `yaml:"publicKey"` // hex: 33 bytes on secp256k1, 32 on Ed25519
	Name         string `yaml:"name"`
	Organization string `yaml:"organization"` // its id; may be left out if there is only one
	ID           string `yaml:"id"`           // default: computed from the public key
	Disabled     bool   `yaml:"disabled"`
}

func parsePublicKey(text string) (keystore.PublicKey, error) {
	raw, err := hex.DecodeString(text)
	if err != nil {
		return keystore.PublicKey{}, errors.New("not hex")
	}
	switch len(raw) {
	case 33:
		return keystore.ParsePublicKey(keystore.CurveSecp256k1, raw)
	case 32:
		return keystore.ParsePublicKey(keystore.CurveEd25519, raw)
	}
	return keystore.PublicKey{}, fmt.Errorf("%d bytes: write 33 of a compressed point on secp256k1, or the 32 of Ed25519", len(raw))
}

// Pins returns the keys in key services.
func (c *Config) Pins() ([]remote.Pin, error) {
	pins := make([]remote.Pin, len(c.KMS))
	for i, key := range c.KMS {
		pin, err := key.pin(c.Organizations)
		if err != nil {
			return nil, fmt.Errorf("kms[%d]: %w", i, err)
		}
		if slices.ContainsFunc(pins[:i], func(other remote.Pin) bool {
			return other.OrganizationID == pin.OrganizationID && (other.PublicKey == pin.PublicKey ||
				keystore.ByID(other.ID) == keystore.ByID(pin.ID))
		}) {
			return nil, fmt.Errorf("kms[%d]: the organization has this publicKey or id already", i)
		}
		pins[i] = pin
	}
	return pins, nil
}

// pin checks what can be checked without a key service.
func (k *KMSKey) pin(organizations []access.OrganizationConfig) (pin remote.Pin, err error) {
	pin = remote.Pin{URI: k.URI, Name: k.Name, ID: k.ID, Disabled: k.Disabled, OrganizationID: k.Organization}
	if pin.OrganizationID == "" && len(organizations) == 1 {
		pin.OrganizationID = organizations[0].ID
	}
	switch {
	case !strings.Contains(k.URI, ":"):
		return pin, errors.New("uri is missing: write what 'countersign keys add --uri' took, such as awskms:alias/hot")
	case k.PublicKey == "":
		return pin, errors.New("publicKey is missing: 'countersign keys add' fetches it, and writes the whole line")
	case pin.OrganizationID == "":
		return pin, errors.New("organization is missing: there are several")
	case !slices.ContainsFunc(organizations, func(o access.OrganizationConfig) bool { return o.ID == pin.OrganizationID }):
		return pin, fmt.Errorf("organization: there is no %q", pin.OrganizationID)
	}
	if err := errors.Join(keystore.CheckName("name", k.Name), keystore.CheckName("id", k.ID)); err != nil {
		return pin, err
	}
	if pin.PublicKey, err = parsePublicKey(k.PublicKey); err != nil {
		return pin, fmt.Errorf("publicKey: %w", err)
	}
	if pin.ID == "" {
		pin.ID = remote.IDOf(pin.PublicKey)
	}
	return pin, nil
}

// checkKeys refuses a configuration without keys, and keys in services that are wrong whatever
// the services say.
func (c *Config) checkKeys() error {
	if c.Keystore == "" && len(c.KMS) == 0 {
		return errors.New("keystore is missing: file:DIR")
	}
	if len(c.Organizations) == 0 {
		return nil // refused for that
	}
	_, err := c.Pins()
	return err
}
