package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"strings"
)

// readSurvivors reads the refusals that may survive: names and, indented below, the
// reason that they share. Blank lines and lines starting with # are ignored.
func readSurvivors(name string) (map[string]string, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	excused := map[string]string{}
	var names []string // the current group
	reasoned := false
	for line := range strings.Lines(string(content)) {
		text := strings.TrimSpace(line)
		indented := strings.TrimRight(line, "\n") != text
		switch {
		case text == "" || text[0] == '#':
		case !indented && reasoned:
			names, reasoned = []string{text}, false
		case !indented:
			names = append(names, text)
		case names == nil:
			return nil, fmt.Errorf("%s: a reason without a refusal above it: %s", name, text)
		default:
			reasoned = true
			for _, survivor := range names {
				excused[survivor] = strings.TrimSpace(excused[survivor] + " " + text)
			}
		}
	}
	if !reasoned && names != nil {
		return nil, fmt.Errorf("%s: %s has no reason: add one on the next line, indented", name, names[0])
	}
	return excused, nil
}

// tally counts the refusals of a package.
type tally struct {
	all, caught, outOfTime, excused, survived int
}

// report writes a line for each package. Its error lists the survivors, and the excuses
// that are not needed.
func report(w io.Writer, refusals []*refusal, excused map[string]string) error {
	var order []string
	counts := map[string]*tally{}
	left := maps.Clone(excused)
	var failures []error
	for _, r := range refusals {
		folder := folderOf(r.name)
		if counts[folder] == nil {
			counts[folder] = &tally{}
			order = append(order, folder)
		}
		failures = append(failures, counts[folder].count(r, excused))
		delete(left, r.name)
	}
	for name := range left {
		if counts[folderOf(name)] != nil {
			failures = append(failures, fmt.Errorf("%s: no such refusal: remove it from the list", name))
		}
	}
	fmt.Fprintf(w, "%-28s %8s %8s %8s %8s %8s\n", "package", "refusals", "caught", "timed out", "excused", "survived")
	for _, folder := range order {
		t := counts[folder]
		fmt.Fprintf(w, "%-28s %8d %8d %8d %8d %8d\n", folder, t.all, t.caught, t.outOfTime, t.excused, t.survived)
	}
	return errors.Join(failures...)
}

// reportSkipped says which tests were skipped for lack of something: without them, more
// survives.
func reportSkipped(w io.Writer, programs []*program) {
	for _, p := range programs {
		for why, count := range p.skipped {
			times := "once"
			if count > 1 {
				times = fmt.Sprintf("%d times", count)
			}
			fmt.Fprintf(w, "mutants: %s: skipped %s: %s: refusals that only these tests notice will survive\n", p.importPath, times, why)
		}
	}
}

// folderOf returns the folder of a refusal.
func folderOf(name string) string {
	file, _, _ := strings.Cut(name, ":")
	return path.Dir(file)
}

// count counts a refusal. It returns an error if the outcome is not the one listed.
func (t *tally) count(r *refusal, excused map[string]string) error {
	t.all++
	_, listed := excused[r.name]
	missed := r.outcome == unmet || r.outcome == survived
	switch {
	case missed && listed:
		t.excused++
		return nil
	case missed:
		t.survived++
		return fmt.Errorf("line %d: %s: %s: %s", r.line, r.name, r.text, [...]string{unmet: "no test triggers it", survived: "no test fails without it"}[r.outcome])
	case r.outcome == outOfTime:
		t.outOfTime++
	default:
		t.caught++
	}
	if listed {
		return fmt.Errorf("line %d: %s: %s: caught: remove it from the list", r.line, r.name, r.text)
	}
	return nil
}
