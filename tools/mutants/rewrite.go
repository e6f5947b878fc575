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

// switches is the file that each package gets beside its own: it reads from the
// environment which refusal is off, and writes down which are met.
//
//go:embed switches.go.txt
var switches string

// Environment of a test program.
const (
	envOff = "MUTANT_OFF" // id of the refusal that is off
	envMet = "MUTANT_MET" // file that the ids of refusals are added to when they refuse for the first time
)

// overlay writes the packages with their switches to a folder, and the file
// that the go command is given with -overlay. It returns the name of that.
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

// apply puts the texts in. Of two at one offset, what was found first stands in
// front: calls are found from the outside in, and no two of them end together.
func apply(source []byte, edits []edit) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.offset - b.offset })
	var out strings.Builder
	at := 0
	for _, e := range edits {
		out.Write(source[at:e.offset])
		out.WriteString(e.text)
		at = e.offset
	}
	out.Write(source[at:])
	return out.String()
}
