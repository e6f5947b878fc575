package keys

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

type deriveCommand struct {
	at       *deployment.KeystoreFlags
	network  show.NetworkFlag
	field    fieldFlag
	walletID string
	path     string
	curve    string
	psbt     bool
	gap      uint32
}

func newDeriveCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := deriveCommand{at: at}
	command := &cobra.Command{
		Use:   "derive",
		Short: "Add an account to a wallet",
		Long: console.Paragraphs(`
Derive the key at a path of a wallet, add it to the wallet's accounts, and print it as
one line of JSON, once it is safe on disk. --field prints one field of it as plain text. An
account that exists already is printed
unchanged.

Only derived accounts are found by their addresses: an address does not say at which
path of a wallet it is.

With --psbt, the PSBT on standard input, in hex, base64 or binary, names the keys. Keys
of the wallet's Bitcoin accounts that are not derived yet are derived if they are at most
--gap addresses after the last derived one, and if the wallet really has them; those of
inputs of a registered wallet are derived at any index. Each is printed as a line; there
may be none. 'countersign sign' can then sign the PSBT, and recognizes its change. If keys
are left, the exit status is 1, and the error has the command that derives each of them.

Keys on secp256k1 are derived by BIP-32, those on Ed25519 by SLIP-10. Without --curve,
a path below Solana's m/44'/501' is on CURVE_ED25519, any other on CURVE_SECP256K1.`),
		Example: `  countersign keys derive --keystore file:keys --wallet 0198… --path "m/44'/60'/0'/0/1"
  countersign keys derive --keystore file:keys --wallet 0198… --psbt < payment.psbt` + "\n",
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.network.Register(command)
	c.field.register(command)
	flags := command.Flags()
	flags.StringVar(&c.walletID, "wallet", "", "`ID` or name of the wallet")
	console.Require(command, "wallet", "the id or the name of a wallet")
	flags.StringVar(&c.path, "path", "", "`PATH` of the account, such as m/44'/60'/0'/0/1")
	flags.BoolVar(&c.psbt, "psbt", false, "derive the keys named by the PSBT on standard input")
	flags.Uint32Var(&c.gap, "gap", file.GapLimit, "with --psbt: derive at most `N` addresses after the last derived one")
	flags.StringVar(&c.curve, "curve", "", "`CURVE` of the key: CURVE_SECP256K1 or CURVE_ED25519 (default: the usual one for the path)")
	console.Exclusive(command, "the PSBT names the paths", "path", "psbt")
	console.Exclusive(command, "the PSBT names the paths", "curve", "psbt")
	console.Needs(command, []string{"gap"}, []string{"psbt"})
	return command
}

func (c *deriveCommand) run(cmd *cobra.Command) error {
	if err := c.at.Check(); err != nil {
		return err
	}
	if !deployment.Can[walletKeeper](c.at) {
		return console.Usagef("an HSM has no wallets, because it derives no keys (BIP-32, SLIP-10): name the " +
			"directory that has the wallet with --keystore file:DIR")
	}
	if c.psbt {
		return c.discover(cmd)
	}
	return c.derive(cmd)
}

func (c *deriveCommand) account() (account wallet.Account, err error) {
	if c.path == "" {
		return account, console.Usagef("--path is missing: such as m/44'/60'/0'/0/1")
	}
	if account.Path, err = wallet.ParsePath(c.path); err != nil {
		return account, console.Usagef("--path: %v", err)
	}
	account.Curve = wallet.CurveOf(account.Path)
	if c.curve != "" {
		account.Curve, err = parseCurve(c.curve)
	}
	return account, err
}

func (c *deriveCommand) derive(cmd *cobra.Command) (err error) {
	account, err := c.account()
	if err != nil {
		return err
	}
	_, keys, err := deployment.OpenFor[walletKeeper](c.at, cmd, noWallets)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	walletID, err := resolveWallet(cmd.Context(), keys, c.at.Organization, c.walletID)
	if err != nil {
		return err
	}
	if err := c.field.fits(cmd.Context(), keys, &c.network, account.Curve); err != nil {
		return err
	}
	derived, err := keys.Derive(cmd.Context(), c.at.Organization, walletID, account)
	if errors.Is(err, keystore.ErrKeyExists) && derived.ID != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), "This key was in the keystore already.")
		err = nil
	}
	if err != nil {
		return err
	}
	line, err := keyLineOf(cmd.Context(), keys, c.at.Organization, c.network, derived.ID)
	if err != nil {
		return err
	}
	return c.field.print(cmd.OutOrStdout(), line)
}

// discover derives the keys that the PSBT on standard input names.
func (c *deriveCommand) discover(cmd *cobra.Command) (err error) {
	if c.gap > file.MaxAccounts {
		return console.Usagef("--gap %d: at most %d", c.gap, file.MaxAccounts)
	}
	text, err := show.ReadTransaction(cmd)
	if err != nil {
		return err
	}
	_, named, err := show.NamedKeys(text)
	if err != nil {
		return err
	}
	_, keys, err := deployment.OpenFor[discoverer](c.at, cmd, noWallets)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	if err := c.field.fits(cmd.Context(), keys, &c.network, keystore.CurveSecp256k1); err != nil {
		return err
	}
	walletID, err := resolveWallet(cmd.Context(), keys, c.at.Organization, c.walletID)
	if err != nil {
		return err
	}
	added, left, err := keys.Discover(cmd.Context(), c.at.Organization, walletID, named, c.gap)
	if err != nil {
		return err
	}
	for _, account := range added {
		if err := c.field.print(cmd.OutOrStdout(), accountLine(&c.network, strings.ToLower(walletID), account)); err != nil {
			return err
		}
	}
	if len(left) > 0 {
		var commands []string
		for _, path := range left[:min(len(left), maxLeft)] {
			commands = append(commands, fmt.Sprintf("countersign keys derive --wallet %s --path %q", c.walletID, path))
		}
		return fmt.Errorf("the PSBT names %d more keys of this wallet, beyond --gap or in accounts without keys: "+
			"to derive them, run\n  %s", len(left), strings.Join(commands, "\n  "))
	}
	if len(added) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "The PSBT names no key of this wallet that is not derived yet.")
	}
	return nil
}

// maxLeft bounds the commands that are printed at once.
const maxLeft = 20

// discoverer is a keystore that derives the keys of a wallet that a PSBT names.
type discoverer interface {
	walletKeeper
	Discover(ctx context.Context, organizationID, walletID string, named []file.Named, gap uint32) ([]file.Account, []wallet.Path, error)
}
