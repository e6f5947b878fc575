package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// switches is the file that is added to each package. It reads from the environment which
// refusal is disabled, and records which are triggered.
//
//go:embed switches.go.txt
var switches string

// Environment variables of a test program.
const (
	envOff = "MUTANT_OFF" // id of the disabled refusal
	envMet = "MUTANT_MET" // file to which the id of each refusal is appended when it first triggers
)

// overlay writes the packages with their switches to a folder, and returns the name of
// the file to pass to the go command with -overlay.
func overlay(folder string, packages []*loaded, refusals []*refusal) (string, error) {
	replace := map[string]string{}
	put := func(path, content string) error {
		copied := filepath.Join(folder, strconv.Itoa(len(replace))+".go")
		replace[path] = copied
		return os.WriteFile(copied, []byte(content), 0o600)
	}
	edits := map[*ast.File][]edit{}
	for _, r := range refusals {
		for _, e := range r.edits {
			edits[e.file] = append(edits[e.file], e)
		}
	}
	for _, l := range packages {
		header := strings.NewReplacer("PACKAGE", l.Name, "COUNT", strconv.Itoa(len(refusals))).Replace(switches)
		if err := put(filepath.Join(l.Dir, "mutant_switches.go"), header); err != nil {
			return "", err
		}
		for _, file := range l.files {
			if err := put(l.fset.Position(file.Package).Filename, apply(l.source[file], edits[file])); err != nil {
				return "", err
			}
		}
	}
	description, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(name, description, 0o600); err != nil {
		return "", fmt.Errorf("overlay: %w", err)
	}
	return name, nil
}

// apply applies the edits. Of two at the same offset, the one found first comes first:
// calls are found from the outside in, and no two end at the same offset.
func apply(source []byte, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.offset - b.offset })
	var out strings.Builder
	done := 0
	for _, e := range edits {
		out.Write(source[done:e.offset])
		out.WriteString(e.text)
		done = e.offset
	}
	out.Write(source[done:])
	return out.String()
}
