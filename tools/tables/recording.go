package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// recording is the results of files.
type recording struct {
	rows map[string]row // by the benchmark's name, with -N for the processors that it had
}

func newRecording() *recording { return &recording{map[string]row{}} }

// row is the samples of a benchmark by unit, and the sections that they are from.
type row struct {
	sections []facts
	samples  map[string][]float64
}

// facts are where and when a section was recorded.
type facts struct{ file, commit, load, cpu, cores, system, goVersion, cgo string }

// sectionStart is a section's first line.
var sectionStart = regexp.MustCompile(`(?m)^date: `)

// read adds the results in a file's text.
func (r *recording) read(text, file string) error {
	starts := sectionStart.FindAllStringIndex(text, -1)
	if len(starts) == 0 {
		return fmt.Errorf("%s: no section: a line with the date begins one", file)
	}
	for i, start := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		if err := r.section(text[start[0]:end], file); err != nil {
			return err
		}
	}
	return nil
}

// section adds a section. Its rows replace those of earlier ones, but for those of the same commit
// on the same machine, which they are added to.
func (r *recording) section(text, file string) error {
	reader := benchfmt.NewReader(strings.NewReader(text), file)
	for reader.Scan() {
		if broken, ok := reader.Result().(*benchfmt.SyntaxError); ok {
			return broken
		}
		result, ok := reader.Result().(*benchfmt.Result)
		if !ok {
			continue
		}
		name := string(result.Name.Full())
		here := factsOf(result, file)
		at, ok := r.rows[name]
		if !ok || at.sections[0].without() != here.without() {
			at = row{samples: map[string][]float64{}}
		}
		if !slices.Contains(at.sections, here) {
			at.sections = append(at.sections, here)
		}
		r.rows[name] = at
		for _, value := range result.Values {
			if value.OrigUnit != "" {
				value.Value, value.Unit = value.OrigValue, value.OrigUnit
			}
			at.samples[value.Unit] = append(at.samples[value.Unit], value.Value)
		}
	}
	return reader.Err()
}

func factsOf(result *benchfmt.Result, file string) facts {
	return facts{
		file:   file,
		commit: result.GetConfig("commit"), load: result.GetConfig("load-at-start"), cpu: result.GetConfig("cpu"),
		cores: result.GetConfig("cores"), system: result.GetConfig("kernel"), goVersion: result.GetConfig("go"),
		cgo: result.GetConfig("cgo"),
	}
}

// without returns the facts that sections have in common of which the samples count together.
func (f facts) without() facts {
	f.load = ""
	return f
}

// shortened leaves out what the names of processors have for lawyers.
var shortened = strings.NewReplacer("(R)", "", " Processor", "")

// machine returns the file that a section is in, and what it was recorded on.
func (f facts) machine() string {
	cgo := ""
	if f.cgo == "0" {
		cgo = ", without cgo"
	}
	date := strings.TrimSuffix(f.file, ".txt")
	return fmt.Sprintf("[%s](../bench/results/%s), %s%s", date, f.file, shortened.Replace(f.cpu), cgo)
}

// processors is what a benchmark's name ends with if it had more than one.
var processors = regexp.MustCompile(`-\d+$`)

// find returns a benchmark's row; with the processors at its end, if it has any number of them.
func (r *recording) find(name string) (row, error) {
	if at, ok := r.rows[name]; ok {
		return at, nil
	}
	for _, full := range slices.Sorted(maps.Keys(r.rows)) {
		if processors.ReplaceAllString(full, "") == name {
			return r.rows[full], nil
		}
	}
	return row{}, fmt.Errorf("the results have no Benchmark%s: record it", name)
}

// summary is the median of samples with the least and the most.
type summary struct{ median, low, high float64 }

func (s row) summary(name, unit string) (summary, error) {
	samples := slices.Sorted(slices.Values(s.samples[unit]))
	if len(samples) == 0 {
		return summary{}, fmt.Errorf("no %s in Benchmark%s", unit, name)
	}
	middle := len(samples) / 2
	median := samples[middle]
	if len(samples)%2 == 0 {
		median = (samples[middle-1] + median) / 2
	}
	return summary{median, samples[0], samples[len(samples)-1]}, nil
}
