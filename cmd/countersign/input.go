package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

// readTransaction reads the hex of one transaction from standard input, without
// the white space around it.
func readTransaction(cmd *cobra.Command) (string, error) {
	if terminal.Is(cmd.InOrStdin()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "Paste the unsigned transaction in hex, then press Enter and Ctrl-D:")
	}
	text, err := readAll(cmd.Context(), cmd.InOrStdin(), lines.MaxLength)
	if err != nil {
		return "", fmt.Errorf("read the transaction from standard input: %w", err)
	}
	return string(bytes.TrimSpace(text)), nil
}

// readTransactionOf reads one transaction of a type. A PSBT may be in hex, base64
// or binary: it is returned in hex, with the encoding in which it came. What is in
// none of them is returned as it is, for the engine to explain.
func readTransactionOf(cmd *cobra.Command, kind activity.TransactionType) (string, bitcoin.Encoding, error) {
	unsigned, err := readTransaction(cmd)
	if err != nil || kind != activity.TransactionTypeBitcoin {
		return unsigned, bitcoin.Hex, err
	}
	raw, encoding, err := bitcoin.Decode([]byte(unsigned))
	if err != nil || encoding == bitcoin.Hex {
		return unsigned, bitcoin.Hex, nil //nolint:nilerr // the engine explains what is in none of the encodings
	}
	return hex.EncodeToString(raw), encoding, nil
}

// readAll reads all of the input if it is not longer than most bytes. It does
// not wait for more when the context ends.
func readAll(ctx context.Context, in io.Reader, most int) ([]byte, error) {
	type content struct {
		text []byte
		err  error
	}
	contents := make(chan content, 1)
	go func() {
		var text bytes.Buffer
		text.Grow(min(most+1, 64<<10) + bytes.MinRead) // so that growing leaves no copy of a secret behind
		_, err := text.ReadFrom(io.LimitReader(in, int64(most)+1))
		contents <- content{text.Bytes(), err}
	}()
	select {
	case got := <-contents:
		if got.err == nil && len(got.text) > most {
			clear(got.text)
			return nil, fmt.Errorf("longer than %d bytes", most)
		}
		return got.text, got.err
	case <-ctx.Done():
		return nil, terminal.ErrInterrupted
	}
}

// tallyError says how answering lines ended.
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
