package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"context"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/lines"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// printJSON writes a value as one line of JSON.
func printJSON(w io.Writer, value any) error {
	_, err := w.Write(append(jsonLine(value), '\n'))
	return err
}

// printLine writes encoded JSON to standard output as one line.
func printLine(cmd *cobra.Command, line []byte) error {
	_, err := cmd.OutOrStdout().Write(append(bytes.TrimSpace(line), '\n'))
	return err
}

// jsonLine returns a value as JSON without the escapes that only HTML needs: the digest
// of a summary is over its canonical form, which has none. The value must marshal.
func jsonLine(value any) []byte {
	line, err := strictjson.Marshal(value)
	if err != nil {
		panic("countersign: marshal output: " + err.Error())
	}
	return line
}

// errorLine returns the answer to a line that was refused.
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

// requestInvalid wraps the error of a line that cannot be read.
func requestInvalid(err error) error {
	return activity.NewError(activity.ReasonRequestInvalid, "", err, "%v", err)
}

// outputFlag is --output, and its short form --json.
type outputFlag struct {
	format        string
	json          bool
	defaultFormat func(cmd *cobra.Command) string
}

// The formats of --output.
const (
	outputJSON = "json"
	outputText = "text"
)

// registerListing adds the flags to a command whose output is for programs, unless it
// goes to a terminal.
func (o *outputFlag) registerListing(cmd *cobra.Command) {
	o.register(cmd, "default: text on a terminal, otherwise json", func(cmd *cobra.Command) string {
		if terminal.Is(cmd.OutOrStdout()) {
			return outputText
		}
		return outputJSON
	})
}

// registerReading adds the flags to a command whose output is for people.
func (o *outputFlag) registerReading(cmd *cobra.Command) {
	o.register(cmd, "default: text", func(*cobra.Command) string { return outputText })
}

func (o *outputFlag) register(cmd *cobra.Command, usage string, defaultFormat func(*cobra.Command) string) {
	o.defaultFormat = defaultFormat
	cmd.Flags().StringVar(&o.format, "output", "", "`OUTPUT`: json or text ("+usage+")")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON: --output json")
}

// isText reports whether the output is to be text.
func (o *outputFlag) isText(cmd *cobra.Command) (bool, error) {
	format := o.format
	switch {
	case format != "" && format != outputJSON && format != outputText:
		return false, usagef("--output %q: use json or text", format)
	case o.json && format == outputText:
		return false, usagef("--json does not go with --output text")
	case o.json:
		format = outputJSON
	case format == "":
		format = o.defaultFormat(cmd)
	}
	return format == outputText, nil
}

// detail is a labelled line of text output.
type detail struct{ label, value string }

// printDetails prints the details that have a value, one per line.
func printDetails(w io.Writer, details []detail) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, one := range details {
		if one.value != "" {
			fmt.Fprintf(table, "%s\t%s\n", one.label, oneLine(one.value))
		}
	}
	return table.Flush()
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

// refusedLine answers a line with an error.
func refusedLine(err error) lines.Answer {
	return lines.Answer{Text: errorLine(err), Failed: true}
}

// orEmpty returns list, or an empty list if it is nil: JSON has [] for it rather than
// null.
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
