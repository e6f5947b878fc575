package setup

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/weborigin"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/stamp"
)

// user is whom a credential is for.
type user struct {
	name, organization, config string
	tags                       []string
	votes                      bool // the credential may vote, and nothing else
	known                      bool // the configuration has the user already
}

func (u *user) register(cmd *cobra.Command, votes string) {
	flags := cmd.Flags()
	flags.StringVar(&u.name, "name", "", "`NAME` of the user")
	flags.StringVar(&u.organization, "org", "", "`ID` of the organization, if --config does not name the only one")
	flags.StringVar(&u.config, "config", "", "`FILE` with the organization, and perhaps the user: countersign.yaml")
	flags.StringSliceVar(&u.tags, "tag", nil, "`TAG` of the user, for policies (repeatable)")
	flags.BoolVar(&u.votes, "votes", false, votes)
	console.Require(cmd, "name", "the name of the user")
}

// check refuses names that serve would refuse in its configuration. If there is one, the
// organization is taken from it, and it is checked whether that has the user: the reload would
// refuse a second entry of the same name.
func (u *user) check() error {
	err := keystore.CheckName("--name", u.name)
	for _, tag := range u.tags {
		err = errors.Join(err, keystore.CheckName("--tag", tag))
	}
	if err != nil {
		return console.Usagef("%v", err)
	}
	if u.config == "" {
		return nil
	}
	_, organization, err := deployment.ReadConfig(u.config, u.organization)
	if err != nil {
		return err
	}
	u.organization = organization.ID
	u.known = slices.ContainsFunc(organization.Users, func(user access.UserConfig) bool { return user.Name == u.name })
	if u.known && len(u.tags) > 0 {
		return console.Usagef("--tag: user %q is in %s already: add the tags there", u.name, u.config)
	}
	return nil
}

// activities is the member of a credential that says what it may do, if that is to vote only.
func (u *user) activities() string {
	if !u.votes {
		return ""
	}
	return fmt.Sprintf(", activities: [%s, %s]", activity.TypeApproveActivity, activity.TypeRejectActivity)
}

// print prints the lines for the configuration that add a credential to a list of the user's.
func (u *user) print(cmd *cobra.Command, list, credential string) error {
	lines := fmt.Sprintf("          - {%s}\n", credential)
	if u.known {
		fmt.Fprintf(cmd.ErrOrStderr(), "User %q is in %s: add this line under the user's %s.\n", u.name, u.config, list)
	} else {
		tags := ""
		if len(u.tags) > 0 {
			tags = "        tags: " + string(console.JSONLine(u.tags)) + "\n"
		}
		lines = fmt.Sprintf("      - name: %s\n%s        %s:\n%s", console.JSONLine(u.name), tags, list, lines)
	}
	_, err := cmd.OutOrStdout().Write([]byte(lines))
	return err
}

// NewAPIKeyCommand returns the command apikey.
func NewAPIKeyCommand() *cobra.Command {
	return console.Group("apikey", "Create API keys", "Create API keys: the key pairs with which clients stamp their requests.",
		newAPIKeyNewCommand())
}

type apiKeyNewCommand struct {
	user
	out, expires, curve string
}

func newAPIKeyNewCommand() *cobra.Command {
	var c apiKeyNewCommand
	command := &cobra.Command{
		Use:   "new",
		Short: "Create an API key for a user",
		Long: console.Paragraphs(`
Create an API key. The key is written to a new file (mode 0600) for the client. The
lines for the configuration are printed on standard output: add them under "users:" of
the organization, and send a running server SIGHUP to reload them.

With --config, the organization need not be named if there is only one, and for a user
in the configuration only the line of the key is printed, to be added under the user's
"apiKeys:". To replace a key, add the new one, reload, switch the client over, remove
the old one, and reload again.

Every client can use p256, which is the default. A server that verifies many stamps
spends a third less on those of ed25519; choose it if the client can sign with it. Stamps
of secp256k1 take the least in a build with cgo and the most in one without, such as the
released binaries.

--votes creates a key that may approve and reject, and nothing else. A key that is
registered without a list of activities may not vote.`),
		Example: console.Paragraphs(`
  countersign apikey new --name ci --org 6e1f… --out ci.json --expires 90d
  countersign apikey new --name ci --config countersign.yaml --out ci-next.json`),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.register(command, "create a key that may vote on requests waiting for approvals, and nothing else")
	flags := command.Flags()
	flags.StringVar(&c.out, "out", "", "new `FILE` for the key")
	flags.StringVar(&c.curve, "curve", "p256", "`KIND` of key: p256, secp256k1 or ed25519")
	flags.StringVar(&c.expires, "expires", "", "`TIME` until the key expires, such as 90d or 12h (default: never)")
	console.Require(command, "out", "a new file for the key")
	return command
}

func (c *apiKeyNewCommand) run(cmd *cobra.Command) error {
	if c.organization == "" && c.config == "" {
		return console.Usagef("--org is missing: the id of the organization, or --config with the file that names it")
	}
	curve, err := deployment.ParseAPIKeyCurve(c.curve)
	if err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	expiry := ""
	if c.expires != "" {
		after, err := console.ParseDays(c.expires)
		if err != nil {
			return err
		}
		expiry = ", expiresAt: " + time.Now().Add(after).UTC().Format(time.RFC3339)
	}
	if err := harden.NoCoreDumps(); err != nil {
		return err
	}
	key, err := deployment.NewAPIKey(c.organization, curve)
	if err != nil {
		return err
	}
	if err := console.WriteNew(c.out, append(console.JSONLine(key), '\n')); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return c.print(cmd, "apiKeys",
		fmt.Sprintf("curve: %s, publicKey: %q%s%s", key.Curve, key.PublicKey, c.activities(), expiry))
}

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
