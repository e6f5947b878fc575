package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// importCommand is one call of keys import.
type importCommand struct {
	at      keystoreFlags
	network networkFlag
	curve   string
	name    string
	format  string
	jsonl   bool
}

func newImportCommand() *cobra.Command {
	var c importCommand
	command := &cobra.Command{
		Use:   "import",
		Short: "Import keys from standard input",
		Long: paragraphs(`
Import the secret of a key from standard input, or from the terminal, where it
is not shown, and print the key as one line of JSON, when it is safe on disk. A
key that is there already is printed as it is there; it is not imported twice.
If there is no keystore in the directory yet, one is made.

--format hex: the 32 bytes of a secp256k1 secret, or of an Ed25519 seed, as 64
hex digits, with or without 0x.

--jsonl: many keys, one a line, each answered with one line in the same order:

  {"curve":"CURVE_SECP256K1","privateKey":"<hex>","name":"optional"}

A line is answered when its key is safe on disk. A line that is refused (a blank
one, too) is answered {"error":{"code","reason","message"}}; the others go on,
and the exit status is 1. A key that is there already is answered with its line,
so that an interrupted import can be run again as a whole; only if the name
differs it is refused.`),
		Example: paragraphs(`
  countersign keys import --keystore file:keys --curve CURVE_ED25519 < secret.hex
  countersign keys import --keystore file:keys --passphrase-file pass --jsonl < keys.jsonl > imported.jsonl`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd) },
	}
	c.at.register(command)
	c.network.register(command)
	registerKeyFlags(command, &c.curve, &c.name)
	command.Flags().StringVar(&c.format, "format", "hex", "`FORMAT` of the secret: hex")
	command.Flags().BoolVar(&c.jsonl, "jsonl", false, "read many keys, one JSON object a line")
	return command
}

func (c *importCommand) run(cmd *cobra.Command) (err error) {
	if _, err := c.at.directory(); err != nil {
		return err
	}
	if err := c.network.check(); err != nil {
		return err
	}
	if c.format != "hex" {
		return usagef("--format %q: use hex", c.format)
	}
	if c.jsonl {
		return c.importLines(cmd)
	}
	curve, err := parseCurve(c.curve)
	if err != nil {
		return err
	}
	secret, err := readSecret(cmd)
	if err != nil {
		return err
	}
	defer keystore.Wipe(secret)
	keys, err := c.at.openOrCreate(cmd)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	info, err := keys.Add(c.at.organization, file.Key{Name: c.name, Curve: curve, Secret: secret})
	if errors.Is(err, keystore.ErrKeyExists) {
		if info, err = sameKey(info, c.name, err); err == nil {
			fmt.Fprintln(cmd.ErrOrStderr(), "This key was in the keystore already.")
		}
	}
	if err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), c.network.line(info))
}

// sameKey answers for a key that is there already: with what is there, unless
// it was to have another name.
func sameKey(existing keystore.KeyInfo, name string, err error) (keystore.KeyInfo, error) {
	switch {
	case existing.ID == "":
		return existing, err
	case name != "" && name != existing.Name:
		return existing, fmt.Errorf("this key is in the keystore already, as %s with the name %q: leave the name out, or give that one", existing.ID, existing.Name)
	}
	return existing, nil
}

// readSecret reads one secret in hex from standard input. Of a terminal it asks
// for it without showing it. The caller wipes it.
func readSecret(cmd *cobra.Command) ([]byte, error) {
	const most = 1024
	var text []byte
	var err error
	if terminal.Is(cmd.InOrStdin()) {
		text, err = askSecret(cmd.Context())
	} else {
		text, err = readAll(cmd.Context(), cmd.InOrStdin(), most)
	}
	if err != nil {
		return nil, fmt.Errorf("read the secret: %w", err)
	}
	defer keystore.Wipe(text)
	return decodeSecret(bytes.TrimSpace(text))
}

func askSecret(ctx context.Context) ([]byte, error) {
	tty, err := terminal.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = tty.Close() }()
	return tty.Secret(ctx, "Secret in hex")
}

// decodeSecret reads the hex of a secret. Its errors show nothing of it. The
// caller wipes what it returns.
func decodeSecret(text []byte) ([]byte, error) {
	digits := text
	if bytes.HasPrefix(digits, []byte("0x")) || bytes.HasPrefix(digits, []byte("0X")) {
		digits = digits[2:]
	}
	if len(digits) != hex.EncodedLen(keystore.SecretSize) {
		return nil, fmt.Errorf("the secret has %d characters: %d hex digits are expected", len(digits), hex.EncodedLen(keystore.SecretSize))
	}
	secret := make([]byte, keystore.SecretSize)
	if _, err := hex.Decode(secret, digits); err != nil {
		keystore.Wipe(secret)
		return nil, errors.New("the secret has a character that is not a hex digit")
	}
	return secret, nil
}
