package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The refusals of testdata/toll that its tests do not notice.
const (
	folder  = "mutants/testdata/toll/toll.go: "
	ignored = folder + "condition#2"
	missing = folder + "cases#2"
)

func TestToll(t *testing.T) {
	c, err := prepare(t.Context(), t.TempDir(), []string{"./testdata/toll"}, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	var skipped bytes.Buffer
	reportSkipped(&skipped, c.programs)
	if want := "testdata/toll: skipped once: nobody pays: refusals that only these tests notice will survive\n"; !strings.HasSuffix(skipped.String(), want) {
		t.Errorf("skipped: %q, want %q", skipped.String(), want)
	}
	if err := c.try(t.Context()); err != nil {
		t.Fatal(err)
	}
	const want = `
condition#1: n < 0
condition#2: half := n / 2; half > 10
cases#1: case n < 0
cases#2: case n == 50
unconditional#1: return errRefused
predicate#1: n < 0
gate.kept#1: n < 0
gate.kept#2: n > 0
hazards#1: n < 0
hazard#1: n < 0
literal#1: n < 0
`
	var names strings.Builder
	for _, r := range c.refusals {
		names.WriteString("\n" + strings.TrimPrefix(r.name, folder) + ": " + r.text)
		expected := caught
		switch r.name {
		case ignored:
			expected = survived
		case missing:
			expected = unmet
		}
		if r.outcome != expected {
			t.Errorf("%s: outcome %d, want %d", r.name, r.outcome, expected)
		}
	}
	if names.String()+"\n" != want {
		t.Errorf("refusals:%s\nwant:%s", names.String(), want)
	}
	reported(t, c.refusals, map[string]string{}, "condition#2: half := n / 2; half > 10: no test fails without it", "cases#2: case n == 50: no test triggers it")
	reported(t, c.refusals, map[string]string{ignored: "why", missing: "why"})
	reported(t, c.refusals, map[string]string{ignored: "why", missing: "why", folder + "predicate#1": "why"}, "caught: remove it")
	reported(t, c.refusals, map[string]string{ignored: "why", missing: "why", folder + "predicate#2": "why"}, "no such refusal")
}

// reported compares the errors of a report with the expected ones.
func reported(t *testing.T, refusals []*refusal, excused map[string]string, want ...string) {
	t.Helper()
	err := report(&bytes.Buffer{}, refusals, excused)
	var lines []string
	if err != nil {
		lines = strings.Split(err.Error(), "\n")
	}
	if len(lines) != len(want) {
		t.Fatalf("complaints %q, want %q", lines, want)
	}
	for i := range want {
		if !strings.Contains(lines[i], want[i]) {
			t.Errorf("complaint %q, want %q", lines[i], want[i])
		}
	}
}

func TestReadSurvivors(t *testing.T) {
	for text, complaint := range map[string]string{
		"# a comment\na.go: f#1\nb.go: g#1\n  because\n\nc.go: h#1\n  why\n": "",
		"a.go: f#1\n": "a.go: f#1 has no reason",
		"  because\n": "a reason without a refusal",
	} {
		name := filepath.Join(t.TempDir(), "survivors.txt")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		excused, err := readSurvivors(name)
		switch {
		case complaint == "":
			if err != nil || excused["a.go: f#1"] != "because" || excused["b.go: g#1"] != "because" || excused["c.go: h#1"] != "why" {
				t.Errorf("%q: %q, %v", text, excused, err)
			}
		case err == nil || !strings.Contains(err.Error(), complaint):
			t.Errorf("%q: error %v, want %q", text, err, complaint)
		}
	}
}

// TestSurvivorsExist checks that survivors.txt lists only refusals that exist.
func TestSurvivorsExist(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("CGO_ENABLED", "0") // files that import C cannot be type-checked by themselves
	excused, err := readSurvivors("tools/mutants/survivors.txt")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := load(t.Context(), []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		for _, r := range find(p, 1) {
			delete(excused, r.name)
		}
	}
	for name := range excused {
		t.Errorf("%s: no such refusal", name)
	}
}
