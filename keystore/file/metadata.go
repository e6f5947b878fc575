package file

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
)

// Limits of the metadata, in bytes.
const (
	maxNameSize         = 256
	maxOrganizationSize = 256
)

// metadata describes the key in the header of a key file. It is one line of JSON in exactly
// this form; the last two members are omitted if not set:
//
//	{"organizationId":"…","privateKeyId":"…","name":"…","curve":"CURVE_…","publicKey":"<hex>",
//	 "createdAt":"2026-01-02T03:04:05Z","actsFor":"<hex>","disabled":true}
type metadata struct {
	OrganizationID string         `json:"organizationId"`
	PrivateKeyID   string         `json:"privateKeyId"` // UUID in lower case
	Name           string         `json:"name"`
	Curve          keystore.Curve `json:"curve"`
	PublicKey      string         `json:"publicKey"`         // keystore.PublicKey.Bytes in hex
	CreatedAt      string         `json:"createdAt"`         // time.RFC3339, UTC
	ActsFor        string         `json:"actsFor,omitempty"` // keystore.KeyInfo.ActsFor
	Disabled       bool           `json:"disabled,omitempty"`
}

func newMetadata(organizationID string, info keystore.KeyInfo) metadata {
	return metadata{
		OrganizationID: organizationID,
		PrivateKeyID:   info.ID,
		Name:           info.Name,
		Curve:          info.PublicKey.Curve(),
		PublicKey:      info.PublicKey.String(),
		CreatedAt:      info.CreatedAt.UTC().Format(time.RFC3339),
		ActsFor:        info.ActsFor,
	}
}

// parseMetadata returns the metadata and what check makes of it. It accepts only what
// strictjson.Marshal writes.
func parseMetadata[M, T any](encoded []byte, check func(M) (T, error)) (m M, checked T, err error) {
	if err := json.Unmarshal(encoded, &m); err != nil {
		return m, checked, fmt.Errorf("%w: metadata: %w", ErrMalformed, err)
	}
	if canonical, err := strictjson.Marshal(m); err != nil || !bytes.Equal(canonical, encoded) {
		return m, checked, fmt.Errorf("%w: metadata is not in canonical form", ErrMalformed)
	}
	if checked, err = check(m); err != nil {
		return m, checked, fmt.Errorf("%w: metadata: %w", ErrMalformed, err)
	}
	return m, checked, nil
}

// keyInfo returns the key after checking all of the metadata.
func (m metadata) keyInfo() (info keystore.KeyInfo, err error) {
	if err := m.check(); err != nil {
		return info, err
	}
	info = keystore.KeyInfo{ID: m.PrivateKeyID, Name: m.Name, ActsFor: m.ActsFor}
	point, err := hex.DecodeString(m.PublicKey)
	if err != nil {
		return info, fmt.Errorf("publicKey: %w", err)
	}
	if info.PublicKey, err = keystore.ParsePublicKey(m.Curve, point); err != nil {
		return info, fmt.Errorf("publicKey: %w", err)
	}
	if info.PublicKey.String() != m.PublicKey {
		return info, fmt.Errorf("publicKey %s is not in canonical form", m.PublicKey)
	}
	if info.CreatedAt, err = time.Parse(time.RFC3339, m.CreatedAt); err != nil {
		return info, fmt.Errorf("createdAt: %w", err)
	}
	return info, nil
}

// check checks everything but the public key, on writing and on reading.
func (m metadata) check() error {
	if m.OrganizationID == "" {
		return fmt.Errorf("organization id is empty")
	}
	if err := checkText("organization id", m.OrganizationID, maxOrganizationSize); err != nil {
		return err
	}
	if err := checkText("name", m.Name, maxNameSize); err != nil {
		return err
	}
	if id, err := canonicalID(m.PrivateKeyID); err != nil || id != m.PrivateKeyID {
		return fmt.Errorf("key id %q is not a UUID in lower case", m.PrivateKeyID)
	}
	if err := checkActsFor(m.ActsFor, m.Curve); err != nil {
		return err
	}
	if !strings.HasSuffix(m.CreatedAt, "Z") || len(m.CreatedAt) != len("2006-01-02T03:04:05Z") {
		return fmt.Errorf("creation time %s is not a UTC time with a four-digit year", m.CreatedAt)
	}
	return nil
}

// checkActsFor accepts a Tempo account, and only for keys that can be access keys there.
func checkActsFor(account string, curve keystore.Curve) error {
	if account == "" {
		return nil
	}
	if curve != keystore.CurveSecp256k1 {
		return fmt.Errorf("a key on %v cannot act for another account: access keys are on %v", curve, keystore.CurveSecp256k1)
	}
	if address, err := hex.DecodeString(account); err != nil || len(address) != 20 || hex.EncodeToString(address) != account {
		return fmt.Errorf("the account %q that the key acts for is not an address of 40 lower-case hex digits", account)
	}
	return nil
}

// checkText refuses text that is too long or cannot be shown as it is.
func checkText(what, text string, limit int) error {
	if len(text) > limit {
		return fmt.Errorf("%s has %d bytes, the limit is %d", what, len(text), limit)
	}
	return keystore.CheckName(what, text)
}

// canonicalID returns a UUID in lower case, the form used in file names.
func canonicalID(id string) (string, error) {
	parsed, err := uuid.Parse(id)
	if err != nil || len(id) != len(parsed.String()) {
		return "", fmt.Errorf("key id %q is not a UUID: leave it empty to generate one", id)
	}
	return parsed.String(), nil
}
