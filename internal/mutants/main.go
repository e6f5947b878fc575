// Command mutants tests the tests: it switches off one refusal of a package
// after the other, and reports those that no test misses.
//
//	mutants ./chains/tron ./stamp             hold them against their own tests
//	mutants -with .,./httpapi ./stamp         and against those of other packages
//
// A refusal is a condition that makes a function return an error or false, note
// a failure, or report a hazard. All of them get a switch in a copy of the
// source that the compiler is shown in its place (go build -overlay): the tree
// is never changed, and each test program is built once. Every test is run
// alone first to see which refusals it meets; then each refusal is off while
// the tests that meet it run, those of its own package before the others. One
// is caught when a test fails, or loops until its time is over.
//
// What survives and may is listed in survivors.txt, each with the reason. The
// command fails if anything else survives, and if an entry has become needless.
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
	with := flag.String("with", "", "packages whose tests count too, separated by commas")
	list := flag.String("survivors", "internal/mutants/survivors.txt", "file of what may survive")
	workers := flag.Int("j", runtime.NumCPU(), "how many test programs run at a time")
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
	reportLeftOut(os.Stderr, c.programs)
	if err := c.try(ctx); err != nil {
		return err
	}
	return report(os.Stdout, c.refusals, excused)
}
