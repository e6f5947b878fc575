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

// readSurvivors reads which refusals may survive: their names and, indented
// below, the reason they share. Blank lines and lines starting with # are
// ignored.
func readSurvivors(name string) (map[string]string, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	excused := map[string]string{}
	var names []string // that wait for their reason, or have got it
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
			return nil, fmt.Errorf("%s: a reason stands under no refusal: %s", name, text)
		default:
			reasoned = true
			for _, survivor := range names {
				excused[survivor] = strings.TrimSpace(excused[survivor] + " " + text)
			}
		}
	}
	if !reasoned && names != nil {
		return nil, fmt.Errorf("%s: %s has no reason: write it on the next line, indented", name, names[0])
	}
	return excused, nil
}

// tally counts the refusals of a package.
type tally struct {
	all, caught, outOfTime, excused, survived int
}

// report writes a line for each package and for each survivor. Its error says
// that something survived, or was excused for nothing.
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
			failures = append(failures, fmt.Errorf("%s: is no refusal any more, take it off the list", name))
		}
	}
	fmt.Fprintf(w, "%-28s %8s %8s %8s %8s %8s\n", "package", "refusals", "caught", "by time", "excused", "survived")
	for _, folder := range order {
		t := counts[folder]
		fmt.Fprintf(w, "%-28s %8d %8d %8d %8d %8d\n", folder, t.all, t.caught, t.outOfTime, t.excused, t.survived)
	}
	return errors.Join(failures...)
}

// reportLeftOut says which tests do not count, since something that they need is
// not there: without them, more survives.
func reportLeftOut(w io.Writer, programs []*program) {
	for _, p := range programs {
		for why, count := range p.leftOut {
			times := "once"
			if count > 1 {
				times = fmt.Sprintf("%d times", count)
			}
			fmt.Fprintf(w, "mutants: %s: left out, %s: %s: what only that notices will be said to survive\n", p.importPath, times, why)
		}
	}
}

// folderOf returns the folder that a refusal's name begins with.
func folderOf(name string) string {
	file, _, _ := strings.Cut(name, ":")
	return path.Dir(file)
}

// count adds a refusal, and says whether it should have fared otherwise.
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
		return fmt.Errorf("line %d: %s: %s: %s", r.line, r.name, r.text, [...]string{unmet: "refuses in no test", survived: "no test fails without it"}[r.outcome])
	case r.outcome == outOfTime:
		t.outOfTime++
	default:
		t.caught++
	}
	if listed {
		return fmt.Errorf("line %d: %s: %s: is caught, take it off the list", r.line, r.name, r.text)
	}
	return nil
}
