package keys

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/cli/harden"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/keystore"
)

type importCommand struct {
	at           *deployment.KeystoreFlags
	network      show.NetworkFlag
	field        fieldFlag
	curve        string
	name         string
	format       string
	passwordFile string // of an encrypted secret
	dir          string // of v3 files
	jsonl        bool
	yes          bool // import into an HSM without asking

	into     importTarget // set by open
	warnings io.Writer    // set by open

	paths    accountPaths    // set by the first key that the keystore has already
	disabled map[string]bool // by id; set with paths
}

type importTarget interface {
	keystore.Keystore
	keystore.Importer
}

const importHelp = `
Import the secret of a key from standard input, or from the terminal, which does not
show it. The key is printed as one line of JSON, once it is safe on disk or in the HSM.
--field prints one field of it as plain text, for --sign-with; of a wallet, that of each
account that has it, one per line, or its walletId.
A key that the keystore has already is printed as it is, and not imported twice. If the
directory has no keystore yet, one is created.

A key that is imported into an HSM cannot be got out again, but it existed outside, and
anyone who had it there may still have a copy. The command asks for confirmation on the
terminal; --yes confirms in advance. Wallets (mnemonic, xprv) cannot be imported into an
HSM, which derives no keys.

The formats:

  hex      a secp256k1 secret or an Ed25519 seed, 64 hex digits, with or without 0x;
           --curve says which
  wif      Bitcoin's wallet import format. One of the test networks needs --network
           testnet, signet or regtest
  solana   id.json of the Solana command line
  solana-base58  64 bytes in base58, as Solana's browser wallets export a key
  solana-keygen  the words of 'solana-keygen new', as the single key that it makes of
           them, without a derivation path; the words of wallets that derive keys are
           a mnemonic
  v3       Web3 Secret Storage version 3: an encrypted JSON file of geth, or of a
           wallet for Ethereum or Tron
  pkcs8    a PEM file, BEGIN PRIVATE KEY or BEGIN ENCRYPTED PRIVATE KEY
  mnemonic the 12 to 24 words of a wallet (BIP-39, English). The wallet is printed with
           the usual accounts on the five chains,
           {"walletId":"…","name":"…","accounts":[…]}; 'countersign keys derive'
           adds more
  xprv     an extended private key (BIP-32), as a wallet of secp256k1 keys: a master
           key, xprv… or tprv…, or a key below it with its origin in front, as in
           output descriptors, [73c5da0a/84h/0h/0h]xprv…. SLIP-132's yprv…, zprv…,
           uprv… and vprv… are read too. A tprv… needs --network testnet, signet or
           regtest

The password of a v3 or encrypted pkcs8 file is read from the file that
--secret-password-file names, or asked for on the terminal. For words, that file has
their passphrase (BIP-39); without it they have none.

--dir DIR imports every file of a directory in the format v3, such as geth's keystore.
They share one password. Each file is answered with one line, in the order of the
names; a file that is refused, with {"error":{"code","reason","message"}}.

--jsonl imports many keys, one per line, each answered with one line in the same order:

  {"curve":"CURVE_SECP256K1","privateKey":"<hex>","name":"optional"}

The lines of 'countersign keys export --all' also have privateKeyId, a UUID, and
actsFor. A line is answered once its key is safe on disk. A refused line (a blank one,
too) is answered with {"error":{"code","reason","message"}}; the import goes on with
the others and exits with status 1. A key that the keystore has already is answered with
its line, so that an interrupted import can be run again as a whole; it is refused only
if its name or id differs.`

