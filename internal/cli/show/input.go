package show

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/wiretext"
)

// ReadTransaction reads one transaction from a file, or from standard input if none is
// named, as clean text: see wiretext.Clean.
func ReadTransaction(cmd *cobra.Command, file ...string) (string, error) {
	in, from := cmd.InOrStdin(), "standard input"
	if len(file) > 0 && file[0] != "" && file[0] != console.StandardInput {
		opened, err := os.Open(file[0])
		if err != nil {
			return "", err
		}
		defer func() { _ = opened.Close() }()
		in, from = opened, file[0]
	} else if terminal.Is(in) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Paste the transaction, then press Enter and Ctrl-D:")
	}
	content, err := console.ReadAll(cmd.Context(), in, MaxPSBTText)
	var text []byte
	if err == nil {
		text, err = wiretext.Clean(content)
	}
	if err != nil {
		return "", fmt.Errorf("read the transaction from %s: %w", from, err)
	}
	if len(text) == 0 {
		return "", fmt.Errorf("%s is empty: expected a transaction", from)
	}
	return string(text), nil
}

// Written is a transaction as the engine takes it, and how it was written.
type Written struct {
	Text    string // hex; or what came, for the engine to refuse
	Form    wiretext.Form
	Message []byte // the message of a Solana transaction, if that is what came; text has empty signatures
}

// ReadTransactionOf reads one transaction of a type: see DecodeAs.
func ReadTransactionOf(cmd *cobra.Command, kind activity.TransactionType, file ...string) (Written, error) {
	content, err := ReadTransaction(cmd, file...)
	if err != nil {
		return Written{}, err
	}
	return DecodeAs(kind, content)
}

// takenForms are the forms besides hex in which transactions of a type are exchanged.
var takenForms = map[activity.TransactionType]struct {
	forms []string
	whole string
}{
	activity.TransactionTypeBitcoin: {[]string{"base64", "binary"}, "a PSBT in hex, base64 or binary"},
	activity.TransactionTypeSolana:  {[]string{"base64", "base58"}, "a transaction, or the message of one, in hex, base64 or base58"},
}

// DecodeAs reads a transaction of a type: hex, or a form in which its chain exchanges
// them. The error is about the form: whether the bytes are a transaction is for the engine
// to say.
func DecodeAs(kind activity.TransactionType, content string) (Written, error) {
	taken := takenForms[kind]
	var wrong error
	for _, reading := range wiretext.Read([]byte(content)) {
		if reading.Form != wiretext.Hex && !slices.Contains(taken.forms, reading.Form.String()) {
			continue
		}
		tx, err := asTransaction(kind, reading)
		if err == nil || reading.Form == wiretext.Hex {
			return tx, nil
		}
		wrong = fmt.Errorf("read as %v: %w", reading.Form, err)
	}
	if taken.forms == nil {
		return Written{Text: content}, nil
	}
	if wrong == nil {
		_, wrong = chains.DecodeHex(content)
	}
	return Written{Text: content}, fmt.Errorf("%w; expected %s", wrong, taken.whole)
}

// asTransaction returns a reading as the engine takes it. The error says why its bytes are
// no transaction of the type.
func asTransaction(kind activity.TransactionType, reading wiretext.Reading) (Written, error) {
	tx := Written{Text: hex.EncodeToString(reading.Raw), Form: reading.Form}
	switch kind {
	case activity.TransactionTypeBitcoin:
		if reading.Form != wiretext.Binary && !bytes.HasPrefix(reading.Raw, []byte("psbt\xff")) {
			return tx, errors.New("not a PSBT, which starts with the bytes 70736274ff")
		}
	case activity.TransactionTypeSolana:
		whole, err := SolanaTransaction(reading.Raw)
		if err != nil {
			return tx, fmt.Errorf("neither a transaction nor the message of one: %w", err)
		}
		if len(whole) != len(reading.Raw) {
			tx.Message, tx.Text = reading.Raw, hex.EncodeToString(whole)
		}
	}
	return tx, nil
}

// SolanaTransaction returns the transaction in data, which may also be the message of one:
// that gets empty signatures. The bytes decide, not what came with them.
func SolanaTransaction(data []byte) ([]byte, error) {
	inspect := func(raw []byte) error {
		_, err := all.Inspect(activity.TransactionTypeSolana, hex.EncodeToString(raw), all.Limits{})
		return err
	}
	whole := inspect(data)
	if whole == nil {
		return data, nil
	}
	wrapped := withSlots(data)
	if wrapped == nil {
		return nil, whole
	}
	return wrapped, inspect(wrapped)
}

// withSlots returns the message of a transaction with an empty slot for each signature:
// before it, after their number, or behind it in version 1. It returns nil for what is no
// message.
func withSlots(message []byte) []byte {
	slots := func(count byte) []byte { return make([]byte, SolSlot*int(count)) }
	switch {
	case len(message) < 2:
		return nil
	case message[0] == 0x81 && message[1] < 0x80:
		return slices.Concat(message, slots(message[1]))
	case message[0] == 0x80 && message[1] < 0x80: // version 0
		return slices.Concat(message[1:2], slots(message[1]), message)
	case message[0] < 0x80: // legacy: begins with the number of signers
		return slices.Concat(message[:1], slots(message[0]), message)
	}
	return nil
}

// SolSlot is the length in bytes of a signature, and of its slot in a transaction.
const SolSlot = 64
