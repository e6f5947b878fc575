package setup

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/harden"
)

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
  countersign apikey new --name ci --org 6e1f8f5e-1111-4222-8333-444455556666 --out ci.json --expires 90d
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
