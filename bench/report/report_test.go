package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `date: 2026-01-02
pkg: example.com/one
BenchmarkRatio/ethereum/eip1559/sign-2   	1	 25000 ns/ours	 20000 ns/theirs	 1.25 ratio
BenchmarkRatio/ethereum/eip1559/sign-2   	1	 25000 ns/ours	 20000 ns/theirs	 1.21 ratio
BenchmarkRatio/ethereum/eip1559/sign-2   	1	 25000 ns/ours	 20000 ns/theirs	 9.99 ratio
BenchmarkRatio/ethereum/eip1559/handle-2 	1	 25000 ns/ours	 22000 ns/theirs	 1.10 ratio
BenchmarkRatio/solana/215/sign-2         	1	 15000 ns/ours	 30000 ns/theirs	 0.5 ratio
PASS
ok  	example.com/one	1.2s
date: 2026-01-03
BenchmarkSign/ethereum/eip1559/verified  	  100	  1234567 ns/op	  1024 B/op	  9 allocs/op
BenchmarkSign/ethereum/eip1559/verified-2	  100	   734567 ns/op	  1024 B/op	  9 allocs/op
BenchmarkStoreBolt-2                     	  100	   55.25 ns/op
BenchmarkUnheardOf/some_thing-2          	  100	   7 ns/op
`

func parsed(t *testing.T) *results {
	t.Helper()
	r, err := parse(strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParse(t *testing.T) {
	r := parsed(t)
	if len(r.benchmarks) != 7 {
		t.Errorf("%d benchmarks, want 7: repeats are one, cores are apart", len(r.benchmarks))
	}
	if value, ok := r.benchmarks[0].of("ratio"); !ok || value != 1.25 {
		t.Errorf("ratio %v, %v, want the median 1.25", value, ok)
	}
	if r.facts["date"] != "2026-01-02" || r.facts["pkg"] != "" {
		t.Errorf("facts %v", r.facts)
	}
}

// TestRender: every benchmark stands in the report, once, where it belongs.
func TestRender(t *testing.T) {
	var out bytes.Buffer
	render(&out, parsed(t), "bench/results/x.txt")
	text := out.String()
	for _, want := range []string{
		"| date | 2026-01-02 |",
		"| ratio | sign | handle |\n|---|---:|---:|\n| ethereum eip1559 | 1.25 | 1.10 |\n| solana 215 | 0.50 |  |",
		"| Sign ethereum eip1559 verified, -cpu 1 | 1,234,567 | 1,024 | 9 |",
		"| Sign ethereum eip1559 verified, -cpu 2 | 734,567 | 1,024 | 9 |",
		"## The submitted path",
		"| StoreBolt | 55.2 |",
		"## Others",
		"| UnheardOf some thing | 7 |",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times in the report: %s", strings.Count(text, want), want)
		}
	}
	if strings.Contains(text, "Beside other libraries") {
		t.Error("a section without benchmarks is not left out")
	}
}

// TestPlot: the plot is well-formed and has a bar for each ratio.
func TestPlot(t *testing.T) {
	var out bytes.Buffer
	plot(&out, parsed(t))
	if got := strings.Count(out.String(), `font-size="8"`); got != 3 {
		t.Errorf("%d bars, want 3", got)
	}
	for decoder := xml.NewDecoder(&out); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestRunNeedsBenchmarks(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.txt")
	if err := os.WriteFile(empty, []byte("PASS\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(empty, t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no benchmarks") {
		t.Errorf("%v", err)
	}
}

func TestMachine(t *testing.T) {
	var out bytes.Buffer
	writeMachine(&out)
	r, err := parse(&out)
	if err != nil || r.facts["go"] == "" || r.facts["cores"] == "" {
		t.Errorf("%v, %v", r.facts, err)
	}
}

func TestThousands(t *testing.T) {
	for value, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := thousands(value); got != want {
			t.Errorf("%v: %s, want %s", value, got, want)
		}
	}
}
