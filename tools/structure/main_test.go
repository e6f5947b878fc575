package main

import (
	"strings"
	"testing"
)

// The bars that hold for every package. house is what the module's packages are called.
const (
	house = "github.com/countersign-dev/countersign"

	mostUp       = 10
	mostMethods  = 45
	mostFunction = 60
	mostFile     = 400
)

// over are the packages above a bar, with what they have now: it may only become less.
var over = map[string]Measures{
	"chains/bitcoin":               {Up: 29, Methods: 66},
	"chains/ethereum":              {Methods: 53},
	"chains/tempo":                 {Methods: 50},
	"chains/tron":                  {Up: 22, Methods: 46},
	"internal/cli/keys":            {Up: 14},
	"internal/cli/logs":            {Function: 61},
	"internal/cli/serve":           {Function: 76},
	"internal/evm":                 {Up: 35, Methods: 47},
	"internal/messages/structures": {Up: 11, Methods: 46},
	"store/bolt":                   {Up: 11},
	"store/memory":                 {Methods: 49},
	"store/postgres":               {Up: 15, Methods: 60},
	"store/storetest":              {Up: 19, Methods: 47},
}

// mostOver120 and mostOver140 are the lines of all packages that are longer than so many columns. They
// may only become fewer.
const (
	mostOver120 = 2475
	mostOver140 = 966
)

// TestStructure: what holds for one room of the house holds for each.
func TestStructure(t *testing.T) {
	all, err := Measure("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 100 {
		t.Fatalf("%d packages", len(all))
	}
	var over120, over140 int
	for _, m := range all {
		over120, over140 = over120+m.Over120, over140+m.Over140
		path := strings.TrimPrefix(strings.TrimPrefix(m.Path, house), "/")
		known := over[path]
		for _, measure := range []struct {
			of             string
			got, now, most int
		}{
			{"arrows up", m.Up, known.Up, mostUp},
			{"methods of " + m.Type, m.Methods, known.Methods, mostMethods},
			{"lines of a function", m.Function, known.Function, mostFunction},
			{"lines of a file", m.File, known.File, mostFile},
		} {
			switch {
			case measure.got > max(measure.most, measure.now):
				t.Errorf("%s: %d %s, at most %d", path, measure.got, measure.of, max(measure.most, measure.now))
			case measure.now > 0 && (measure.now <= measure.most || measure.got < measure.now):
				t.Errorf("%s: %d %s: lower what the table has, %d", path, measure.got, measure.of, measure.now)
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
