package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// generateCommand is one call of keys generate.
type generateCommand struct {
	at      keystoreFlags
	network networkFlag
	field   fieldFlag
	curve   string
	name    string
	count   int
}

func newGenerateCommand() *cobra.Command {
	var c generateCommand
	command := &cobra.Command{
		Use:   "generate",
		Short: "Create a key",
		Long: paragraphs(`
Create a key and print it as one line of JSON, once it is safe on disk or in the
HSM. --field prints one field of it as plain text, for --sign-with.

CURVE_SECP256K1 is for Ethereum, Tron, Bitcoin and Tempo, CURVE_ED25519 for Solana.
If the directory has no keystore yet, one is created. In an HSM the key is generated
inside and never leaves it.`),
		Example: "  countersign keys generate --keystore file:keys --curve CURVE_SECP256K1 --name 'hot wallet'",
		Args:    namedArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.at.register(command)
	c.at.registerNew(command)
	c.network.register(command)
	c.field.register(command)
	registerKeyFlags(command, &c.curve, &c.name)
	command.Flags().IntVar(&c.count, "count", 1, "create `N` keys; if more than one, -1, -2 and so on is appended to the name")
	return command
}

// generator is a keystore that generates keys.
type generator interface {
	keystore.Keystore
	keystore.Generator
}

func (c *generateCommand) run(cmd *cobra.Command) (err error) {
	if err := c.network.check(); err != nil {
		return err
	}
	if err := c.field.check(); err != nil {
		return err
	}
	curve, err := parseCurve(c.curve)
	if err != nil {
		return err
	}
	if c.count < 1 {
		return usagef("--count %d: at least 1", c.count)
	}
	keys, err := openFor[generator](&c.at, cmd, "this keystore generates no keys")
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	// A key that could not be printed is not created.
	another, err := memory.New().Generate(cmd.Context(), c.at.organization, "", curve)
	if err != nil {
		return err
	}
	if err := c.field.print(io.Discard, spendable(keys, c.network.line(another))); err != nil {
		return err
	}
	for number := 1; number <= c.count; number++ {
		name := c.name
		if c.count > 1 && name != "" {
			name = fmt.Sprintf("%s-%d", name, number)
		}
		info, err := keys.Generate(cmd.Context(), c.at.organization, name, curve)
		if err != nil {
			return err
		}
		if err := c.field.print(cmd.OutOrStdout(), spendable(keys, c.network.line(info))); err != nil {
			return err
		}
	}
	return nil
}

// registerKeyFlags adds the flags that describe a new key.
func registerKeyFlags(cmd *cobra.Command, curve, name *string) {
	cmd.Flags().StringVar(curve, "curve", "", "`CURVE` of the key: CURVE_SECP256K1 or CURVE_ED25519")
	cmd.Flags().StringVar(name, "name", "", "`NAME` of the key: free text for people")
}

// curvePrefix begins the names of curves in the API. It may be left out on the command
// line.
const curvePrefix = "CURVE_"

func parseCurve(name string) (keystore.Curve, error) {
	if name == "" {
		return 0, usagef("--curve is missing: use CURVE_SECP256K1 or CURVE_ED25519")
	}
	full := name
	if !strings.HasPrefix(name, curvePrefix) {
		full = curvePrefix + strings.ToUpper(name)
	}
	curve, err := keystore.ParseCurve(full)
	if err != nil {
		return 0, usagef("--curve: unknown curve %q: use secp256k1 or ed25519, or CURVE_SECP256K1 or CURVE_ED25519", name)
	}
	return curve, nil
}
