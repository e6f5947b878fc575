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
	"flag"
	"fmt"
	"go/ast"
	"go/types"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"
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

// Load loads the packages of the module in a directory, and their tests.
func Load(dir string) ([]*packages.Package, error) {
	found, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir, Tests: true}, "./...")
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.ID, p.Errors[0])
		}
	}
	return found, nil
}

// Measure measures packages without their tests.
func Measure(found []*packages.Package) (all []Measures, err error) {
	for _, p := range found {
		if !alone(p) {
			continue
		}
		m, err := measure(p)
		if err != nil {
			return nil, err // names the file
		}
		all = append(all, m)
	}
	return all, nil
}

// alone reports whether a package was loaded without its tests, and is not made to run them.
func alone(p *packages.Package) bool {
	return p.ID == p.PkgPath && !strings.HasSuffix(p.ID, ".test")
}

func measure(p *packages.Package) (Measures, error) {
	m := Measures{Path: p.PkgPath}
	for _, path := range p.GoFiles {
		source, err := os.ReadFile(path)
		if err != nil {
			return m, err
		}
		m.widths(string(source))
	}
	m.functions(p)
	edges := map[[2]string]bool{}
	for ident, object := range p.TypesInfo.Uses {
		if object.Pkg() != p.Types || !declaredOutside(object, p.Types) {
			continue
		}
		from, to := p.Fset.Position(ident.Pos()).Filename, p.Fset.Position(object.Pos()).Filename
		if from != to && slices.Contains(p.GoFiles, from) && slices.Contains(p.GoFiles, to) {
			edges[[2]string{from, to}] = true
		}
	}
	m.Files, m.Arrows = len(p.GoFiles), len(edges)
	m.Up = fewestUp(slices.Clone(p.GoFiles), edges)
	return m, nil
}

// declaredOutside reports whether an object is declared outside functions: of the package, a
// method or a field.
func declaredOutside(object types.Object, pkg *types.Package) bool {
	_, isFunc := object.(*types.Func)
	variable, isVar := object.(*types.Var)
	return isFunc || object.Parent() == pkg.Scope() || isVar && variable.IsField()
}

func (m *Measures) widths(source string) {
	lines := strings.Split(strings.TrimSuffix(source, "\n"), "\n")
	for _, line := range lines {
		columns := utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    "))
		m.Over120 += min(1, max(0, columns-120))
		m.Over140 += min(1, max(0, columns-140))
	}
	m.Lines += len(lines)
	m.File = max(m.File, len(lines))
}

func (m *Measures) functions(p *packages.Package) {
	methods := map[string]int{}
	for _, file := range p.Syntax {
		if !slices.Contains(p.GoFiles, p.Fset.Position(file.Name.Pos()).Filename) {
			continue // made by cgo
		}
		for _, decl := range file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			m.Function = max(m.Function, p.Fset.Position(function.End()).Line-p.Fset.Position(function.Pos()).Line+1)
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
	uses := make([][]bool, len(files)) // [from][to]
	for i := range uses {
		uses[i] = make([]bool, len(files))
	}
	for edge := range edges {
		uses[slices.Index(files, edge[0])][slices.Index(files, edge[1])] = true
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
	found, err := Load(flag.Arg(0))
	var all []Measures
	if err == nil {
		all, err = Measure(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "structure:", err)
		os.Exit(1)
	}
	slices.SortStableFunc(all, func(a, b Measures) int { return b.Up - a.Up })
	fmt.Println("up arrows files lines methods function file >120 >140 package")
	for _, m := range all[:min(*most, len(all))] {
		fmt.Println(m.Up, m.Arrows, m.Files, m.Lines, m.Methods, m.Type, m.Function, m.File, m.Over120, m.Over140, m.Path)
	}
}
