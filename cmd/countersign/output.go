package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
)

// printJSON writes a value as one line.
func printJSON(w io.Writer, value any) error {
	_, err := w.Write(append(jsonLine(value), '\n'))
	return err
}

// printLine writes JSON that is there already to standard output, as one line.
func printLine(cmd *cobra.Command, line []byte) error {
	_, err := cmd.OutOrStdout().Write(append(bytes.TrimSpace(line), '\n'))
	return err
}

// jsonLine returns a value of ours as JSON without the escapes that only HTML
// needs: the digest of a summary is over its canonical form, and that has none.
func jsonLine(value any) []byte {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic("countersign: a value of ours always marshals: " + err.Error())
	}
	return bytes.TrimSuffix(line.Bytes(), []byte("\n"))
}

// errorLine is how a line that was refused is answered.
func errorLine(err error) []byte {
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok {
		refusal = activity.NewError(activity.ReasonInternal, "", err, "%v", err)
	}
	type problem struct {
		Code    activity.Code   `json:"code"`
		Reason  activity.Reason `json:"reason"`
		Message string          `json:"message"`
	}
	return jsonLine(struct {
		Error problem `json:"error"`
	}{problem{refusal.Code, refusal.Reason, refusal.Message}})
}

// requestInvalid is the refusal of a line that cannot be read.
func requestInvalid(err error) error {
	return activity.NewError(activity.ReasonRequestInvalid, "", err, "%v", err)
}
