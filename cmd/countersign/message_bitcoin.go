package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/bitcoin"
)

// bip322 is the kind of message that is signed as a transaction: its PSBT goes through
// sign_transaction.
const bip322 = "bip322"

// bitcoinMessageFlags are the flags of a BIP-322 message.
type bitcoinMessageFlags struct {
	address string // the address that makes the statement
	funds   string // file with a PSBT whose inputs are proven too; may be empty
}

func (f *bitcoinMessageFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "address", "", "with --message bip322: the `ADDRESS` that makes the statement")
	flags.StringVar(&f.funds, "funds", "", "with --message bip322: `FILE` with a PSBT whose inputs are proven too (a proof of funds)")
}

// check refuses the flags with other kinds of messages.
func (f *bitcoinMessageFlags) check(kind string) error {
	if kind != bip322 && (f.address != "" || f.funds != "") {
		return usagef("--address and --funds go with --message %s", bip322)
	}
	return nil
}

// read returns the PSBT of the message on standard input, in hex.
func (f *bitcoinMessageFlags) read(cmd *cobra.Command) (string, error) {
	if _, ok := bitcoin.NetworkOf(f.address); !ok {
		return "", usagef("--message %s needs --address, the Bitcoin address that makes the statement", bip322)
	}
	text, err := readStandardInput(cmd, "message", activity.MaxPayload)
	if err != nil {
		return "", err
	}
	message := bitcoin.ToSign{Text: string(text), Address: f.address}
	if f.funds != "" {
		if message.Funds, err = readFunds(f.funds); err != nil {
			return "", err
		}
	}
	packet, err := message.PSBT()
	return hex.EncodeToString(packet), err
}

// readFunds reads a PSBT from a file, in any of its encodings.
func readFunds(name string) ([]byte, error) {
	content, err := os.ReadFile(name) //nolint:gosec // the caller's own file
	if err != nil {
		return nil, fmt.Errorf("--funds: %w", err)
	}
	packet, _, err := bitcoin.Decode(content)
	if err != nil {
		return nil, fmt.Errorf("--funds: %s: %w", name, err)
	}
	return packet, nil
}

// signBitcoinMessage shows a BIP-322 message, asks for confirmation, signs it, and prints
// its signature.
func (c *signCommand) signBitcoinMessage(cmd *cobra.Command) (err error) {
	if c.bitcoin.address == "" {
		c.bitcoin.address = c.signWith
	}
	if c.signWith == "" {
		c.signWith = c.bitcoin.address
	}
	packet, err := c.bitcoin.read(cmd)
	if err != nil {
		return err
	}
	intent := activity.SignTransactionIntent{Type: activity.TransactionTypeBitcoin, SignWith: c.signWith, UnsignedTransaction: packet}
	engine, err := c.engine(cmd)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	signed, err := c.signShown(cmd, engine, intent)
	if err != nil {
		return err
	}
	signature, err := messageSignature(signed)
	if err != nil {
		return err
	}
	return printJSON(cmd.OutOrStdout(), struct {
		Signature string `json:"signature"`
	}{signature})
}

// messageSignature returns the BIP-322 signature in a fully signed PSBT, given in hex.
func messageSignature(signed string) (string, error) {
	packet, err := hex.DecodeString(signed)
	if err != nil {
		return "", err
	}
	signature, _, err := bitcoin.MessageSignature(packet)
	if err != nil {
		return "", fmt.Errorf("%w; if several keys sign, name their wallet with --sign-with and the address with --address, "+
			"or pass the PSBT of the message from one to the next with --type %s", err, activity.TransactionTypeBitcoin)
	}
	return signature, nil
}
