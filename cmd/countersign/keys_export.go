package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/keyformat"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// exportCommand is one call of keys export.
type exportCommand struct {
	at           keystoreFlags
	network      networkFlag
	format       string
	passwordFile string
	out          string
	account      string // of a wallet
	yes          bool
	all, plain   bool
}

// exporter is a keystore that gives secrets out.
type exporter interface {
	keystore.Keystore
	keystore.Exporter
}

const noExport = "an HSM does not give keys away (CKA_EXTRACTABLE is false): back it up with the vendor's tools, or name a directory with --keystore file:DIR"

func newExportCommand() *cobra.Command {
	var c exportCommand
	command := &cobra.Command{
		Use:   "export ID | --all",
		Short: "Print the secret of a key, of a wallet, or of all keys",
		Long: paragraphs(`
Print the secret of a key on standard output, or write it to the new file that
--out names (mode 0600), after asking on the terminal: a reader of it can take
what the key holds. --yes says yes beforehand; without it and without a terminal,
nothing is printed. If standard output is a file, it is made readable for its owner
alone first.

The formats are those of 'countersign keys import'. v3 is encrypted with a
password, from the file that --secret-password-file names or asked for on the
terminal; pkcs8 is encrypted if such a file is named. --network picks the version
byte of wif. For mnemonic and xprv, ID is that of a wallet, or its name. If the mnemonic has a
passphrase (BIP-39), that follows in a second line. xprv is the wallet's master key,
or what it was imported as; with --account, the extended private key at a path, with its
origin. It gives all keys of the wallet, or of the account, on secp256k1, and none on
Ed25519.

--all writes all keys that sign, with ids and names, as lines for 'countersign keys
import --jsonl', in an age file that is encrypted with a password, from a file or
asked for; with --plain, unencrypted:

  age -d all.age | countersign keys import --keystore file:other --jsonl

Accounts of wallets are among them as single keys; disabled keys are not.`),
		Example: paragraphs(`
  countersign keys export --keystore file:keys --format v3 --out key.json 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5a
  countersign keys export --keystore file:keys --format mnemonic 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5b
  countersign keys export --keystore file:keys --format xprv --account m/84h/0h/0h 0198c5b4-7c9e-7d3a-9a5e-0c1f2e3d4b5b`),
		Args: func(cmd *cobra.Command, args []string) error {
			if c.all {
				return cobra.NoArgs(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case c.all:
				return c.runAll(cmd)
			case c.plain:
				return usagef("--plain goes with --all: the format of one key says whether it is encrypted")
			}
			return c.run(cmd, args[0])
		},
	}
	c.at.register(command)
	c.network.register(command)
	registerFormatFlag(command, &c.format, "", exportFormats)
	registerPasswordFlag(command, &c.passwordFile)
	command.Flags().StringVar(&c.out, "out", "", "new `FILE` for the secret, instead of standard output")
	command.Flags().StringVar(&c.account, "account", "", "with --format xprv: the account at a `PATH`, such as m/84h/0h/0h")
	command.Flags().BoolVar(&c.all, "all", false, "export all keys of the organization")
	command.Flags().BoolVar(&c.plain, "plain", false, "with --all: do not encrypt")
	command.Flags().BoolVar(&c.yes, "yes", false, "do not ask")
	return command
}

func (c *exportCommand) run(cmd *cobra.Command, id string) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	if err := c.checkOutput(cmd.OutOrStdout()); err != nil {
		return err
	}
	if err := harden.NoCoreDumps(); err != nil { // before any secret is read
		return err
	}
	password, err := c.password(cmd.Context())
	if err != nil {
		return err
	}
	defer keystore.Wipe(password)
	keys, err := openFor[exporter](&c.at, cmd, noExport)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	// What is not there, or not in this format, is said before asking.
	text, err := c.text(cmd.Context(), keys, id, password)
	if err != nil {
		return err
	}
	defer keystore.Wipe(text)
	if err := c.confirm(cmd.Context(), id); err != nil {
		return err
	}
	if c.out != "" {
		return writeNew(c.out, text)
	}
	_, err = cmd.OutOrStdout().Write(text)
	return err
}

// checkOutput refuses a file that is there already, and closes one that the shell opened,
// which the umask mostly lets others read, before anything is confirmed.
func (c *exportCommand) checkOutput(stdout io.Writer) error {
	if c.out != "" {
		if _, err := os.Lstat(c.out); err == nil {
			return fmt.Errorf("--out %s: %w: name a new file", c.out, fs.ErrExist)
		}
		return nil
	}
	file, ok := stdout.(*os.File)
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return nil //nolint:nilerr // a pipe, a terminal or nothing: writing says what is wrong with it
	}
	if err := file.Chmod(0o600); err != nil {
		return fmt.Errorf("other users can read standard output (mode %04o): pass --out FILE: %w", info.Mode().Perm(), err)
	}
	return nil
}

func (c *exportCommand) check() error {
	if err := c.at.check(); err != nil {
		return err
	}
	if !can[exporter](&c.at) {
		return usagef("%s", noExport)
	}
	if err := c.network.check(); err != nil {
		return err
	}
	if c.format == "" {
		return usagef("--format is missing: the format to print the secret in")
	}
	if c.passwordFile != "" && c.format != formatWeb3 && c.format != formatPKCS8 {
		return usagef("%s: --format %s is not encrypted", passwordFlag, c.format)
	}
	if c.account != "" && c.format != formatXPrv {
		return usagef("--account goes with --format xprv")
	}
	if _, err := c.path(); err != nil {
		return err
	}
	return checkFormat(c.format, exportFormats)
}

