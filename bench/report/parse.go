package main

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/bench/internal/measure"
)

// results is a file of the format of go test -bench:
//
//	key: value
//	BenchmarkName/a/b-2    1000    123 ns/op    45 B/op
//
// Keys and values are of the machine, the package, the toolchain.
type results struct {
	facts      map[string]string
	order      []string // of the keys, as they came
	benchmarks []*benchmark
}

// benchmark is one name, and what every run of it measured.
type benchmark struct {
	path   []string // of the name without "Benchmark": what, chain, type, how
	procs  int
	values map[string][]float64 // by unit
}

func (b *benchmark) what() string { return b.path[0] }

// of returns the median of what was measured in a unit.
func (b *benchmark) of(unit string) (value float64, measured bool) {
	if b == nil || len(b.values[unit]) == 0 {
		return 0, false
	}
	return measure.Median(b.values[unit]), true
}

var (
	factLine      = regexp.MustCompile(`^([a-z][a-z0-9-]*): (.+)$`)
	benchmarkLine = regexp.MustCompile(`^Benchmark(\S+?)(?:-(\d+))?\s+\d+\s+(.+)$`)
)

func parse(r io.Reader) (*results, error) {
	out := &results{facts: map[string]string{}}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if fact := factLine.FindStringSubmatch(lines.Text()); fact != nil {
			out.fact(fact[1], fact[2])
		} else if line := benchmarkLine.FindStringSubmatch(lines.Text()); line != nil {
			out.benchmark(line[1], line[2], strings.Fields(line[3]))
		}
	}
	return out, lines.Err()
}

// fact keeps the first value of a key: what every package repeats is the same,
// but for its own name.
func (r *results) fact(key, value string) {
	if _, known := r.facts[key]; known || key == "pkg" {
		return
	}
	r.facts[key] = value
	r.order = append(r.order, key)
}

func (r *results) benchmark(name, procs string, fields []string) {
	b := &benchmark{path: strings.Split(name, "/"), procs: 1, values: map[string][]float64{}}
	if n, err := strconv.Atoi(procs); err == nil {
		b.procs = n
	}
	for _, known := range r.benchmarks {
		if known.procs == b.procs && slices.Equal(known.path, b.path) {
			b = known
		}
	}
	if len(b.values) == 0 {
		r.benchmarks = append(r.benchmarks, b)
	}
	for ; len(fields) >= 2; fields = fields[2:] {
		if value, err := strconv.ParseFloat(fields[0], 64); err == nil {
			b.values[fields[1]] = append(b.values[fields[1]], value)
		}
	}
}

// named returns the benchmarks of which the first part of the name matches, in
// the order in which they ran.
func (r *results) named(pattern *regexp.Regexp) []*benchmark {
	var found []*benchmark
	for _, b := range r.benchmarks {
		if pattern.MatchString(b.what()) {
			found = append(found, b)
		}
	}
	return found
}
