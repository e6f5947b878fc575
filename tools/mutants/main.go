// Command mutants tests the tests: it switches off one refusal of a package at
// a time and reports those that no test misses. It runs in the root of the
// module under test:
//
//	go build -C tools -o ../dist/mutants ./mutants
//	dist/mutants ./chains/tron ./stamp             with their own tests
//	dist/mutants -with .,./httpapi ./stamp         and those of other packages
//
// A refusal is a condition that makes a function return an error or false,
// record a failure, or report a hazard. Each gets a switch in a copy of the
// source that replaces the original for the compiler (go build -overlay): the
// tree is never changed, and each test program is built once. Every test first
// runs alone, to record which refusals it meets; then each refusal is switched
// off while the tests that meet it run, those of its own package first. It is
// caught if a test fails or runs into its time limit.
//
// Refusals that may survive are listed in survivors.txt, each with the reason,
// by file, function and ordinal within the function. The command fails if any
// other survives, and if an entry is no longer needed.
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
	with := flag.String("with", "", "further packages whose tests count, separated by commas")
	list := flag.String("survivors", "tools/mutants/survivors.txt", "list of the refusals that may survive")
	workers := flag.Int("j", runtime.NumCPU(), "test programs to run at a time")
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
