package keys

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// WalletLine is a wallet as it is printed.
type WalletLine struct {
	WalletID string         `json:"walletId"`
	Name     string         `json:"name"`
	Accounts []show.KeyLine `json:"accounts"`
}

func walletLineOf(n *show.NetworkFlag, w file.Wallet) WalletLine {
	line := WalletLine{WalletID: w.ID, Name: w.Name, Accounts: []show.KeyLine{}}
	for _, account := range w.Accounts {
		line.Accounts = append(line.Accounts, accountLine(n, w.ID, account))
	}
	return line
}

func accountLine(n *show.NetworkFlag, walletID string, account file.Account) show.KeyLine {
	line := n.Line(account.KeyInfo)
	line.WalletID, line.Path, line.Disabled = walletID, account.Path.String(), account.Disabled
	return line
}

type accountPath struct{ walletID, path string }

// accountPaths maps key ids to the wallets and paths of their accounts.
type accountPaths map[string]accountPath

// pathsOf returns the wallets and paths of all accounts, nil for a keystore without wallets.
func pathsOf(ctx context.Context, keys keystore.Keystore, organizationID string) (accountPaths, error) {
	store, ok := keys.(walletKeeper)
	if !ok {
		return nil, nil
	}
	wallets, err := store.Wallets(ctx, organizationID)
	if err != nil {
		return nil, err
	}
	all := accountPaths{}
	for _, w := range wallets {
		for _, account := range w.Accounts {
			all[account.ID] = accountPath{w.ID, account.Path.String()}
		}
	}
	return all, nil
}

func (p accountPaths) mark(line show.KeyLine) show.KeyLine {
	account := p[line.PrivateKeyID]
	line.WalletID, line.Path = account.walletID, account.path
	return line
}

type walletKeeper interface {
	keystore.Keystore
	keystore.WalletFinder
	AddWallet(ctx context.Context, organizationID string, add file.NewWallet) (file.Wallet, error)
	Derive(ctx context.Context, organizationID, walletID string, account wallet.Account) (file.Account, error)
	Wallets(ctx context.Context, organizationID string) ([]file.Wallet, error)
	RevealMnemonic(ctx context.Context, organizationID, walletID string, use func(mnemonic, passphrase []byte) error) error
	RevealRoot(ctx context.Context, organizationID, walletID string, use func(*wallet.Root) error) error
}

func findWallet(ctx context.Context, keys walletKeeper, organizationID, id string) (w file.Wallet, found bool, err error) {
	wallets, err := keys.Wallets(ctx, organizationID)
	if err != nil {
		return w, false, err
	}
	i := slices.IndexFunc(wallets, func(w file.Wallet) bool { return keystore.ByID(w.ID) == keystore.ByID(id) })
	if i < 0 {
		return w, false, nil
	}
	return wallets[i], true, nil
}

// resolveWallet returns the id of the wallet with an id, or of the only one with that name.
func resolveWallet(ctx context.Context, keys walletKeeper, organizationID, idOrName string) (string, error) {
	w, err := keys.FindWallet(ctx, organizationID, idOrName)
	if err == nil {
		return w.ID, nil
	}
	if !errors.Is(err, keystore.ErrKeyNotFound) {
		return "", err
	}
	wallets, err := keys.Wallets(ctx, organizationID)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(wallets, func(w file.Wallet) bool { return w.Name == idOrName }) {
		return "",
			fmt.Errorf("organization %q has several wallets with the name %q: use the id, which 'countersign keys "+
				"list' prints", organizationID, idOrName)
	}
	return "", fmt.Errorf("organization %q has no wallet with the id or name %q: 'countersign keys list' prints them",
		organizationID, idOrName)
}

const noWallets = "a wallet cannot be imported into an HSM, which derives no keys (BIP-32, SLIP-10): import it " +
	"with --keystore file:DIR; the key of one account can be moved with 'countersign keys export --format hex' and " +
	"'countersign keys import'"

// importWallet is keys import --format mnemonic and --format xprv.
func (c *importCommand) importWallet(cmd *cobra.Command) (err error) {
	if !deployment.Can[walletKeeper](c.at) {
		return console.Usagef("%s", noWallets)
	}
	if c.curve != "" {
		return console.Usagef("--curve does not go with --format %s: the paths of a wallet's accounts determine their curves", c.format)
	}
	read := c.readMnemonic
	if c.format == formatXPrv {
		read = c.readExtendedKey
	}
	add, err := read(cmd)
	defer func() {
		for _, secret := range [][]byte{add.Mnemonic, add.Passphrase, add.ExtendedKey} {
			keystore.Wipe(secret)
		}
	}()
	if err != nil {
		return err
	}
	_, keys, err := deployment.OpenFor[walletKeeper](c.at, cmd, noWallets)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	w, err := keys.AddWallet(cmd.Context(), c.at.Organization, add)
	if errors.Is(err, keystore.ErrKeyExists) && w.ID != "" {
		if c.name != "" && c.name != w.Name {
			return fmt.Errorf("this wallet is in the keystore already, as %s with the name %q: leave the name out, "+
				"or give that one", w.ID, w.Name)
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "This wallet was in the keystore already.")
		err = nil
	}
	if err != nil {
		return err
	}
	return c.field.printWallet(cmd.OutOrStdout(), walletLineOf(&c.network, w))
}

// readMnemonic reads the words on standard input, and their passphrase from its file. The
// caller wipes them, also after an error.
func (c *importCommand) readMnemonic(cmd *cobra.Command) (add file.NewWallet, err error) {
	add.Name = c.name
	if c.passwordFile != "" {
		if add.Passphrase, err = console.ReadPassphraseFile(cmd.Context(), passwordFlag, c.passwordFile); err != nil {
			return add, err
		}
	}
	if add.Mnemonic, err = c.readText(cmd); err != nil {
		return add, err
	}
	if _, notWIF := keyformat.ParseWIF(bytes.TrimSpace(add.Mnemonic)); notWIF == nil {
		return add, errors.New("this is a WIF key, not words: its format is wif")
	}
	entropy, err := wallet.Entropy(add.Mnemonic) // refuses invalid words before the passphrase is asked for
	keystore.Wipe(entropy)
	return add, err
}

// readExtendedKey reads the extended private key on standard input. The caller wipes it,
// also after an error.
func (c *importCommand) readExtendedKey(cmd *cobra.Command) (add file.NewWallet, err error) {
	add.Name = c.name
	if c.passwordFile != "" {
		return add, console.Usagef("%s: --format %s has no password", passwordFlag, c.format)
	}
	text, err := c.readText(cmd)
	if err != nil {
		return add, err
	}
	defer keystore.Wipe(text)
	add.ExtendedKey = bytes.Clone(bytes.TrimSpace(text))
	root, err := wallet.ParseExtendedKey(add.ExtendedKey)
	if err != nil {
		return add, err
	}
	defer root.Wipe()
	return add, c.network.RefuseOther("this extended private key", root.TestNetwork())
}
