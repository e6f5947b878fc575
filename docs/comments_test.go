package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// named matches a comment that begins with a name in camel case.
var named = regexp.MustCompile(`^//\s+(\w*[a-z][A-Z]\w*)\b`)

// tested matches a line that begins with the name of a test.
var tested = regexp.MustCompile(`^//\s+((?:Test|Fuzz|Benchmark)[A-Z]\w*)\b`)

// TestCommentNames checks that a doc comment that begins with a name begins with that of
// its declaration: the comment of a renamed or moved declaration may be left behind.
func TestCommentNames(t *testing.T) {
	held := 0
	for _, path := range sources(t) {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		testenv.Must(t, err)
		docs := map[*ast.CommentGroup]string{}
		for _, declared := range file.Decls {
			documented(declared, docs)
		}
		at := func(comment *ast.CommentGroup) token.Position { return fset.Position(comment.Pos()) }
		for comment, name := range docs {
			first := named.FindStringSubmatch(comment.List[0].Text)
			if first == nil || name == "" {
				continue
			}
			held++
			if first[1] != name && !strings.HasPrefix(name, "Example") {
				t.Errorf("%s: the comment of %s begins with %s", at(comment), name, first[1])
			}
		}
		for _, comment := range file.Comments {
			if fset.Position(comment.Pos()).Column != 1 || comment == file.Doc {
				continue
			}
			for i, line := range comment.List {
				begins := i == 0 || strings.HasSuffix(comment.List[i-1].Text, ".")
				if test := tested.FindStringSubmatch(line.Text); test != nil && begins && test[1] != docs[comment] {
					t.Errorf("%s: the comment of %s does not stand at it", fset.Position(line.Pos()), test[1])
				}
			}
		}
	}
	if held < 1000 {
		t.Errorf("only %d comments begin with a name: this test reads too little", held)
	}
}

// sources returns the paths of all Go files of the project.
func sources(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && isMade(entry.Name()):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go":
			paths = append(paths, path)
		}
		return nil
	})
	testenv.Must(t, err)
	return paths
}

// documented adds the comments of a function or of types, with their names.
func documented(declared ast.Decl, docs map[*ast.CommentGroup]string) {
	switch d := declared.(type) {
	case *ast.FuncDecl:
		docs[d.Doc] = d.Name.Name
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			of, isType := spec.(*ast.TypeSpec)
			switch {
			case !isType:
			case of.Doc != nil:
				docs[of.Doc] = of.Name.Name
			case len(d.Specs) == 1:
				docs[d.Doc] = of.Name.Name
			}
		}
	}
	delete(docs, nil)
}

// mostSleeps is how many calls of time.Sleep tests have in real time: where time itself is tested, or
// another process gives no sign.
const mostSleeps = 7

// TestSleeps counts the calls of time.Sleep in tests. In a bubble of synctest the time is virtual:
// inside an argument of synctest.Test or of a function of the folder that calls it, or in a helper
// whose line says so in a comment.
func TestSleeps(t *testing.T) {
	var sleeps []string
	for _, path := range sources(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		text := read(t, path)
		if !strings.Contains(text, "time.Sleep") {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		testenv.Must(t, err)
		lines, bubbles := strings.Split(text, "\n"), bubblesIn(t, filepath.Dir(path))
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			switch {
			case !ok:
				return true
			case bubbles[types.ExprString(call.Fun)]:
				return false
			case types.ExprString(call.Fun) == "time.Sleep":
				at := fset.Position(call.Pos())
				if !strings.Contains(lines[at.Line-1], "// virtual time") {
					sleeps = append(sleeps, at.String())
				}
			}
			return true
		})
	}
	if len(sleeps) != mostSleeps {
		t.Errorf("%d calls of time.Sleep in tests, want %d: wait for what is to happen, or use synctest\n%s",
			len(sleeps), mostSleeps, strings.Join(sleeps, "\n"))
	}
}

var bubble = regexp.MustCompile(`(?m)^func (\w+)\((?:[^\n]*\n\t)*?synctest\.Test\(`)

// bubblesIn returns the functions of a folder's tests that run their argument in a bubble.
func bubblesIn(t *testing.T, folder string) map[string]bool {
	t.Helper()
	bubbles := map[string]bool{"synctest.Test": true}
	files, err := testFiles(folder)
	testenv.Must(t, err)
	for _, file := range files {
		for _, found := range bubble.FindAllStringSubmatch(read(t, file), -1) {
			bubbles[found[1]] = true
		}
	}
	return bubbles
}
