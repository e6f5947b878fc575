package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/internal/wiretext"
)

// readTransaction reads one transaction from a file, or from standard input if none is
// named, as clean text: see wiretext.Clean.
func readTransaction(cmd *cobra.Command, file ...string) (string, error) {
	in, from := cmd.InOrStdin(), "standard input"
	if len(file) > 0 && file[0] != "" && file[0] != fromStandardInput {
		opened, err := os.Open(file[0])
		if err != nil {
			return "", err
		}
		defer func() { _ = opened.Close() }()
		in, from = opened, file[0]
	} else if terminal.Is(in) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Paste the transaction, then press Enter and Ctrl-D:")
	}
	content, err := readAll(cmd.Context(), in, lines.MaxLength)
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

// written is a transaction as the engine takes it, and how it was written.
type written struct {
	text    string // hex; or what came, for the engine to refuse
	form    wiretext.Form
	message []byte // the message of a Solana transaction, if that is what came; text has empty signatures
}

// readTransactionOf reads one transaction of a type: see decodeAs.
func readTransactionOf(cmd *cobra.Command, kind activity.TransactionType, file ...string) (written, error) {
	content, err := readTransaction(cmd, file...)
	if err != nil {
		return written{}, err
	}
	return decodeAs(kind, content)
}

// takenForms are the forms besides hex in which transactions of a type are exchanged.
var takenForms = map[activity.TransactionType]struct {
	forms []string
	whole string
}{
	activity.TransactionTypeBitcoin: {[]string{"base64", "binary"}, "a PSBT in hex, base64 or binary"},
	activity.TransactionTypeSolana:  {[]string{"base64", "base58"}, "a transaction, or the message of one, in hex, base64 or base58"},
}

// decodeAs reads a transaction of a type: hex, or a form in which its chain exchanges
// them. The error is about the form: whether the bytes are a transaction is for the engine
// to say.
func decodeAs(kind activity.TransactionType, content string) (written, error) {
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
		return written{text: content}, nil
	}
	if wrong == nil {
		_, wrong = chains.DecodeHex(content)
	}
	return written{text: content}, fmt.Errorf("%w; expected %s", wrong, taken.whole)
}

// asTransaction returns a reading as the engine takes it. The error says why its bytes are
// no transaction of the type.
func asTransaction(kind activity.TransactionType, reading wiretext.Reading) (written, error) {
	tx := written{text: hex.EncodeToString(reading.Raw), form: reading.Form}
	switch kind {
	case activity.TransactionTypeBitcoin:
		if reading.Form != wiretext.Binary && !bytes.HasPrefix(reading.Raw, []byte("psbt\xff")) {
			return tx, errors.New("not a PSBT, which starts with the bytes 70736274ff")
		}
	case activity.TransactionTypeSolana:
		whole, err := solanaTransaction(reading.Raw)
		if err != nil {
			return tx, fmt.Errorf("neither a transaction nor the message of one: %w", err)
		}
		if len(whole) != len(reading.Raw) {
			tx.message, tx.text = reading.Raw, hex.EncodeToString(whole)
		}
	}
	return tx, nil
}

// readAll reads the whole input, of at most limit bytes. It returns ErrInterrupted when
// the context ends.
func readAll(ctx context.Context, in io.Reader, limit int) ([]byte, error) {
	type content struct {
		text []byte
		err  error
	}
	contents := make(chan content, 1)
	go func() {
		var text bytes.Buffer
		text.Grow(min(limit+1, 64<<10) + bytes.MinRead) // growing would leave a copy of a secret behind
		_, err := text.ReadFrom(io.LimitReader(in, int64(limit)+1))
		contents <- content{text.Bytes(), err}
	}()
	select {
	case got := <-contents:
		if got.err == nil && len(got.text) > limit {
			clear(got.text)
			return nil, fmt.Errorf("longer than %d bytes", limit)
		}
		return got.text, got.err
	case <-ctx.Done():
		return nil, terminal.ErrInterrupted
	}
}

// tallyError returns the error of a batch of lines: err, or that some lines failed.
func tallyError(tally lines.Tally, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted after %d lines", tally.Lines)
	case err != nil:
		return fmt.Errorf("stopped after %d lines: %w", tally.Lines, err)
	case tally.Failed > 0:
		return fmt.Errorf("%d of %d lines failed; the first is line %d", tally.Failed, tally.Lines, tally.FirstFailed)
	}
	return nil
}
