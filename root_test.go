package countersign_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestRoot: the root is a door and not a corridor. What a step of a request does is in the
// packages below, and names for specialists are in the packages of their users.
func TestRoot(t *testing.T) {
	var files, lines, methods, exported, names int
	for _, file := range parsedRoot(t) {
		files++
		lines += file.lines
		for _, decl := range file.tree.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				switch {
				case decl.Recv == nil && decl.Name.IsExported():
					names++
				case receiver(decl) == "Engine":
					methods++
					if decl.Name.IsExported() {
						exported++
					}
				}
			case *ast.GenDecl:
				names += exportedSpecs(decl)
			}
		}
	}
	tests, err := filepath.Glob("*_test.go")
	testenv.Must(t, err)
	for _, measure := range []struct {
		of        string
		got, most int
	}{
		{"source files", files, 16},
		{"test files", len(tests), 25},
		{"lines", lines, 2600},
		{"methods of Engine", methods, 50},
		{"exported methods of Engine", exported, 16},
		{"exported names", names, 30},
	} {
		t.Logf("%s: %d", measure.of, measure.got)
		if measure.got == 0 || measure.got > measure.most {
			t.Errorf("the root has %d %s, want at most %d", measure.got, measure.of, measure.most)
		}
	}
}

type rootFile struct {
	tree  *ast.File
	lines int
}

// parsedRoot returns the source files of the root, without tests.
func parsedRoot(t *testing.T) (files []rootFile) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	testenv.Must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source := testenv.Read(t, path)
		tree, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		testenv.Must(t, err)
		files = append(files, rootFile{tree, strings.Count(string(source), "\n")})
	}
	return files
}

// receiver returns the type that a method belongs to, or "" for a function.
func receiver(decl *ast.FuncDecl) string {
	if decl.Recv == nil {
		return ""
	}
	kind := decl.Recv.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		kind = pointer.X
	}
	name, _ := kind.(*ast.Ident)
	return name.String()
}

// exportedSpecs counts the exported types, constants and variables of a declaration.
func exportedSpecs(decl *ast.GenDecl) (count int) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Name.IsExported() {
				count++
			}
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				if name.IsExported() {
					count++
				}
			}
		}
	}
	return count
}

// pointers are the functions that put a hazard on one effect, and the argument that is
// its index.
var pointers = map[string]int{"OnEffect": 0, "AddOn": 0, "danger": 1, "deadline": 1}

// TestNoHazardOnAFixedEffect: a hazard on the effect with a constant index would stand for
// the whole transaction, and one more effect in front would take it from the others. A
// hazard of the whole belongs to no effect.
func TestNoHazardOnAFixedEffect(t *testing.T) {
	calls := 0
	eachSource(t, func(path string, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			argument, ok := pointers[selector.Sel.Name]
			if !ok || argument >= len(call.Args) {
				return true
			}
			calls++
			if _, constant := call.Args[argument].(*ast.BasicLit); constant {
				t.Errorf("%s: %s on an effect by a constant index", path, selector.Sel.Name)
			}
			return true
		})
	})
	if calls < 20 {
		t.Errorf("%d calls: the functions have other names", calls)
	}
}

// eachSource parses each Go file of the repository that is no test.
func eachSource(t *testing.T, do func(path string, file *ast.File)) {
	t.Helper()
	testenv.Must(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{"node_modules", ".git", "dist"}, entry.Name()) {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err == nil {
			do(path, file)
		}
		return err
	}))
}
