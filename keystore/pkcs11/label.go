package pkcs11

import (
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

// label returns the CKA_LABEL of a key. On a token that several organizations
// share it is
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
