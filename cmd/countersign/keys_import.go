package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/keystore"
)

// importCommand is one call of keys import.
type importCommand struct {
	at      keystoreFlags
	network networkFlag
	curve   string
	name    string
	format  string
	jsonl   bool
	yes     bool // to an HSM

	into         importTarget // once it is open
	warnings     io.Writer
	passwordFile string // of an encrypted secret
	dir          string // of files in the format v3
}

func newImportCommand() *cobra.Command {
	var c importCommand
	command := &cobra.Command{
		Use:   "import",
		Short: "Import keys from standard input",
		Long: paragraphs(`
Import the secret of a key from standard input, or from the terminal, where it
is not shown, and print the key as one line of JSON, when it is safe on disk, or
in the HSM. A key that is there already is printed as it is there; it is not
imported twice. If there is no keystore in the directory yet, one is made.

A key that is imported into an HSM cannot be got out again, but it was outside
once, and who had it there may have it still. So it is asked for on the terminal
whether to go on; --yes says so beforehand, and without a terminal it goes on. A
wallet (mnemonic, xprv) does not go into an HSM, which derives no keys.

The formats:

  hex      a secp256k1 secret, or an Ed25519 seed, as 64 hex digits, with or
           without 0x; --curve says which
  wif      Bitcoin's wallet import format
  solana   the file id.json of the Solana command line
  solana-base58  64 bytes in base58, as Solana's browser wallets export a key
  solana-keygen  the words of 'solana-keygen new' as the one key that it makes of
           them, without a derivation path; of the wallets that do derive, the words
           are a mnemonic
  v3       Web3 Secret Storage version 3: an encrypted JSON file of geth, or of
           a wallet for Ethereum or Tron
  pkcs8    a PEM file, BEGIN PRIVATE KEY or BEGIN ENCRYPTED PRIVATE KEY
  mnemonic the 12 to 24 words of a wallet (BIP-39, English). Printed is the
           wallet with the accounts that are usual on the five chains,
           {"walletId":"…","name":"…","accounts":[…]}; 'countersign keys derive'
           adds more
  xprv     an extended private key (BIP-32) as a wallet of keys on secp256k1: a
           master key, xprv… or tprv…, or one below it with its origin before it,
           as in output descriptors, [73c5da0a/84h/0h/0h]xprv…. SLIP-132's yprv…,
           zprv…, uprv… and vprv… are read too. A tprv… goes with --network
           testnet, signet or regtest

The password of a v3 or an encrypted pkcs8 file is read from the file that
--secret-password-file names, or asked for on the terminal; with words, the
file has their passphrase (BIP-39), and they have none if no file is named.

--dir DIR: every file of a directory in the format v3, such as the keystore of
geth. They have one password. Each is answered with one line, in the order of
their names; one that is refused with {"error":{"code","reason","message"}}.

--jsonl: many keys, one a line, each answered with one line in the same order:

  {"curve":"CURVE_SECP256K1","privateKey":"<hex>","name":"optional"}

privateKeyId, a UUID, and actsFor may be there too: these are the lines of
'countersign keys export --all'. A line is answered when its key is safe on disk. A line that is refused (a blank
one, too) is answered {"error":{"code","reason","message"}}; the others go on,
and the exit status is 1. A key that is there already is answered with its line,
so that an interrupted import can be run again as a whole; only if the name
or the id differs it is refused.`),
		Example: paragraphs(`
  countersign keys import --keystore file:keys --curve CURVE_ED25519 < secret.hex
  countersign keys import --keystore file:keys --format solana < ~/.config/solana/id.json
  countersign keys import --keystore file:keys --passphrase-file pass --jsonl < keys.jsonl > imported.jsonl`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.at.register(command)
	c.at.registerNew(command)
	c.network.register(command)
	registerKeyFlags(command, &c.curve, &c.name)
	registerFormatFlag(command, &c.format, formatHex, importFormats)
	command.Flags().StringVar(&c.dir, "dir", "", "import all files of a directory `DIR` in the format v3")
	registerPasswordFlag(command, &c.passwordFile)
	command.Flags().BoolVar(&c.jsonl, "jsonl", false, "read many keys, one JSON object a line")
	command.Flags().BoolVar(&c.yes, "yes", false, "do not ask before keys go into an HSM")
	return command
}

func (c *importCommand) run(cmd *cobra.Command) error {
	if err := c.at.check(); err != nil {
		return err
	}
	if err := c.network.check(); err != nil {
		return err
	}
	if err := checkFormat(c.format, importFormats); err != nil {
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

// importKey imports the one key that is on standard input.
func (c *importCommand) importKey(cmd *cobra.Command) (err error) {
	source, err := c.source()
	if err != nil {
		return err
	}
	key, err := source.read(cmd)
	if err != nil {
		return err
	}
	defer key.Wipe()
	keys, err := c.open(cmd)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	infos, errs := c.addBatch(cmd.Context(), keys, []keystore.NewKey{{Name: c.name, Curve: key.Curve, Secret: key.Secret}})
	info, err := infos[0], errs[0]
	if errors.Is(err, keystore.ErrKeyExists) {
		if info, err = sameKey(info, keystore.NewKey{Name: c.name}, err); err == nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "This key was in the keystore already.")
		}
	}
	if err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), spendable(keys, c.network.line(info)))
}

// sameKey answers for a key that is there already: with what is there, unless
// it was to have another name, another id, or another account to act for.
func sameKey(existing keystore.KeyInfo, key keystore.NewKey, err error) (keystore.KeyInfo, error) {
	switch {
	case existing.ID == "":
		return existing, err
	case key.ID != "" && keystore.ByID(key.ID) != keystore.ByID(existing.ID):
		return existing, fmt.Errorf("this key is in the keystore already, as %s: leave privateKeyId out, or give that one", existing.ID)
	case key.ActsFor != "" && key.ActsFor != existing.ActsFor:
		return existing, fmt.Errorf("this key is in the keystore already, as %s, and acts for another account: 'countersign keys act-for' changes that", existing.ID)
	case key.Name != "" && key.Name != existing.Name:
		return existing, fmt.Errorf("this key is in the keystore already, as %s with the name %q: leave the name out, or give that one", existing.ID, existing.Name)
	}
	return existing, nil
}
