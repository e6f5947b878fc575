package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/terminal"
)

// outputFlag is --output, with --json for short, of the commands that list or read.
type outputFlag struct {
	format string
	json   bool
	usual  func(cmd *cobra.Command) string // the format without a flag
}

// The formats of --output.
const (
	outputJSON = "json"
	outputText = "text"
)

// registerListing adds the flags to a command whose output is for programs, unless it
// is a terminal.
func (o *outputFlag) registerListing(cmd *cobra.Command) {
	o.register(cmd, "default: text on a terminal, else json", func(cmd *cobra.Command) string {
		if terminal.Is(cmd.OutOrStdout()) {
			return outputText
		}
		return outputJSON
	})
}

// registerReading adds the flags to a command whose output is for a person.
func (o *outputFlag) registerReading(cmd *cobra.Command) {
	o.register(cmd, "default: text", func(*cobra.Command) string { return outputText })
}

func (o *outputFlag) register(cmd *cobra.Command, usual string, choose func(*cobra.Command) string) {
	o.usual = choose
	cmd.Flags().StringVar(&o.format, "output", "", "`OUTPUT`: json or text ("+usual+")")
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON: --output json")
}

// isText reports whether text is to be printed.
func (o *outputFlag) isText(cmd *cobra.Command) (bool, error) {
	format := o.format
	switch {
	case format != "" && format != outputJSON && format != outputText:
		return false, usagef("--output %q: use json or text", format)
	case o.json && format == outputText:
		return false, usagef("--json goes with --output json only")
	case o.json:
		format = outputJSON
	case format == "":
		format = o.usual(cmd)
	}
	return format == outputText, nil
}

// detail is a line of text about one thing.
type detail struct{ label, value string }

// printDetails prints what is known of one thing, a line each. What is empty is left
// out.
func printDetails(w io.Writer, details []detail) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, one := range details {
		if one.value != "" {
			fmt.Fprintf(table, "%s\t%s\n", one.label, oneLine(one.value))
		}
	}
	return table.Flush()
}
