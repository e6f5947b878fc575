package main

import (
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/keystore"
)

func newGenerateCommand() *cobra.Command {
	var at keystoreFlags
	var network networkFlag
	var curve, name string
	command := &cobra.Command{
		Use:   "generate",
		Short: "Make a new key",
		Long: paragraphs(`
Make a new key and print it as one line of JSON, when it is safe on disk, or
in the HSM.

CURVE_SECP256K1 is for Ethereum, Tron, Bitcoin and Tempo, CURVE_ED25519 for
Solana. If there is no keystore in the directory yet, one is made. In an HSM the
key is made inside, and never leaves it.`),
		Example: "  countersign keys generate --keystore file:keys --curve CURVE_SECP256K1 --name 'hot wallet'",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := network.check(); err != nil {
				return err
			}
			onCurve, err := parseCurve(curve)
			if err != nil {
				return err
			}
			info, err := at.generate(cmd, name, onCurve)
			if err != nil {
				return err
			}
			return printJSON(cmd.OutOrStdout(), at.shown(network.line(info)))
		},
	}
	at.register(command)
	network.register(command)
	registerKeyFlags(command, &curve, &name)
	return command
}

// registerKeyFlags adds what is said of a new key.
func registerKeyFlags(cmd *cobra.Command, curve, name *string) {
	cmd.Flags().StringVar(curve, "curve", "", "`CURVE` of the key: CURVE_SECP256K1 or CURVE_ED25519")
	cmd.Flags().StringVar(name, "name", "", "`NAME` of the key: free text for people")
}

func parseCurve(name string) (keystore.Curve, error) {
	if name == "" {
		return 0, usagef("--curve is missing: use CURVE_SECP256K1 or CURVE_ED25519")
	}
	curve, err := keystore.ParseCurve(name)
	if err != nil {
		return 0, usagef("--curve: %v", err)
	}
	return curve, nil
}
