package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// listed is what go list prints for a package.
type listed struct {
	ImportPath string
	Dir        string
	Name       string
	Export     string // file of its export data
	GoFiles    []string
	DepOnly    bool // listed only as a dependency
	Module     *struct{ Dir string }
}

// loaded is a parsed and type-checked package.
type loaded struct {
	listed
	fset   *token.FileSet
	files  []*ast.File
	source map[*ast.File][]byte
	info   *types.Info
}

// load parses the packages that match the patterns.
func load(ctx context.Context, patterns []string) ([]*loaded, error) {
	all, err := goList(ctx, append([]string{"-deps", "-export"}, patterns...))
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	var packages []*loaded
	for _, p := range all {
		if p.DepOnly || len(p.GoFiles) == 0 {
			continue
		}
		l := &loaded{listed: p, fset: token.NewFileSet(), source: map[*ast.File][]byte{}}
		if err := l.check(exports); err != nil {
			return nil, err
		}
		packages = append(packages, l)
	}
	return packages, nil
}

func goList(ctx context.Context, arguments []string) ([]listed, error) {
	arguments = append([]string{"list", "-json=ImportPath,Dir,Name,Export,GoFiles,DepOnly,Module"}, arguments...)
	list := exec.CommandContext(ctx, "go", arguments...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// check parses and type-checks the package.
func (l *loaded) check(exports map[string]string) error {
	for _, name := range l.GoFiles {
		path := filepath.Join(l.Dir, name)
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(l.fset, path, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		l.files = append(l.files, file)
		l.source[file] = source
	}
	l.info = &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(l.fset, "gc", open)}
	_, err := config.Check(l.ImportPath, l.fset, l.files, l.info)
	return err
}

// path returns the path of a file within the module.
func (l *loaded) path(file *ast.File) string {
	absolute := l.fset.Position(file.Package).Filename
	relative, err := filepath.Rel(l.Module.Dir, absolute)
	if err != nil {
		return absolute
	}
	return filepath.ToSlash(relative)
}
