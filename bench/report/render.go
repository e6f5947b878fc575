package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// render writes the report in Markdown.
func render(w io.Writer, r *results, source string) {
	fmt.Fprintf(w, "# Performance\n\n")
	fmt.Fprintf(w, "Made by `make bench` from [`%s`](../%s); do not edit. The output there is that of `go test -bench`, for `benchstat`.\n\n", source, source)
	fmt.Fprintf(w, "Compare ratios, not nanoseconds: a ratio is the median over interleaved pairs in one process, with keys and "+
		"transactions rotating over 1,000, and holds from machine to machine.\n\n")
	renderPromises(w, r)
	renderFacts(w, r)
	claimed := map[*benchmark]bool{}
	for _, s := range sections {
		rows := slices.DeleteFunc(r.named(s.what), func(b *benchmark) bool { return claimed[b] })
		if len(rows) == 0 {
			continue
		}
		for _, b := range rows {
			claimed[b] = true
		}
		s.render(w, rows)
	}
}

func renderFacts(w io.Writer, r *results) {
	fmt.Fprintf(w, "## The machine\n\n| | |\n|---|---|\n")
	for _, key := range r.order {
		fmt.Fprintf(w, "| %s | %s |\n", key, r.facts[key])
	}
	fmt.Fprintln(w)
	if load, cores := r.number("load-at-start"), r.number("cores"); load > cores/2 {
		fmt.Fprintf(w, "**The machine was busy with other work** (a load of %.1f on %.0f cores before this began): nanoseconds are several "+
			"times what they would be, gains from a second core say little, and ratios lie higher than on a quiet machine, as the other "+
			"work takes the caches.\n\n", load, cores)
	}
}

func (s section) render(w io.Writer, rows []*benchmark) {
	fmt.Fprintf(w, "## %s\n\n%s\n\n", s.title, s.text)
	if s.plot != "" {
		fmt.Fprintf(w, "![%s](%s)\n\n", s.title, s.plot)
	}
	if s.unit != "" {
		renderPivot(w, rows, s.unit)
	} else {
		renderList(w, rows)
	}
	fmt.Fprintln(w)
}

// renderPivot has a row for each name without its last part, and a column for
// each last part.
func renderPivot(w io.Writer, rows []*benchmark, unit string) {
	var names, columns []string
	cells := map[string]map[string]*benchmark{}
	for _, b := range rows {
		name, column := b.split()
		if cells[name] == nil {
			cells[name] = map[string]*benchmark{}
			names = append(names, name)
		}
		if !slices.Contains(columns, column) {
			columns = append(columns, column)
		}
		cells[name][column] = b
	}
	header(w, unit, columns)
	for _, name := range names {
		fmt.Fprintf(w, "| %s |", name)
		for _, column := range columns {
			fmt.Fprintf(w, " %s |", cell(cells[name][column], unit))
		}
		fmt.Fprintln(w)
	}
}

// renderList has a row for each benchmark and number of cores, and a column for
// each unit.
func renderList(w io.Writer, rows []*benchmark) {
	var units []string
	cores := map[int]bool{}
	for _, b := range rows {
		cores[b.procs] = true
		for unit := range b.values {
			if !slices.Contains(units, unit) && !idle(rows, unit) {
				units = append(units, unit)
			}
		}
	}
	slices.SortFunc(units, byRank)
	header(w, "", units)
	from := sharedParts(rows)
	for _, b := range rows {
		name := strings.ReplaceAll(strings.Join(b.path[from:], " "), "_", " ")
		if len(cores) > 1 {
			name += fmt.Sprintf(", -cpu %d", b.procs)
		}
		fmt.Fprintf(w, "| %s |", name)
		for _, unit := range units {
			fmt.Fprintf(w, " %s |", cell(b, unit))
		}
		fmt.Fprintln(w)
	}
}

// sharedParts is 1 if all rows are of one benchmark, which the section's title
// names, and have parts of their own.
func sharedParts(rows []*benchmark) int {
	if slices.ContainsFunc(rows, func(b *benchmark) bool { return len(b.path) < 2 || b.what() != rows[0].what() }) {
		return 0
	}
	return 1
}

// idle tells a unit in which nothing was measured: ns/op of what reports a ratio.
func idle(rows []*benchmark, unit string) bool {
	return !slices.ContainsFunc(rows, func(b *benchmark) bool { value, _ := b.of(unit); return value != 0 })
}

// unitOrder is the order of columns; what is not in it comes last, by name.
var unitOrder = []string{
	"ratio", "gain-ratio", "gain-ours", "gain-theirs", "growth-ratio", "growth-ours", "growth-theirs", "cpu-ratio",
	"ns/ours", "ns/theirs", "ns/op", "ns/item", "ns/input", "req/s", "bare-req/s", "p50-ms", "p99-ms", "p999-ms",
}

func byRank(a, b string) int {
	rank := func(unit string) int {
		if at := slices.Index(unitOrder, unit); at >= 0 {
			return at
		}
		return len(unitOrder)
	}
	if rank(a) != rank(b) {
		return rank(a) - rank(b)
	}
	return strings.Compare(a, b)
}

func header(w io.Writer, corner string, columns []string) {
	fmt.Fprintf(w, "| %s | %s |\n|---|%s\n", corner, strings.Join(columns, " | "), strings.Repeat("---:|", len(columns)))
}

func cell(b *benchmark, unit string) string {
	value, measured := b.of(unit)
	switch {
	case !measured:
		return ""
	case strings.Contains(unit, "ratio") || strings.HasPrefix(unit, "gain") || strings.HasPrefix(unit, "growth"):
		return fmt.Sprintf("%.2f", value)
	case math.Abs(value) >= 100 || value == math.Trunc(value):
		return thousands(value)
	}
	return fmt.Sprintf("%.3g", value)
}

// thousands writes a whole number with commas.
func thousands(value float64) string {
	digits := fmt.Sprintf("%.0f", value)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
