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
cores: 2
load-at-start: 3.50 1.00 1.00
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
BenchmarkUnheardOfEither-2               	  100	   8 ns/op
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
	if len(r.benchmarks) != 8 {
		t.Errorf("%d benchmarks, want 8: repeats are one, cores are apart", len(r.benchmarks))
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
		"| ethereum eip1559 verified, -cpu 1 | 1,234,567 | 1,024 | 9 |",
		"| ethereum eip1559 verified, -cpu 2 | 734,567 | 1,024 | 9 |",
		"## Stores and one-time passwords, absolute",
		"| StoreBolt | 55.2 |",
		"## Others",
		"| UnheardOf some thing | 7 |",
		"**The machine was busy with other work** (a load of 3.5 on 2 cores",
	} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%d times in the report: %s", strings.Count(text, want), want)
		}
	}
	if strings.Contains(text, "Beside other libraries") {
		t.Error("a section without benchmarks is not left out")
	}
}

// TestPlot: the plot is well-formed and has a number for each ratio.
func TestPlot(t *testing.T) {
	var out bytes.Buffer
	plot(&out, parsed(t))
	if got := strings.Count(out.String(), `class="ratio"`); got != 3 {
		t.Errorf("%d numbers, want 3", got)
	}
	wellFormed(t, &out)
}

// TestScalePlot: a point for each size and series, and nothing where nothing was
// measured.
func TestScalePlot(t *testing.T) {
	r, err := parse(strings.NewReader(`BenchmarkKeystoreMemoryFind/by=id/keys=10-2 1 90 ns/op
BenchmarkKeystoreMemoryFind/by=id/keys=1000000-2 1 400 ns/op
BenchmarkKeystoreMemoryFind/by=keccak/keys=10-2 1 95 ns/op
BenchmarkInputs/bitcoin/P2TR/inputs=1000-2 1 9e7 ns/op 90000 ns/input
`))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	drawScale(&out, r)
	if got := strings.Count(out.String(), "<circle"); got != 4 {
		t.Errorf("%d points, want 4", got)
	}
	for _, want := range []string{">1M<", ">100<", ">400<"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s on the axes", want)
		}
	}
	wellFormed(t, &out)
}

func wellFormed(t *testing.T, drawing io.Reader) {
	t.Helper()
	for decoder := xml.NewDecoder(drawing); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPromises: the worst counts, and what was not measured is not kept.
func TestPromises(t *testing.T) {
	var out bytes.Buffer
	r, err := parse(strings.NewReader(`BenchmarkRatio/ethereum/eip1559/sign-2 1 1.05 ratio
BenchmarkRatio/tron/transfer/sign-2 1 1.104 ratio
BenchmarkRatio/tron/transfer/handle-2 1 1.3 ratio
BenchmarkGain/ethereum/eip1559-2 1 0.95 gain-ratio
BenchmarkGain/solana/215-2 1 0.93 gain-ratio
BenchmarkHTTP/memory-2 1 0.6999 ratio
BenchmarkKeystoreMemoryFind/by=id/keys=1000000-2 1 435 B/key
`))
	if err != nil {
		t.Fatal(err)
	}
	renderPromises(&out, r)
	for _, want := range []string{
		"signature | ≤ 1.1 | 1.104 | **missed** | tron transfer sign, of 2 |",
		"bare operation | ≥ 0.93 | 0.930 | kept | solana 215, of 2 |",
		"a bare handler | ≥ 0.7 | 0.700 | **missed** |  |",
		"in bytes | ≤ 500 | 435 | kept |  |",
		"Beside solana-go | ≤ 1 | not measured | | |",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("not in the table: %s\n%s", want, out.String())
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
