package sign

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/internal/cli/console"
)

// bip322 is the kind of message that is signed as a transaction: its PSBT goes through
// sign_transaction.
const bip322 = "bip322"

// messageFlags are the flags of single kinds of messages.
type messageFlags struct {
	address  string // the Bitcoin address that makes the statement
	funds    string // file with a PSBT whose inputs are proven too; may be empty
	encoding string // of a message of Solana
}

func (f *messageFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "address", "", "with --message bip322 or bip137: the `ADDRESS` that makes the statement")
	flags.StringVar(&f.encoding, "encoding", "", "with --message solana: the `ENCODING` of the message: hex (default), base64 or base58")
	flags.StringVar(&f.funds, "funds", "", "with --message bip322: `FILE` with a PSBT whose inputs are proven too (a proof of funds)")
}

// check refuses the flags with other kinds of messages.
func (f *messageFlags) check(kind string) error {
	switch {
	case f.funds != "" && kind != bip322:
		return console.Usagef("--funds goes with --message %s", bip322)
	case f.address != "" && kind != bip322 && kind != bip137Kind:
		return console.Usagef("--address goes with --message %s and %s", bip322, bip137Kind)
	}
	if kind != "solana" && f.encoding != "" {
		return console.Usagef("--encoding goes with --message solana: the form of a transaction is recognized")
	}
	if !slices.Contains([]string{"", "hex", "base64", "base58"}, f.encoding) {
		return console.Usagef("--encoding: unknown encoding %q: use hex, base64 or base58", f.encoding)
	}
	return nil
}

// read returns the PSBT of the message on standard input, in hex.
func (f *messageFlags) read(cmd *cobra.Command) (string, error) {
	if _, ok := bitcoin.NetworkOf(f.address); !ok {
		return "", console.Usagef("--message %s needs --address, the Bitcoin address that makes the statement", bip322)
	}
	text, err := readMessage(cmd, true)
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
	if c.about.address == "" {
		c.about.address = c.signWith
	}
	if c.signWith == "" {
		c.signWith = c.about.address
	}
	packet, err := c.about.read(cmd)
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
	return console.PrintJSON(cmd.OutOrStdout(), struct {
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
