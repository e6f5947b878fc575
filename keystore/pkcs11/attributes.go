package pkcs11

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
)

// maxLabel is the maximum length of a new CKA_LABEL in bytes: organization, slash and name.
const maxLabel = 255

var (
	escapeOrganization   = strings.NewReplacer("%", "%25", "/", "%2F")
	unescapeOrganization = strings.NewReplacer("%25", "%", "%2F", "/")
)

// label returns the CKA_LABEL of a key. On a token that several organizations share it is
//
//	organization "/" name
//
// with % and / in the organization written %25 and %2F. On a token of one
// organization it is the name.
func (s settings) label(organization, name string) string {
	if s.organization != "" {
		return name
	}
	return escapeOrganization.Replace(organization) + "/" + name
}

func (s settings) parseLabel(label string) (organization, name string, err error) {
	if !utf8.ValidString(label) {
		return "", "", errors.New("its CKA_LABEL is not UTF-8")
	}
	if s.organization != "" {
		return s.organization, label, nil
	}
	escaped, name, found := strings.Cut(label, "/")
	if !found || escaped == "" {
		return "", "",
			fmt.Errorf("its CKA_LABEL %q is not ORGANIZATION/NAME: relabel it, or give the token to one "+
				"organization with countersign-organization=ID in the URI", label)
	}
	organization = unescapeOrganization.Replace(escaped)
	if escapeOrganization.Replace(organization) != escaped {
		return "", "", fmt.Errorf("its CKA_LABEL %q has a %% that is not %%25 or %%2F", label)
	}
	return organization, name, nil
}

// checkNew checks the organization and the name of a new key.
func (s settings) checkNew(organization, name string) error {
	switch {
	case organization == "":
		return errors.New("the organization is empty")
	case s.organization != "" && organization != s.organization:
		return fmt.Errorf("the token belongs to organization %q, not to %q", s.organization, organization)
	case len(s.label(organization, name)) > maxLabel:
		return fmt.Errorf("organization and name together are longer than %d bytes", maxLabel)
	}
	return errors.Join(keystore.CheckName("organization", organization), keystore.CheckName("name", name))
}

// keyID returns the id of a key by its CKA_ID: a UUID if it has 16 bytes, otherwise hex.
func keyID(ckaID []byte) string {
	if id, err := uuid.FromBytes(ckaID); err == nil {
		return id.String()
	}
	return hex.EncodeToString(ckaID)
}

// The forms of CKA_EC_PARAMS: the DER of an object identifier, or of a
// PrintableString with the curve's name.
var (
	secp256k1OID  = []byte{0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x0a} // 1.3.132.0.10
	secp256k1Name = append([]byte{0x13, 9}, "secp256k1"...)
	ed25519OID    = []byte{0x06, 0x03, 0x2b, 0x65, 0x70}                                     // 1.3.101.112
	ed25519GnuPG  = []byte{0x06, 0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x0f, 0x01} // 1.3.6.1.4.1.11591.15.1
	ed25519Name   = append([]byte{0x13, 12}, "edwards25519"...)
	p256OID       = []byte{0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07} // 1.2.840.10045.3.1.7
)

// curveOf reads CKA_EC_PARAMS. It returns 0 for an unsupported curve.
func curveOf(params []byte) keystore.Curve {
	switch {
	case bytes.Equal(params, secp256k1OID), bytes.Equal(params, secp256k1Name):
		return keystore.CurveSecp256k1
	case bytes.Equal(params, ed25519OID), bytes.Equal(params, ed25519Name), bytes.Equal(params, ed25519GnuPG):
		return keystore.CurveEd25519
	}
	return 0
}

// parseClaim reads CKA_EC_PARAMS and CKA_EC_POINT. It returns the zero PublicKey for an
// unsupported named curve. Explicit parameters could be any curve and are an error.
func parseClaim(params, point []byte) (keystore.PublicKey, error) {
	const objectIdentifier, printableString = 0x06, 0x13
	curve := curveOf(params)
	switch {
	case curve != 0:
		return parsePoint(curve, point)
	case len(params) > 0 && (params[0] == objectIdentifier || params[0] == printableString):
		return keystore.PublicKey{}, nil
	}
	return keystore.PublicKey{},
		fmt.Errorf("its CKA_EC_PARAMS of %d bytes do not name a curve: create the key with the curve's object identifier", len(params))
}

// parsePoint reads CKA_EC_POINT. The standard requires the DER of an OCTET STRING; some
// modules omit the wrapping, some use a BIT STRING for Ed25519:
//
//	secp256k1   04 41 04 x y    04 21 02|03 x    raw: 04 x y, 02|03 x
//	Ed25519     04 20 y         03 21 00 y       raw: y
//
// The lengths of the forms differ, so that no point is ambiguous.
func parsePoint(curve keystore.Curve, encoded []byte) (keystore.PublicKey, error) {
	point := encoded
	switch {
	case curve == keystore.CurveSecp256k1 && len(encoded) == 67:
		point = bytes.TrimPrefix(encoded, []byte{0x04, 65})
	case curve == keystore.CurveSecp256k1 && len(encoded) == 35:
		point = bytes.TrimPrefix(encoded, []byte{0x04, 33})
	case curve == keystore.CurveEd25519 && len(encoded) == 34:
		point = bytes.TrimPrefix(encoded, []byte{0x04, 32})
	case curve == keystore.CurveEd25519 && len(encoded) == 35:
		point = bytes.TrimPrefix(encoded, []byte{0x03, 33, 0})
	}
	public, err := keystore.ParsePublicKey(curve, point)
	if err != nil {
		return keystore.PublicKey{}, fmt.Errorf("CKA_EC_POINT of %d bytes: %w", len(encoded), err)
	}
	return public, nil
}

// encodePoint writes CKA_EC_POINT as the standard requires.
func encodePoint(public keystore.PublicKey) []byte {
	if public.Curve() == keystore.CurveEd25519 {
		return append([]byte{0x04, 32}, public.Bytes()...)
	}
	point := public.Uncompressed()
	return append([]byte{0x04, 65}, point[:]...)
}
