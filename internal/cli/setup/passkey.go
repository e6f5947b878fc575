package setup

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/weborigin"
	"github.com/countersign-dev/countersign/stamp"
)

// NewPasskeyCommand returns the command passkey.
func NewPasskeyCommand() *cobra.Command {
	return console.Group("passkey", "Register passkeys",
		"Register passkeys: the credentials with which people stamp requests in a browser.",
		newPasskeyAddCommand())
}

type passkeyAddCommand struct {
	user
	credentialID, publicKey, rpID string
	origins                       []string
}

func newPasskeyAddCommand() *cobra.Command {
	var c passkeyAddCommand
	command := &cobra.Command{
		Use:   "add",
		Short: "Print the configuration of a user's passkey",
		Long: console.Paragraphs(`
Print the lines for the configuration that register a passkey. Add them under "users:"
of the organization, and send a running server SIGHUP to reload them. With --config, only
the line of the passkey is printed for a user whom the file has already.

--credential-id and --public-key come from the registration in the browser, in base64url
or base64: the credential's rawId, and either the COSE key in the attestation object or
the result of response.getPublicKey() (SPKI).`),
		Example: "  countersign passkey add --name ada --rp-id example.com --origin https://app.example.com \\\n   " +
			"   --credential-id dGVzdA --public-key MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE…",
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.register(command, "register a passkey for the approvals page: it may vote, and nothing else, with user verification")
	flags := command.Flags()
	flags.StringVar(&c.credentialID, "credential-id", "", "`ID` of the credential, in base64url")
	flags.StringVar(&c.publicKey, "public-key", "", "`KEY` of the credential, COSE or SPKI, in base64url")
	flags.StringVar(&c.rpID, "rp-id", "", "`DOMAIN` that the passkey belongs to, such as example.com")
	flags.StringArrayVar(&c.origins, "origin", nil,
		"`ORIGIN` whose pages may use it, such as https://app.example.com (repeatable; default: any of the domain)")
	console.Require(command, "credential-id", "the credential's rawId")
	console.Require(command, "public-key", "the key of the credential")
	console.Require(command, "rp-id", "the domain of the pages")
	return command
}

func (c *passkeyAddCommand) run(cmd *cobra.Command) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.votes && len(c.origins) == 0 {
		return console.Usagef("--origin is missing: votes count from the page's origin only")
	}
	// A domain or an origin that no browser would report would make the passkey one that is never used.
	if err := weborigin.CheckDomain(c.rpID); err != nil {
		return console.Usagef("--rp-id %v", err)
	}
	for _, text := range c.origins {
		if err := weborigin.CheckPasskey(text); err != nil {
			return console.Usagef("--origin %v", err)
		}
	}
	id, err := decodeAnyBase64(c.credentialID)
	if err != nil || len(id) == 0 {
		return console.Usagef("--credential-id: expected base64url")
	}
	encoded, err := decodeAnyBase64(c.publicKey)
	if err != nil {
		return console.Usagef("--public-key: expected base64url")
	}
	key, err := coseKeyOf(id, encoded, c.rpID, c.origins)
	if err != nil {
		return fmt.Errorf("--public-key: %w: use a COSE key or SPKI, as the browser gives it", err)
	}
	verified := ""
	if c.votes {
		verified = ", userVerification: required"
	}
	return c.print(cmd, "passkeys", fmt.Sprintf("credentialId: %q, publicKey: %q, rpId: %s, origins: %s%s%s",
		base64.RawURLEncoding.EncodeToString(id), base64.RawURLEncoding.EncodeToString(key),
		console.JSONLine(c.rpID), console.JSONLine(console.OrEmpty(c.origins)), verified, c.activities()))
}

// coseKeyOf converts a public key, COSE or SPKI, to COSE, and checks it.
func coseKeyOf(id, key []byte, rpID string, origins []string) ([]byte, error) {
	const sequence = 0x30 // an ASN.1 SEQUENCE begins an SPKI, a CBOR map begins a COSE key
	if len(key) > 0 && key[0] == sequence {
		converted, err := stamp.COSEKeyFromSPKI(key)
		if err != nil {
			return nil, err
		}
		key = converted
	}
	if _, err := stamp.NewPasskey(id, key, rpID, origins...); err != nil {
		return nil, err
	}
	return key, nil
}

// decodeAnyBase64 decodes base64 in either alphabet, padded or not.
func decodeAnyBase64(text string) ([]byte, error) {
	text = strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimSpace(text)), "=")
	if text == "" {
		return nil, errors.New("empty")
	}
	return base64.RawURLEncoding.DecodeString(text)
}
