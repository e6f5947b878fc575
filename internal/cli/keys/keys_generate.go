package keys

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
)

type generateCommand struct {
	at      *deployment.KeystoreFlags
	network show.NetworkFlag
	field   fieldFlag
	curve   string
	name    string
	count   int
	uri     string // in a key service
}

func newGenerateCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := generateCommand{at: at}
	command := &cobra.Command{
		Use:   "generate",
		Short: "Create a key",
		Long: console.Paragraphs(`
Create a key and print it as one line of JSON, once it is safe on disk or in the
HSM. --field prints one field of it as plain text, for --sign-with.

secp256k1 is for Ethereum, Tron, Bitcoin and Tempo, ed25519 for Solana.
If the directory has no keystore yet, one is created. In an HSM the key is generated
inside and never leaves it. With --uri and --config, a key service such as AWS KMS creates
the key, non-exportable and in its HSM if it has one, and the key is added to the
configuration, see 'countersign keys add'.`),
		Example: "  countersign keys generate --keystore file:keys --curve secp256k1 --name 'hot wallet'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.at.RegisterNew(command)
	c.network.Register(command)
	c.field.register(command)
	registerKeyFlags(command, &c.curve, &c.name)
	command.Flags().StringVar(&c.uri, "uri", "", "with --config: create a `KEY` in a key service, such as awskms:alias/NAME")
	command.Flags().IntVar(&c.count, "count", 1, "create `N` keys; if more than one, -1, -2 and so on is appended to the name")
	return command
}

type generator interface {
	keystore.Keystore
	keystore.Generator
}

func (c *generateCommand) run(cmd *cobra.Command) (err error) {
	curve, err := parseCurve(c.curve)
	if err != nil {
		return err
	}
	if c.count < 1 {
		return console.Usagef("--count %d: at least 1", c.count)
	}
	if c.uri != "" {
		key := serviceKey{at: c.at, uri: c.uri, name: c.name, network: &c.network, field: &c.field}
		return key.generate(cmd, curve)
	}
	keys, err := deployment.OpenFor[generator](c.at, cmd, "this keystore generates no keys")
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	// A key that could not be printed is not created.
	if err := c.field.fits(cmd.Context(), keys, &c.network, curve); err != nil {
		return err
	}
	for number := 1; number <= c.count; number++ {
		name := c.name
		if c.count > 1 && name != "" {
			name = fmt.Sprintf("%s-%d", name, number)
		}
		if err := c.at.Judge(cmd.Context(), keys, cmd.ErrOrStderr(), "", name); err != nil {
			return err
		}
		info, err := keys.Generate(cmd.Context(), c.at.Organization, name, curve)
		if err != nil {
			return err
		}
		if err := c.field.print(cmd.OutOrStdout(), deployment.Spendable(keys, c.network.Line(info))); err != nil {
			return err
		}
	}
	return nil
}
