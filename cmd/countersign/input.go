package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

// readTransaction reads one transaction from a file, or from standard input if none is
// named, and trims the white space around it.
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
		fmt.Fprintln(cmd.ErrOrStderr(), "Paste the transaction in hex, then press Enter and Ctrl-D:")
	}
	text, err := readAll(cmd.Context(), in, lines.MaxLength)
	if err != nil {
		return "", fmt.Errorf("read the transaction from %s: %w", from, err)
	}
	if text = bytes.TrimSpace(text); len(text) == 0 {
		return "", fmt.Errorf("%s is empty: expected a transaction", from)
	}
	return string(text), nil
}

// readTransactionOf reads one transaction of a type: see decodeAs.
func readTransactionOf(cmd *cobra.Command, kind activity.TransactionType, file ...string) (string, bitcoin.Encoding, error) {
	content, err := readTransaction(cmd, file...)
	if err != nil {
		return "", bitcoin.Hex, err
	}
	text, encoding := decodeAs(kind, content)
	return text, encoding, nil
}

// decodeAs returns a transaction of a type in hex, and the encoding that it came in. A
// PSBT may be in hex, base64 or binary; the hex of other transactions may be wrapped over
// lines. Anything else is returned unchanged, for the engine to refuse.
func decodeAs(kind activity.TransactionType, content string) (string, bitcoin.Encoding) {
	if kind == activity.TransactionTypeBitcoin {
		raw, encoding, err := bitcoin.Decode([]byte(content))
		if err == nil && encoding != bitcoin.Hex {
			return hex.EncodeToString(raw), encoding
		}
	}
	return unwrapped(content), bitcoin.Hex
}

// unwrapped joins hex that is wrapped over lines. It returns anything else unchanged.
func unwrapped(content string) string {
	joined := strings.Join(strings.Fields(content), "")
	if _, err := hex.DecodeString(strings.TrimPrefix(joined, "0x")); err != nil {
		return content
	}
	return joined
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
