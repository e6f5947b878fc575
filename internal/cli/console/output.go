package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/lines"
	"github.com/countersign-dev/countersign/internal/cli/terminal"
	"github.com/countersign-dev/countersign/internal/strictjson"
)

// PrintJSON writes a value as one line of JSON.
func PrintJSON(w io.Writer, value any) error {
	_, err := w.Write(append(JSONLine(value), '\n'))
	return err
}

// PrintLine writes encoded JSON to standard output as one line.
func PrintLine(cmd *cobra.Command, line []byte) error {
	_, err := cmd.OutOrStdout().Write(append(bytes.TrimSpace(line), '\n'))
	return err
}

// JSONLine returns a value as JSON without the escapes that only HTML needs: the digest
// of a summary is over its canonical form, which has none. The value must marshal.
func JSONLine(value any) []byte {
	line, err := strictjson.Marshal(value)
	if err != nil {
		panic("countersign: marshal output: " + err.Error())
	}
	return line
}

// RequestInvalid wraps the error of a line that cannot be read.
func RequestInvalid(err error) error {
	return activity.NewError(activity.ReasonRequestInvalid, "", err, "%v", err)
}

// OutputFlag is --output, and its short form --json.
type OutputFlag struct {
	format string
	json   bool
}

// The formats of --output.
const (
	OutputJSON = "json"
	OutputText = "text"
	OutputCSV  = "csv" // of some listings
)

// RegisterListing adds the flags to a command whose output is for programs, unless it
// goes to a terminal. More formats may be possible.
func (o *OutputFlag) RegisterListing(cmd *cobra.Command, more ...string) {
	possible := append([]string{OutputJSON, OutputText}, more...)
	o.register(cmd, "default: text on a terminal, otherwise json", possible, func() string {
		if terminal.Is(cmd.OutOrStdout()) {
			return OutputText
		}
		return OutputJSON
	})
}

// RegisterReading adds the flags to a command whose output is for people.
func (o *OutputFlag) RegisterReading(cmd *cobra.Command) {
	o.register(cmd, "default: text", []string{OutputJSON, OutputText}, func() string { return OutputText })
}

func (o *OutputFlag) register(cmd *cobra.Command, usage string, possible []string, otherwise func() string) {
	last := len(possible) - 1
	formats := strings.Join(possible[:last], ", ") + " or " + possible[last]
	cmd.Flags().StringVar(&o.format, "output", "", "`OUTPUT`: "+formats+" ("+usage+")")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON: --output json")
	Check(cmd, func() error {
		switch {
		case o.format != "" && !slices.Contains(possible, o.format):
			return Usagef("--output %q: use %s", o.format, formats)
		case o.json && o.format != "" && o.format != OutputJSON:
			return Usagef("--json does not go with --output %s", o.format)
		case o.json:
			o.format = OutputJSON
		case o.format == "":
			o.format = otherwise()
		}
		return nil
	})
}

// IsCSV reports whether the output is to be CSV.
func (o *OutputFlag) IsCSV() bool { return o.format == OutputCSV }

// IsText reports whether the output is to be text.
func (o *OutputFlag) IsText() bool { return o.format == OutputText }

// Detail is a line of text output: a label and its value.
type Detail [2]string

// PrintDetails prints the details that have a value, one per line.
func PrintDetails(w io.Writer, details []Detail) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, detail := range details {
		if detail[1] != "" {
			fmt.Fprintf(table, "%s\t%s\n", detail[0], oneLine(detail[1]))
		}
	}
	return table.Flush()
}

// TallyError returns the error of a batch of lines: err, or that some lines failed.
func TallyError(tally lines.Tally, err error) error {
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

// RefusedLine answers a line with an error.
func RefusedLine(err error) lines.Answer {
	refusal, ok := errors.AsType[*activity.Error](err)
	if !ok {
		refusal = activity.NewError(activity.ReasonInternal, "", err, "%v", err)
	}
	type problem struct {
		Code    activity.Code   `json:"code"`
		Reason  activity.Reason `json:"reason"`
		Message string          `json:"message"`
	}
	return lines.Answer{Failed: true, Text: JSONLine(struct {
		Error problem `json:"error"`
	}{problem{refusal.Code, refusal.Reason, refusal.Message}})}
}

// OrEmpty returns list, or an empty list if it is nil: JSON has [] for it rather than null.
func OrEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
