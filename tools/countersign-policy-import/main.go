// Command countersign-policy-import converts policies of the hosted service into a policy file.
// 'countersign policy import' runs it.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/countersign-dev/countersign/tools/countersign-policy-import/hosted"
)

// usage is what --help prints.
const usage = `usage: countersign-policy-import < hosted-policies.json > policy.yaml

Read policies of the hosted service as JSON from standard input, a list or an object
with a member "policies", and print a policy file. Policies that cannot be converted
become comments that give the reason. In place of one that may deny stands a rule that
denies all that it may have named, at the widest every activity: nothing is allowed that
was denied. Review the result before you use it: a policy that allowed whole transactions
still does, and says so.
`

// The exit statuses are those of countersign.
const (
	exitFailure = 1
	exitUsage   = 2
)

// maxInput is the length of the longest input in bytes.
const maxInput = 8 << 20

func main() {
	flags := flag.NewFlagSet("countersign-policy-import", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	switch err := flags.Parse(os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Print(usage)
		return
	case err != nil || flags.NArg() > 0:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(exitUsage)
	}
	if err := convert(os.Stdin, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "countersign-policy-import: %v\n", err)
		os.Exit(exitFailure)
	}
}

// convert prints the policy file, and on notes how many of the policies are in it.
func convert(in io.Reader, out, notes io.Writer) error {
	content, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	content = bytes.TrimSpace(content)
	switch {
	case err != nil:
		return fmt.Errorf("read the list of policies from standard input: %w", err)
	case len(content) > maxInput:
		return fmt.Errorf("the list of policies is longer than %d bytes", maxInput)
	case len(content) == 0:
		return errors.New("standard input is empty: expected the list of policies there")
	}
	file, imported, err := hosted.Import(content)
	if err != nil {
		return err
	}
	converted, denied := 0, []string{}
	for _, policy := range imported {
		switch {
		case policy.Problem == "":
			converted++
		case policy.Rule != "":
			denied = append(denied, policy.Name)
		}
	}
	fmt.Fprintf(notes, "%d of %d policies converted\n", converted, len(imported))
	if len(denied) > 0 {
		fmt.Fprintf(notes, "These may deny and were not converted, so their rules deny all that they may have named: %s\n",
			strings.Join(denied, ", "))
	}
	_, err = io.WriteString(out, file)
	return err
}
