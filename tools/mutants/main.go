// Command mutants tests the tests: it disables one refusal of a package at a time and
// reports those that no test notices. It runs in the root of the module under test:
//
//	go build -C tools -o ../dist/mutants ./mutants
//	dist/mutants ./chains/tron ./stamp             runs their own tests
//	dist/mutants -with .,./httpapi ./stamp         also runs those of other packages
//
// A refusal is a condition that makes a function return an error or false,
// record a failure, or report a hazard. Each gets a switch in a copy of the source that
// the compiler uses instead of the original (go build -overlay): the tree is never
// changed, and each test program is built once. First, every test runs alone, to record
// which refusals it triggers. Then each refusal is disabled in turn while the tests that
// trigger it run, those of its own package first. It is caught if a test fails or times
// out.
//
// survivors.txt lists the refusals that may survive, by file, function and ordinal within
// the function, with the reason. The command fails if any other one survives, or if an
// entry is no longer needed.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
)

func main() {
	with := flag.String("with", "", "further packages whose tests count, comma-separated")
	list := flag.String("survivors", "tools/mutants/survivors.txt", "list of the refusals that may survive")
	workers := flag.Int("j", runtime.NumCPU(), "number of test programs to run at once")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *list, flag.Args(), split(*with), *workers)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(char rune) bool { return char == ',' })
}

func run(ctx context.Context, list string, patterns, with []string, workers int) error {
	excused, err := readSurvivors(list)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	c, err := prepare(ctx, work, patterns, with, workers)
	if err != nil {
		return err
	}
	reportSkipped(os.Stderr, c.programs)
	if err := c.try(ctx); err != nil {
		return err
	}
	return report(os.Stdout, c.refusals, excused)
}
