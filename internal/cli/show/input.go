package show

import (
	"encoding/hex"
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
	Message []byte // what is signed, if only that came; Text has empty signatures
}

// DecodeAs reads a transaction of a type: hex, or a form in which its chain exchanges
// them. The error is about the form: whether the bytes are a transaction is for the engine
// to say.
func DecodeAs(kind activity.TransactionType, content string) (Written, error) {
	chain, err := all.Of(kind, all.Limits{})
	if err != nil {
		return Written{Text: content}, err
	}
	forms := chain.Words().Forms
	var wrong error
	for _, reading := range wiretext.Read([]byte(content)) {
		if reading.Form != wiretext.Hex && !slices.Contains(forms.Encodings, reading.Form.String()) {
			continue
		}
		tx, err := asTransaction(forms, reading)
		if err == nil || reading.Form == wiretext.Hex {
			return tx, nil
		}
		wrong = fmt.Errorf("read as %v: %w", reading.Form, err)
	}
	if forms.Expected == "" {
		return Written{Text: content}, nil
	}
	if wrong == nil {
		_, wrong = chains.DecodeHex(content)
	}
	return Written{Text: content}, fmt.Errorf("%w; expected %s", wrong, forms.Expected)
}

// asTransaction returns a reading as the engine takes it. The error says why its bytes are
// no transaction of the chain.
func asTransaction(forms chains.Forms, reading wiretext.Reading) (Written, error) {
	tx := Written{Text: hex.EncodeToString(reading.Raw), Form: reading.Form}
	if forms.Complete == nil {
		return tx, nil
	}
	whole, err := forms.Complete(reading.Raw)
	if err == nil && len(whole) != len(reading.Raw) {
		tx.Message, tx.Text = reading.Raw, hex.EncodeToString(whole)
	}
	return tx, err
}
