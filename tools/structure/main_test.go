package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// The bars that hold for every package.
const (
	mostUp       = 10
	mostMethods  = 45
	mostFunction = 60
	mostFile     = 400
)

// mostOver120 and mostOver140 are the lines of all packages that are longer than so many columns. They
// may only become fewer.
const (
	mostOver120 = 569
	mostOver140 = 0
)

// product is loaded once: that takes seconds.
var product = sync.OnceValues(func() ([]*packages.Package, error) { return Load("../..") })

// TestStructure: what holds for one room of the house holds for each.
func TestStructure(t *testing.T) {
	found, err := product()
	if err != nil {
		t.Fatal(err)
	}
	all, err := Measure(found)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("%d packages", len(all))
	}
	var over120, over140 int
	for _, m := range all {
		over120, over140 = over120+m.Over120, over140+m.Over140
		for _, measure := range []struct {
			of        string
			got, most int
		}{
			{"arrows up", m.Up, mostUp},
			{"methods of " + m.Type, m.Methods, mostMethods},
			{"lines of a function", m.Function, mostFunction},
			{"lines of a file", m.File, mostFile},
		} {
			if measure.got > measure.most {
				t.Errorf("%s: %d %s, at most %d", m.Path, measure.got, measure.of, measure.most)
			}
		}
	}
	if over120 != mostOver120 || over140 != mostOver140 {
		t.Errorf("%d lines over 120 columns, %d over 140; want %d and %d, which may only become fewer", over120, over140, mostOver120, mostOver140)
	}
}

// TestFewestUp measures orders of which the answer is known.
func TestFewestUp(t *testing.T) {
	for name, test := range map[string]struct {
		edges string
		want  int
	}{
		"a chain":          {"ab bc cd", 0},
		"a circle":         {"ab bc ca", 1},
		"two circles":      {"ab ba cd dc", 2},
		"all to all":       {"ab ba ac ca bc cb", 3},
		"nothing":          {"", 0},
		"against the file": {"ba cb dc", 0},
	} {
		edges := map[[2]string]bool{}
		for edge := range strings.FieldsSeq(test.edges) {
			edges[[2]string{edge[:1], edge[1:]}] = true
		}
		if got := fewestUp([]string{"a", "b", "c", "d"}, edges); got != test.want {
			t.Errorf("%s: %d arrows up, want %d", name, got, test.want)
		}
	}
}

// TestUnused: an exported name that no other package uses is a promise without a reader.
func TestUnused(t *testing.T) {
	found, err := product()
	if err != nil {
		t.Fatal(err)
	}
	all := slices.Clone(found)
	for _, dir := range []string{"../../keystore/kms", "../../interop/evm", "../countersign-policy-import", ".."} {
		found, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	names := Unused(all)
	// Values and hazards that documentation names, and what the modules of bench share.
	documented := regexp.MustCompile(`\.(Default|Max|Min|Hazard)[A-Z][^.]*$|/bench/`)
	names = slices.DeleteFunc(names, documented.MatchString)
	list, err := os.ReadFile("testdata/unused.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.Lines(string(list)) {
		if !slices.Contains(names, strings.TrimSpace(name)) {
			t.Errorf("%s is used, or gone: remove it from testdata/unused.txt", strings.TrimSpace(name))
		}
	}
	for _, name := range names {
		if !strings.Contains(string(list), name+"\n") {
			t.Errorf("no other package uses %s: do not export it", name)
		}
	}
}
