package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/keystore"
)

func newGenerateCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	var field fieldFlag
	var curve, name string
	var count int
	command := &cobra.Command{
		Use:   "generate",
		Short: "Make a new key",
		Long: paragraphs(`
Make a new key and print it as one line of JSON, when it is safe on disk, or
in the HSM. --field prints one field of it as plain text, for --sign-with.

CURVE_SECP256K1 is for Ethereum, Tron, Bitcoin and Tempo, CURVE_ED25519 for
Solana. If there is no keystore in the directory yet, one is made. In an HSM the
key is made inside, and never leaves it.`),
		Example: "  countersign keys generate --keystore file:keys --curve CURVE_SECP256K1 --name 'hot wallet'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := network.check(); err != nil {
				return err
			}
			if err := field.check(); err != nil {
				return err
			}
			onCurve, err := parseCurve(curve)
			if err != nil {
				return err
			}
			return generateKeys(cmd, at, network, field, newKeys{name, onCurve, count})
		},
	}
	at.register(command)
	at.registerNew(command)
	network.register(command)
	field.register(command)
	registerKeyFlags(command, &curve, &name)
	command.Flags().IntVar(&count, "count", 1, "make `N` keys; with more than one, -1, -2 and so on is added to the name")
	return command
}

// generator is a keystore that makes keys.
type generator interface {
	keystore.Keystore
	keystore.Generator
}

// newKeys are the keys to make.
type newKeys struct {
	name  string
	curve keystore.Curve
	count int
}

// generateKeys makes keys and prints each when it is safe.
func generateKeys(cmd *cobra.Command, at keystoreFlags, network networkFlag, field fieldFlag, wanted newKeys) (err error) {
	if wanted.count < 1 {
		return usagef("--count %d: at least 1", wanted.count)
	}
	keys, err := createFor[generator](&at, cmd, "this keystore makes no keys")
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	for number := 1; number <= wanted.count; number++ {
		called := wanted.name
		if wanted.count > 1 && wanted.name != "" {
			called = fmt.Sprintf("%s-%d", wanted.name, number)
		}
		info, err := keys.Generate(cmd.Context(), at.organization, called, wanted.curve)
		if err != nil {
			return err
		}
		if err := field.print(cmd.OutOrStdout(), spendable(keys, network.line(info))); err != nil {
			return err
		}
	}
	return nil
}

// registerKeyFlags adds what is said of a new key.
func registerKeyFlags(cmd *cobra.Command, curve, name *string) {
	cmd.Flags().StringVar(curve, "curve", "", "`CURVE` of the key: CURVE_SECP256K1 or CURVE_ED25519")
	cmd.Flags().StringVar(name, "name", "", "`NAME` of the key: free text for people")
}

// curvePrefix is what names of curves have in the API; "secp256k1" is taken in short.
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
