package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPage checks that the tables of the page are those of the results.
func TestPage(t *testing.T) {
	files, err := filepath.Glob("../../bench/results/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no results: ", err)
	}
	from, err := load(files)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	written, err := rewrite(page, from)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != string(page) {
		t.Error("docs/performance.md does not have the figures of bench/results: run make bench-tables")
	}
}

const recorded = `date: 2026-11-01
commit: aaaa
go: go1.26.8
cgo: 1
cores: 2
load-at-start: 0.50 1 1
cpu: Some CPU
BenchmarkA/x-2 	1	 9 ratio	 1 ns/op
BenchmarkA/x-2 	1	 8 ratio	 1 ns/op
BenchmarkB-2 	1	 5 ratio
--- BENCH: BenchmarkB-2
PASS

date: 2026-11-01
commit: bbbb
go: go1.26.8
cgo: 0
cores: 2
load-at-start: 3.25 1 1
cpu: Other CPU
BenchmarkA/x-2 	1	 3 ratio	 30 ns/op
BenchmarkA/x-2 	1	 1 ratio	 10 ns/op
BenchmarkA/x-2 	1	 2 ratio	 20 ns/op
BenchmarkP/one 	1	 1000000 ns/op
BenchmarkP/one-2 	1	 400000 ns/op
PASS

date: 2026-11-01
commit: bbbb
go: go1.26.8
cgo: 0
cores: 2
load-at-start: 1.75 1 1
cpu: Other CPU
BenchmarkP/one 	1	 2000000 ns/op
BenchmarkP/one 	1	 3000000 ns/op
PASS
`

// results reads the text of a file.
func results(t *testing.T, file, text string) *recording {
	t.Helper()
	r := newRecording()
	if err := r.read(text, file); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLaterFile checks that a later file's row takes the place of an earlier one's, and that the
// others stay.
func TestLaterFile(t *testing.T) {
	r := results(t, "2026-11-01.txt", recorded)
	if err := r.read("date: 2026-11-02\ncommit: cccc\nBenchmarkB-2 1 7 ratio\n", "2026-11-02.txt"); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"A/x": "2026-11-01.txt", "B": "2026-11-02.txt"} {
		if at, err := r.find(name); err != nil || at.sections[0].file != file {
			t.Errorf("%s: %v, %+v", name, err, at)
		}
	}
}

// TestRead checks that a row is of the last section that has it and of those of the same commit, by
// the median of all its samples and in the units of the benchmark.
func TestRead(t *testing.T) {
	from := results(t, "results.txt", recorded)
	for _, c := range []struct {
		name, unit, commit string
		want               summary
	}{
		{"A/x", "ratio", "bbbb", summary{2, 1, 3}},
		{"A/x", "ns/op", "bbbb", summary{20, 10, 30}},
		{"B", "ratio", "aaaa", summary{5, 5, 5}},
		{"P/one", "ns/op", "bbbb", summary{2e6, 1e6, 3e6}},
		{"P/one-2", "ns/op", "bbbb", summary{4e5, 4e5, 4e5}},
	} {
		at, err := from.find(c.name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := at.summary(c.name, c.unit); err != nil || got != c.want || at.sections[0].commit != c.commit {
			t.Errorf("%s %s: %+v, %v, at %s; want %+v", c.name, c.unit, got, err, at.sections, c.want)
		}
	}
	even := row{samples: map[string][]float64{"ratio": {4, 1, 2, 3}}}
	if got, err := even.summary("even", "ratio"); err != nil || got != (summary{2.5, 1, 4}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRefusals checks that what is missing or broken is an error, not an empty cell.
func TestRefusals(t *testing.T) {
	for _, text := range []string{"", "BenchmarkA 1 2 ratio\n", "date: 2026-11-01\nBenchmarkA-2 1 2 ratio 3\n", "date: 2026-11-01\nBenchmarkA-2 1 x ratio\n"} {
		if from := newRecording(); from.read(text, "results.txt") == nil {
			t.Errorf("%q: %+v", text, from)
		}
	}
	from := results(t, "results.txt", recorded)
	if at, err := from.find("A"); err == nil {
		t.Errorf("%+v", at)
	}
	if at, err := from.rows["B-2"].summary("B", "ns/op"); err == nil {
		t.Errorf("%+v", at)
	}
	for page, want := range map[string]string{
		"<!-- figures Other -->\n<!-- end -->\n": "no table Other",
		"<!-- figures HTTP -->\n<!-- end -->\n":  "the results have no BenchmarkHTTP/memory",
		"no table":                               "the page has no <!-- figures Short -->",
	} {
		if _, err := rewrite([]byte(page), from); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %s", page, err, want)
		}
	}
}

// TestTable checks a table's text.
func TestTable(t *testing.T) {
	from := results(t, "2026-11-01.txt", recorded)
	got, err := from.table(&table{"T", "`BenchmarkT`", []column{{"ratio", "", "ratio", ratio}, {"plain", "", "ratio", number(1)}}, []line{{"an x", "A/x"}, {"a b", "B"}}})
	const want = `Medians of 1 to 3: [2026-11-01](../bench/results/2026-11-01.txt), Other CPU, without cgo, load
3.25; [2026-11-01](../bench/results/2026-11-01.txt), Some CPU, load 0.50.

| ` + "`BenchmarkT`" + ` | ratio | plain |
|---|---:|---:|
| an x | 2.00 (1.00–3.00) | 2.0 |
| a b | 5.00 (5.00–5.00) | 5.0 |
`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if got := ratio(summary{.0366, .0361, .0401}); got != "0.037 (0.036–0.040)" {
		t.Error(got)
	}
	if got := hundreds(summary{median: 1234567}); got != "1,234,600" {
		t.Error(got)
	}
}