// path returns the path of --account, nil if there is none.
func (c *exportCommand) path() (wallet.Path, error) {
	if c.account == "" {
		return nil, nil
	}
	path, err := wallet.ParsePath(c.account)
	if err != nil {
		return nil, usagef("--account: %v", err)
	}
	return path, nil
}

// password gets the password to encrypt with; none for a format without. The
// caller wipes it.
func (c *exportCommand) password(ctx context.Context) ([]byte, error) {
	switch {
	case c.passwordFile != "":
		return readPasswordFile(ctx, c.passwordFile)
	case c.format != formatWeb3:
		return nil, nil
	}
	return askNewPassword(ctx)
}

// askNewPassword asks twice for the password to encrypt an export with. The caller
// wipes it.
func askNewPassword(ctx context.Context) ([]byte, error) {
	password, err := askSecret(ctx, "Password for the exported file")
	if errors.Is(err, terminal.ErrNone) {
		return nil, usagef("the exported file is encrypted: name the file with its password with %s (%v)", passwordFlag, err)
	}
	if err != nil {
		return nil, err
	}
	if err := checkPassphrase(password); err != nil {
		return nil, err
	}
	again, err := askSecret(ctx, "The same password again")
	defer keystore.Wipe(again)
	if err == nil && !bytes.Equal(password, again) {
		err = errors.New("the two passwords differ: nothing is exported")
	}
	if err != nil {
		keystore.Wipe(password)
	}
	return password, err
}

// text returns what is to be printed. The caller wipes it.
func (c *exportCommand) text(ctx context.Context, keys exporter, id string, password []byte) (text []byte, err error) {
	if c.format == formatMnemonic || c.format == formatXPrv {
		return c.walletText(ctx, keys, id)
	}
	handle, err := keys.Find(ctx, c.at.organization, keystore.ByID(id))
	if errors.Is(err, keystore.ErrKeyNotFound) {
		return nil, fmt.Errorf("organization %q has no key with the id %q: 'countersign keys list' prints them (for a wallet, --format is mnemonic or xprv)", c.at.organization, id)
	}
	if err != nil {
		return nil, err
	}
	err = keys.RevealSecret(ctx, c.at.organization, handle.ID(), func(secret []byte) error {
		key, err := keyformat.NewKey(handle.PublicKey().Curve(), secret)
		if err != nil {
			return err
		}
		defer key.Wipe()
		text, err = c.encode(key, password)
		return err
	})
	if err != nil || bytes.HasSuffix(text, []byte("\n")) {
		return text, err
	}
	line := make([]byte, 0, len(text)+1)
	line = append(append(line, text...), '\n')
	keystore.Wipe(text)
	return line, nil
}

func (c *exportCommand) encode(key keyformat.Key, password []byte) ([]byte, error) {
	switch c.format {
	case formatWIF:
		return keyformat.WIF{Key: key, TestNetwork: c.network.name != bitcoin.Mainnet.String()}.Format()
	case formatSolana:
		return key.Solana()
	case formatSolanaBase58:
		return key.SolanaBase58()
	case formatWeb3:
		return key.Web3(password, keyformat.Cost{})
	case formatPKCS8:
		return key.PKCS8(password)
	}
	return key.Hex(), nil
}

// walletText returns the mnemonic, or an extended private key, of a wallet.
func (c *exportCommand) walletText(ctx context.Context, keys exporter, id string) (text []byte, err error) {
	keeper, ok := keys.(walletKeeper)
	if !ok {
		return nil, errors.New("this keystore keeps no wallets")
	}
	if id, err = resolveWallet(ctx, keeper, c.at.organization, id); err != nil {
		return nil, err
	}
	if c.format == formatXPrv {
		return c.extendedKeyText(ctx, keeper, id)
	}
	text, err = mnemonicText(ctx, keeper, c.at.organization, id)
	if errors.Is(err, file.ErrNoMnemonic) {
		err = fmt.Errorf("%w: use --format xprv", err)
	}
	return text, err
}

func mnemonicText(ctx context.Context, keys walletKeeper, organizationID, id string) (text []byte, err error) {
	err = keys.RevealMnemonic(ctx, organizationID, id, func(mnemonic, passphrase []byte) error {
		text = make([]byte, 0, len(mnemonic)+len(passphrase)+2)
		text = append(append(text, mnemonic...), '\n')
		if len(passphrase) > 0 {
			text = append(append(text, passphrase...), '\n')
		}
		return nil
	})
	return text, err
}

func (c *exportCommand) extendedKeyText(ctx context.Context, keys walletKeeper, id string) (text []byte, err error) {
	path, err := c.path()
	if err != nil {
		return nil, err
	}
	err = keys.RevealRoot(ctx, c.at.organization, id, func(root *wallet.Root) error {
		if path == nil {
			path = root.Path()
		}
		key, err := root.ExtendedKey(path)
		defer keystore.Wipe(key)
		text = append(append(make([]byte, 0, len(key)+1), key...), '\n')
		return err
	})
	return text, err
}

// errNotExported: the person said no.
var errNotExported = errors.New("not exported: the answer was not yes")

// confirm asks for confirmation before the secret is printed.
func (c *exportCommand) confirm(ctx context.Context, id string) error {
	return confirmed(c.yes, func(tty *terminal.Terminal) error {
		yes, err := tty.Confirm(ctx, fmt.Sprintf("Print the secret of %q? Anyone who reads it can take what it holds.", id))
		if err == nil && !yes {
			err = errNotExported
		}
		return err
	})
}
