// Command report makes docs/performance.md and its plots from the output of the
// benchmarks.
//
//	report -machine                     write the facts of this machine, which stand in front of the output
//	report bench/results/<date>.txt     read that file
//	report                              read the newest of bench/results
//
// It runs in the root of the project. It knows benchmarks by their names: what
// no section claims is put at the end.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	machine := flag.Bool("machine", false, "write the facts of this machine and do nothing else")
	docs := flag.String("docs", "docs", "folder to write performance.md and its plots to")
	flag.Parse()
	if *machine {
		writeMachine(os.Stdout)
		return
	}
	if err := run(flag.Arg(0), *docs); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func run(source, docs string) error {
	if source == "" {
		newest, err := newestResults()
		if err != nil {
			return err
		}
		source = newest
	}
	file, err := os.Open(source)
	if err != nil {
		return err
	}
	defer file.Close()
	r, err := parse(file)
	if err != nil {
		return err
	}
	if len(r.benchmarks) == 0 {
		return fmt.Errorf("%s has no benchmarks", source)
	}
	var text, ratios, scale bytes.Buffer
	render(&text, r, filepath.ToSlash(source))
	plot(&ratios, r)
	drawScale(&scale, r)
	if err := os.MkdirAll(docs, 0o755); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(docs, "performance.md"), text.Bytes(), 0o644),
		os.WriteFile(filepath.Join(docs, ratioPlot), ratios.Bytes(), 0o644),
		os.WriteFile(filepath.Join(docs, scalePlot), scale.Bytes(), 0o644))
}

// newestResults is the last by name: names are dates.
func newestResults() (string, error) {
	files, err := filepath.Glob(filepath.Join("bench", "results", "*.txt"))
	if err != nil || len(files) == 0 {
		return "", errors.New("bench/results has no results: run make bench in the root of the project")
	}
	return slices.Max(files), nil
}
