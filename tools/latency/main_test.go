package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

const recorded = `goos: linux
BenchmarkHTTPOpen/memory/load=50-2 	1	 4000 capacity-req/s	 90.5 cpu-us/req	 0.4 p50-ms	 1.5 p99-ms	 3.25 p999-ms	 2000 req/s
BenchmarkHTTPOpen/bolt/load=80-2 	1	 2000 capacity-req/s	 120 cpu-us/req	 4 p50-ms	 15 p99-ms	 32 p999-ms	 1600 req/s
BenchmarkOther-2 	1	 1 ns/op
`

// TestRead checks what is read of results, and that results without the benchmark are an error.
func TestRead(t *testing.T) {
	runs, err := read(strings.NewReader(recorded), "results")
	want := []run{{"memory", 50, 2000, [3]float64{.4, 1.5, 3.25}}, {"bolt", 80, 1600, [3]float64{4, 15, 32}}}
	if err != nil || len(runs) != 2 || runs[0] != want[0] || runs[1] != want[1] {
		t.Errorf("%+v, %v", runs, err)
	}
	for _, text := range []string{"", "BenchmarkHTTPOpen/memory-2 1 3 ns/op\n", "BenchmarkHTTPOpen/memory/load=50-2 1 3 p50-ms\n"} {
		if runs, err := read(strings.NewReader(text), "results"); err == nil {
			t.Errorf("%q: %+v", text, runs)
		}
	}
}

// TestPicture checks that the drawing is XML with all of the runs.
func TestPicture(t *testing.T) {
	runs, err := read(strings.NewReader(recorded), "results")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := picture(&out, runs); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"memory", "at 50 %", "2000/s", "bolt", "at 80 %", "99.9 %", "milliseconds"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the picture lacks %q", text)
		}
	}
	for decoder := xml.NewDecoder(&out); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPictureOfTheDocs checks that the picture in docs/performance.md is of the results that the
// page names.
func TestPictureOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?s)\(images/latency\.svg\).*?\]\(\.\./(bench/results/[^)]+)\)`).FindSubmatch(page)
	if named == nil {
		t.Fatal("docs/performance.md does not name the results of its picture behind it")
	}
	file, err := os.Open("../../" + string(named[1]))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	runs, err := read(file, string(named[1]))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := picture(&out, runs); err != nil {
		t.Fatal(err)
	}
	if drawn, err := os.ReadFile("../../docs/images/latency.svg"); err != nil || !bytes.Equal(drawn, out.Bytes()) {
		t.Errorf("docs/images/latency.svg is not drawn from %s: run go run ./latency ../%[1]s > ../docs/images/latency.svg (%v)", named[1], err)
	}
}
