package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"filippo.io/age"
	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/harden"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/keystore"
)

// exportedLine is one key of keys export --all, as keys import --jsonl reads it. The
// secret is put in behind it by hand, so that encoding/json makes no copy.
type exportedLine struct {
	PrivateKeyID string `json:"privateKeyId"`
	Name         string `json:"name,omitempty"`
	Curve        string `json:"curve"`
	ActsFor      string `json:"actsFor,omitempty"`
}

// runAll is keys export --all.
func (c *exportCommand) runAll(cmd *cobra.Command) (err error) {
	if err := c.checkAll(); err != nil {
		return err
	}
	if err := c.checkOutput(cmd.OutOrStdout()); err != nil {
		return err
	}
	if err := harden.NoCoreDumps(); err != nil { // before any secret is read
		return err
	}
	password, err := c.passwordOfAll(cmd.Context())
	if err != nil {
		return err
	}
	defer keystore.Wipe(password)
	keys, err := openFor[exporter](&c.at, cmd, noExport)
	if err != nil {
		return err
	}
	defer closeKeystore(keys, &err)
	text, count, err := c.allKeys(cmd, keys)
	defer func() { keystore.Wipe(text) }()
	if err != nil {
		return err
	}
	if err := c.confirmAll(cmd.Context(), count); err != nil {
		return err
	}
	out := text
	if !c.plain {
		if out, err = ageEncrypt(text, password); err != nil {
			return err
		}
	}
	if c.out != "" {
		return writeNew(c.out, out)
	}
	_, err = cmd.OutOrStdout().Write(out)
	return err
}

func (c *exportCommand) checkAll() error {
	switch {
	case c.format != "":
		return usagef("--format does not go with --all: it writes the lines that 'countersign keys import --jsonl' reads")
	case c.plain && c.passwordFile != "":
		return usagef("%s: --plain is not encrypted", passwordFlag)
	}
	if err := c.at.check(); err != nil {
		return err
	}
	if !can[exporter](&c.at) {
		return usagef("%s", noExport)
	}
	return nil
}

func (c *exportCommand) passwordOfAll(ctx context.Context) ([]byte, error) {
	switch {
	case c.plain:
		return nil, nil
	case c.passwordFile != "":
		return readPasswordFile(ctx, c.passwordFile)
	}
	return askNewPassword(ctx)
}

// allKeys returns a line for each key that signs, oldest first. The caller wipes it,
// also after an error.
func (c *exportCommand) allKeys(cmd *cobra.Command, keys exporter) (text []byte, count int, err error) {
	ctx, organization := cmd.Context(), c.at.organization
	accounts, err := placesOf(ctx, keys, organization)
	if err != nil {
		return nil, 0, err
	}
	derived := 0
	for info, err := range keys.Keys(ctx, organization) {
		if err != nil {
			return text, count, err
		}
		if _, ok := accounts[info.ID]; ok {
			derived++
		}
		if err := keys.RevealSecret(ctx, organization, info.ID, func(secret []byte) error {
			text = appendExported(text, info, secret)
			return nil
		}); err != nil {
			return text, count, err
		}
		count++
	}
	if count == 0 {
		return text, 0, fmt.Errorf("organization %q has no keys here: --org names another", organization)
	}
	return text, count, tellNotExported(cmd, keys, organization, derived)
}

// tellNotExported says what the lines do not have.
func tellNotExported(cmd *cobra.Command, keys keystore.Keystore, organization string, derived int) error {
	if derived > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d of the keys are accounts of wallets: exported as single keys, without the words (--format mnemonic has them).\n", derived)
	}
	disabled, err := disabledKeys(cmd.Context(), keys, organization)
	if len(disabled) > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%d disabled keys are not exported: 'countersign keys backup' copies them too.\n", len(disabled))
	}
	return err
}

// appendExported appends the line of a key. When the text grows, what it leaves behind
// is wiped.
func appendExported(text []byte, info keystore.KeyInfo, secret []byte) []byte {
	head := jsonLine(exportedLine{
		PrivateKeyID: info.ID, Name: info.Name, Curve: info.PublicKey.Curve().String(), ActsFor: info.ActsFor,
	})
	head = bytes.TrimSuffix(bytes.TrimSuffix(head, []byte("\n")), []byte("}"))
	need := len(text) + len(head) + len(`,"privateKey":""}`+"\n") + hex.EncodedLen(len(secret))
	if need > cap(text) {
		larger := append(make([]byte, 0, 2*need), text...)
		keystore.Wipe(text)
		text = larger
	}
	text = append(append(text, head...), `,"privateKey":"`...)
	text = hex.AppendEncode(text, secret)
	return append(text, "\"}\n"...)
}

// ageEncrypt returns an age file that the password decrypts.
func ageEncrypt(text, password []byte) ([]byte, error) {
	recipient, err := age.NewScryptRecipient(string(password))
	if err != nil {
		return nil, err
	}
	var sealed bytes.Buffer
	payload, err := age.Encrypt(&sealed, recipient)
	if err != nil {
		return nil, err
	}
	_, err = payload.Write(text)
	err = errors.Join(err, payload.Close()) // writes the rest into sealed
	return sealed.Bytes(), err
}

func (c *exportCommand) confirmAll(ctx context.Context, count int) error {
	return confirmed(c.yes, func(tty *terminal.Terminal) error {
		how := "encrypted with the password"
		if c.plain {
			how = "in plain text: a reader of it can take what they hold"
		}
		yes, err := tty.Confirm(ctx, fmt.Sprintf("Export the secrets of %d keys, %s?", count, how))
		if err == nil && !yes {
			err = errNotExported
		}
		return err
	})
}