func newImportCommand(at *deployment.KeystoreFlags) *cobra.Command {
	c := importCommand{at: at}
	command := &cobra.Command{
		Use:   "import",
		Short: "Import keys from standard input",
		Long:  console.Paragraphs(importHelp),
		Example: console.Paragraphs(`
  countersign keys import --keystore file:keys --curve CURVE_ED25519 < secret.hex
  countersign keys import --keystore file:keys --format solana < ~/.config/solana/id.json
  countersign keys import --keystore file:keys --passphrase-file pass --jsonl < keys.jsonl`),
		Args: console.StdinArgs("secret"),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.at.RegisterNew(command)
	c.network.Register(command)
	c.field.register(command)
	registerKeyFlags(command, &c.curve, &c.name)
	registerFormatFlag(command, &c.format, formatHex, ImportFormats)
	command.Flags().StringVar(&c.dir, "dir", "", "import all v3 files in the directory `DIR`")
	registerPasswordFlag(command, &c.passwordFile)
	command.Flags().BoolVar(&c.jsonl, "jsonl", false, "read many keys, one JSON object per line")
	console.Exclusive(command, "each line has its own", "curve", "jsonl")
	console.Exclusive(command, "each line has its own", "name", "jsonl")
	console.Exclusive(command, "each line is answered with one line of JSON", "field", "jsonl")
	console.Exclusive(command, "each file is answered with one line of JSON", "field", "dir")
	command.Flags().BoolVar(&c.yes, "yes", false, "do not ask for confirmation before importing into an HSM")
	return command
}

func (c *importCommand) run(cmd *cobra.Command) error {
	if err := c.at.Check(); err != nil {
		return err
	}
	if err := checkFormat(c.format, ImportFormats); err != nil {
		return err
	}
	if err := harden.NoCoreDumps(); err != nil { // before any secret is read
		return err
	}
	switch {
	case c.dir != "":
		return c.importDirectory(cmd)
	case c.jsonl:
		return c.importLines(cmd)
	case c.format == formatMnemonic, c.format == formatXPrv:
		return c.importWallet(cmd)
	}
	return c.importKey(cmd)
}

func (c *importCommand) importKey(cmd *cobra.Command) (err error) {
	key, err := c.readSecret(cmd)
	if err != nil {
		return err
	}
	defer key.Wipe()
	keys, err := c.open(cmd)
	if err != nil {
		return err
	}
	defer deployment.CloseKeystore(keys, &err)
	if err := c.field.fits(cmd.Context(), keys, &c.network, key.Curve); err != nil {
		return err
	}
	infos, errs := c.addBatch(cmd.Context(), []keystore.NewKey{{Name: c.name, Curve: key.Curve, Secret: key.Secret}})
	info, err := infos[0], errs[0]
	line := deployment.Spendable(keys, c.network.Line(info))
	if errors.Is(err, keystore.ErrKeyExists) {
		if info, err = sameKey(info, keystore.NewKey{Name: c.name}, err); err == nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "This key was in the keystore already.")
			line, err = keyLineOf(cmd.Context(), keys, c.at.Organization, c.network, info.ID)
		}
	}
	if err != nil {
		return err
	}
	return c.field.print(cmd.OutOrStdout(), line)
}

// sameKey decides what happens to a key that the keystore has already: it is returned as
// it is, and refused if it was to get another name, id, or account to act for. err is the
// keystore's error, for a key that the keystore does not name.
func sameKey(existing keystore.KeyInfo, key keystore.NewKey, err error) (keystore.KeyInfo, error) {
	const already = "this key is in the keystore already, as "
	switch {
	case existing.ID == "":
		return existing, err
	case key.ID != "" && keystore.ByID(key.ID) != keystore.ByID(existing.ID):
		return existing, fmt.Errorf(already+"%s: leave privateKeyId out, or give that one", existing.ID)
	case key.ActsFor != "" && key.ActsFor != existing.ActsFor:
		return existing, fmt.Errorf(already+"%s, and acts for another account: 'countersign keys act-for' changes that", existing.ID)
	case key.Name != "" && key.Name != existing.Name:
		return existing, fmt.Errorf(already+"%s with the name %q: leave the name out, or give that one", existing.ID, existing.Name)
	}
	return existing, nil
}

// open opens the keystore to import into. If keys cannot be exported from it again, it
// warns and asks for confirmation first.
func (c *importCommand) open(cmd *cobra.Command) (importTarget, error) {
	c.warnings = cmd.ErrOrStderr()
	if !deployment.Can[keystore.Exporter](c.at) {
		fmt.Fprintln(c.warnings,
			"An imported key existed outside the HSM (CKA_LOCAL is false), and the HSM cannot know who has a copy: "+
				"'countersign keys generate' creates a key that was never outside.")
		if err := confirmKeys(cmd.Context(), c.yes,
			"Import into the HSM? Anyone who has a copy can still take what the key holds.", "not imported"); err != nil {
			return nil, err
		}
	}
	var err error
	_, c.into, err = deployment.OpenFor[importTarget](c.at, cmd, "this keystore takes no secrets")
	return c.into, err
}

// addBatch adds keys to the keystore, and warns of secrets that can be guessed.
func (c *importCommand) addBatch(ctx context.Context, fresh []keystore.NewKey) ([]keystore.KeyInfo, []error) {
	infos, errs := c.into.AddBatch(ctx, c.at.Organization, fresh)
	for i := range fresh {
		if errs[i] == nil && IsGuessable(fresh[i].Secret) {
			fmt.Fprintf(c.warnings,
				"Warning: the secret of key %s can be guessed: it is a small number or a pattern. Thieves watch "+
					"the addresses of such keys, and empty them at once.\n", infos[i].ID)
		}
	}
	return infos, errs
}

// leastVariety is the number of different bytes that a random secret of 32 bytes has at
// least: the odds of eight or fewer are below 2⁻¹¹⁰.
const leastVariety = 9

// IsGuessable reports whether a secret is a small number, a repeated byte or pattern, or a
// series such as 00 01 02 …: thieves watch such keys, and empty them at once.
func IsGuessable(secret []byte) bool {
	values := map[byte]bool{}
	steps := map[byte]bool{}
	for i, b := range secret {
		values[b] = true
		if i > 0 {
			steps[b-secret[i-1]] = true
		}
	}
	return len(values) < leastVariety || len(steps) < leastVariety
}
