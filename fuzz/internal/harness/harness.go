// Package harness writes the targets of package fuzz as a program for libFuzzer.
//
// The go command does not link *testing.F into anything but a test. So the files
// of the targets are copied, with fuzz/internal/libfuzzer in the place of package
// testing, beside a main function and the entry point that libFuzzer calls.
package harness

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
)

// Module is the path of this module.
const Module = "github.com/countersign-dev/countersign"

// file is a test file with its functions.
type file struct {
	path             string
	fuzzes, testings []string // names of functions
}

// files reads the test files of a folder.
func files(folder string) ([]file, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var all []file
	for _, path := range paths {
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		one := file{path: path}
		for _, declaration := range parsed.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil {
				one.sort(function.Name.Name)
			}
		}
		all = append(all, one)
	}
	return all, nil
}

func (f *file) sort(function string) {
	switch {
	case strings.HasPrefix(function, "Fuzz"):
		f.fuzzes = append(f.fuzzes, function)
	case strings.HasPrefix(function, "Test"):
		f.testings = append(f.testings, function)
	}
}

// Targets returns the names of the targets of a folder, sorted.
func Targets(folder string) ([]string, error) {
	all, err := files(folder)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, one := range all {
		names = append(names, one.fuzzes...)
	}
	slices.Sort(names)
	return names, nil
}

//go:embed main.go.tmpl
var mainText string

// Write writes the program for the targets of a folder into another one, which
// has to lie in the module: the targets import internal packages. Files with
// tests are left out, and so they may hold no target.
func Write(folder, into string) error {
	all, err := files(folder)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(into, 0o755); err != nil {
		return err
	}
	var names []string
	for _, one := range all {
		switch {
		case len(one.testings) == 0:
			names = append(names, one.fuzzes...)
		case len(one.fuzzes) > 0:
			return fmt.Errorf("%s has tests and targets: put %s into a file without tests", one.path, one.fuzzes[0])
		default:
			continue
		}
		if err := rewrite(one.path, filepath.Join(into, strings.TrimSuffix(filepath.Base(one.path), "_test.go")+"_target.go")); err != nil {
			return err
		}
	}
	slices.Sort(names)
	return writeMain(names, filepath.Join(into, "main.go"))
}

// rewrite copies a file into package main, with the stand-in for package testing.
func rewrite(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	text = bytes.Replace(text, []byte("package fuzz\n"), []byte("package main\n"), 1)
	text = bytes.Replace(text, []byte("\t\"testing\"\n"), []byte("\ttesting \""+Module+"/fuzz/internal/libfuzzer\"\n"), 1)
	return os.WriteFile(to, text, 0o644)
}

func writeMain(names []string, path string) error {
	var text bytes.Buffer
	if err := template.Must(template.New("main").Parse(mainText)).Execute(&text, names); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}
