// Command structure measures how the packages of a checkout are built: for each, the arrows up
// between its files, the methods of its largest type, its longest function, and its long lines.
//
// An arrow goes from a file to another file of the package that declares a name which it uses. The
// files are put in an order in which few arrows point to a later file; those that do point up.
// The order is found by moving one file at a time for as long as that helps, from fixed orders.
//
//	go run ./structure [-most 20] DIR
package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Measures are those of one package.
type Measures struct {
	Path             string
	Files, Lines     int
	Arrows, Up       int    // between files, and those that point up
	Methods          int    // of the type that has most
	Type             string // that type
	Function, File   int    // lines of the longest
	Over120, Over140 int    // columns, a tab counted as four
}

type listed struct {
	ImportPath, Dir, Export string
	GoFiles, CgoFiles       []string
	ImportMap               map[string]string
	Module                  *struct{ Main bool }
}

// Measure measures the packages of the module in a directory.
func Measure(dir string) ([]Measures, error) {
	command := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,CgoFiles,ImportMap,Module", "./...")
	command.Dir, command.Stderr = dir, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var own []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && len(p.GoFiles) > 0 {
			own = append(own, p)
		}
	}
	var all []Measures
	for _, p := range own {
		m, err := measure(p, exports)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		all = append(all, m)
	}
	return all, nil
}

func measure(p listed, exports map[string]string) (Measures, error) {
	m := Measures{Path: p.ImportPath}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		source, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return m, err
		}
		m.widths(string(source))
		file, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			return m, err
		}
		files = append(files, file)
	}
	m.functions(fset, files)
	lookup := func(path string) (io.ReadCloser, error) { return os.Open(exports[cmp.Or(p.ImportMap[path], path)]) }
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", lookup), FakeImportC: true, Error: func(error) {}}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	pkg, _ := config.Check(p.ImportPath, fset, files, info) // cgo's names are not resolved, and do not matter
	edges := map[[2]string]bool{}
	for ident, object := range info.Uses {
		if object.Pkg() != pkg || !declaredOutside(object, pkg) {
			continue
		}
		from, to := fset.Position(ident.Pos()).Filename, fset.Position(object.Pos()).Filename
		if from != to && to != "" {
			edges[[2]string{from, to}] = true
		}
	}
	m.Files, m.Arrows = len(files), len(edges)
	m.Up = fewestUp(slices.Concat(p.GoFiles, p.CgoFiles), edges)
	return m, nil
}

// declaredOutside reports whether an object is declared outside functions: of the package, a
// method or a field.
func declaredOutside(object types.Object, pkg *types.Package) bool {
	if object.Parent() == pkg.Scope() {
		return true
	}
	variable, ok := object.(*types.Var)
	_, isFunc := object.(*types.Func)
	return isFunc || ok && variable.IsField()
}

func (m *Measures) widths(source string) {
	lines := 0
	for line := range strings.Lines(source) {
		lines++
		columns := len([]rune(strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")))
		if columns > 120 {
			m.Over120++
		}
		if columns > 140 {
			m.Over140++
		}
	}
	m.Lines += lines
	m.File = max(m.File, lines)
}

func (m *Measures) functions(fset *token.FileSet, files []*ast.File) {
	methods := map[string]int{}
	for _, file := range files {
		for _, decl := range file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			m.Function = max(m.Function, fset.Position(function.End()).Line-fset.Position(function.Pos()).Line+1)
			if function.Recv == nil {
				continue
			}
			name := strings.TrimLeft(types.ExprString(function.Recv.List[0].Type), "*")
			name, _, _ = strings.Cut(name, "[")
			if methods[name]++; methods[name] > m.Methods {
				m.Methods, m.Type = methods[name], name
			}
		}
	}
}

// fewestUp returns how many edges point to a later file in the best order that is found.
func fewestUp(files []string, edges map[[2]string]bool) int {
	slices.Sort(files)
	index := map[string]int{}
	for i, name := range files {
		index[name] = i
	}
	uses := make([][]bool, len(files)) // [from][to]
	for i := range uses {
		uses[i] = make([]bool, len(files))
	}
	for edge := range edges {
		uses[index[edge[0]]][index[edge[1]]] = true
	}
	best := len(edges)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		order := random.Perm(len(files))
		for settled := false; !settled; {
			settled = true
			for at := range order {
				settled = !moveBest(order, at, uses) && settled
			}
		}
		up := 0
		for i, from := range order {
			for _, to := range order[i+1:] {
				if uses[from][to] {
					up++
				}
			}
		}
		best = min(best, up)
	}
	return best
}

// moveBest moves the file at a place to where fewest of its arrows point up.
func moveBest(order []int, at int, uses [][]bool) bool {
	file, gain, best := order[at], 0, at
	for _, step := range []int{-1, 1} {
		change := 0
		for to := at + step; to >= 0 && to < len(order); to += step {
			passed := order[to]
			before, after := uses[file][passed], uses[passed][file] // passed is later
			if step < 0 {
				before, after = after, before
			}
			if before {
				change--
			}
			if after {
				change++
			}
			if change < gain {
				gain, best = change, to
			}
		}
	}
	if best == at {
		return false
	}
	copy(order, slices.Insert(slices.Delete(slices.Clone(order), at, at+1), best, file))
	return true
}

func main() {
	most := flag.Int("most", 20, "print so many packages")
	flag.Parse()
	all, err := Measure(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
	slices.SortStableFunc(all, func(a, b Measures) int { return cmp.Compare(b.Up, a.Up) })
	fmt.Println("up arrows files lines methods function file >120 >140 package")
	for _, m := range all[:min(*most, len(all))] {
		fmt.Println(m.Up, m.Arrows, m.Files, m.Lines, m.Methods, m.Type, m.Function, m.File, m.Over120, m.Over140, m.Path)
	}
}
