package keys

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

type exportCommand struct {
	at           *deployment.KeystoreFlags
	network      show.NetworkFlag
	format       string
	passwordFile string
	out          string
	account      string      // of a wallet
	path         wallet.Path // what account says; nil without it
	yes          bool
	all, plain   bool
}

type exporter interface {
	keystore.Keystore
	keystore.Exporter
}

const noExport = "an HSM does not give keys away (CKA_EXTRACTABLE is false): back it up with the vendor's tools, " +
	"or name a directory with --keystore file:DIR"

func newExportCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := exportCommand{at: at}
	command := &cobra.Command{
		Use:   "export ID | --all",
		Short: "Print the secret of a key, of a wallet, or of all keys",
		Long: console.Paragraphs(`
Print the secret of a key on standard output, or write it to the new file that --out
names (mode 0600). Anyone who reads it can take what the key holds, so the command
asks for confirmation on the terminal; --yes confirms in advance. Without a terminal
and without --yes, nothing is printed. If standard output is a file, it is first made
readable for its owner alone.

The formats are those of 'countersign keys import'. v3 is encrypted with a password,
from the file that --secret-password-file names or asked for on the terminal; pkcs8 is
encrypted if such a file is named. --network selects the version byte of wif.

For mnemonic and xprv, ID is the id or name of a wallet. If the mnemonic has a
passphrase (BIP-39), the passphrase follows on a second line. xprv is the wallet's
master key, or the key that it was imported as; with --account, it is the extended
private key at a path, with its origin. It gives all secp256k1 keys of the wallet or
account, and no Ed25519 keys.

--all writes all enabled keys, with their ids and names, as lines for 'countersign keys
import --jsonl', into an age file encrypted with a password, from a file or asked for.
--plain leaves them unencrypted:

  age -d all.age | countersign keys import --keystore file:other --jsonl

Accounts of wallets are exported as single keys. Disabled keys are not exported.`),
		Example: console.Paragraphs(`
  countersign keys export --keystore file:keys --format v3 --out key.json 0198…
  countersign keys export --keystore file:keys --format mnemonic 0198…
  countersign keys export --keystore file:keys --format xprv --account m/84h/0h/0h 0198…`),
		Args: func(_ *cobra.Command, args []string) error {
			if c.all == (len(args) == 0) && len(args) < 2 {
				return nil
			}
			return console.Usagef("name one key or wallet by its ID, or pass --all to export all keys")
		},
		RunE: c.run,
	}
	c.network.Register(command)
	registerFormatFlag(command, &c.format, "", exportFormats)
	registerPasswordFlag(command, &c.passwordFile)
	command.Flags().StringVar(&c.out, "out", "", "new `FILE` for the secret, instead of standard output")
	command.Flags().StringVar(&c.account, "account", "", "with --format xprv: the account at a `PATH`, such as m/84h/0h/0h")
	command.Flags().BoolVar(&c.all, "all", false, "export all keys of the organization")
	command.Flags().BoolVar(&c.plain, "plain", false, "with --all: do not encrypt")
	command.Flags().BoolVar(&c.yes, "yes", false, "do not ask for confirmation")
	console.Exclusive(command, "it writes the lines that 'countersign keys import --jsonl' reads", "format", "all")
	console.Exclusive(command, "an account is of one wallet, in the format xprv", "account", "all")
	console.Needs(command, []string{"plain"}, []string{"all"})
	return command
}

func (c *exportCommand) run(cmd *cobra.Command, ids []string) (err error) {
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
	_, keys, err := deployment.OpenFor[exporter](c.at, cmd, noExport)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	// The secrets are collected first, so that what is missing is reported without asking.
	text, question, err := c.collect(cmd, keys, ids, password)
	defer func() { keystore.Wipe(text) }()
	if err != nil {
		return err
	}
	if err := confirmKeys(cmd.Context(), c.yes, question, "not exported"); err != nil {
		return err
	}
	out := text
	if c.all && !c.plain {
		if out, err = ageEncrypt(text, password); err != nil {
			return err
		}
	}
	if c.out != "" {
		return console.WriteNew(c.out, out)
	}
	_, err = cmd.OutOrStdout().Write(out)
	return err
}

func (c *exportCommand) check() error {
	if err := c.at.Check(); err != nil {
		return err
	}
	if !deployment.Can[exporter](c.at) {
		return console.Usagef("%s", noExport)
	}
	if c.all {
		if c.plain && c.passwordFile != "" {
			return console.Usagef("%s: --plain is not encrypted", passwordFlag)
		}
		return nil
	}
	if c.format == "" {
		return console.Usagef("--format is missing: use %s", strings.Join(exportFormats, ", "))
	}
	if c.passwordFile != "" && c.format != formatWeb3 && c.format != formatPKCS8 {
		return console.Usagef("%s: --format %s is not encrypted", passwordFlag, c.format)
	}
	if c.account != "" {
		if c.format != formatXPrv {
			return console.Usagef("--account goes with --format xprv")
		}
		path, err := wallet.ParsePath(c.account)
		if err != nil {
			return console.Usagef("--account: %v", err)
		}
		c.path = path
	}
	return checkFormat(c.format, exportFormats)
}

// checkOutput refuses an --out file that exists, and makes standard output readable for
// its owner alone if it is a file: the umask mostly lets others read what the shell opens.
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
		return nil //nolint:nilerr // a pipe, a terminal or closed: writing reports what is wrong with it
	}
	if err := file.Chmod(0o600); err != nil {
		return fmt.Errorf("other users can read standard output (mode %04o): pass --out FILE: %w", info.Mode().Perm(), err)
	}
	return nil
}

// password gets the password to encrypt with, nil for a format that is not encrypted.
// The caller wipes it.
func (c *exportCommand) password(ctx context.Context) ([]byte, error) {
	isEncrypted := c.format == formatWeb3 || c.all && !c.plain
	switch {
	case c.passwordFile != "":
		return console.ReadPassphraseFile(ctx, passwordFlag, c.passwordFile)
	case !isEncrypted:
		return nil, nil
	}
	password, err := console.AskTwice(ctx, "Password for the exported file", "The same password again", console.CheckPassphrase)
	if errors.Is(err, terminal.ErrNone) {
		return nil, console.Usagef("the exported file is encrypted: name the file with its password with %s (%v)", passwordFlag, err)
	}
	return password, err
}

// collect returns the secrets in plain text, except that v3 and pkcs8 encrypt them already, and the
// question to ask before they are printed. The caller wipes the text, also after an error.
func (c *exportCommand) collect(cmd *cobra.Command, keys exporter, ids []string, password []byte) (text []byte,
	question string, err error) {
	if !c.all {
		text, err = c.secretText(cmd.Context(), keys, ids[0], password)
		return text, fmt.Sprintf("Print the secret of %q? Anyone who reads it can take what it holds.", ids[0]), err
	}
	text, count, err := c.allKeys(cmd, keys)
	if c.plain {
		return text, fmt.Sprintf("Export the secrets of %d keys in plain text? Anyone who reads them can take what they hold.", count), err
	}
	return text, fmt.Sprintf("Export the secrets of %d keys, encrypted with the password?", count), err
}
