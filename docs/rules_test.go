package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// rules are the reasons for the hazards of what networks do not include: how the text of
// each begins, and its row in effects.md.
var rules = map[string]string{
	"gas %d is over the cap of %d (%s)":           "gas over the cap",
	"gas %d is over the cap of %d:":               "gas over the cap of Tempo",
	"gas %d is below":                             "gas below what it costs before it runs",
	"%d bytes of init code":                       "init code too long",
	"%d bytes once signed":                        "too large to be relayed",
	"maxFeePerBlobGas is 0":                       "blob fee of 0",
	"the sidecar is of version 0":                 "sidecar of version 0",
	"there is no native asset on Tempo":           "value on Tempo",
	"call %d has a value":                         "value on Tempo",
	"transaction version %d":                      "transaction version",
	"output %d has %d sat: nodes relay none of t": "dust",
	"about %d virtual bytes: nodes relay":         "version 3 above 10,000 vB",
}

// frozen are the hazards of what networks do not include.
var frozen = map[string]bool{"HazardGasOverCap": true, "HazardNeverIncluded": true, "HazardOversize": true, "HazardNeverRelayed": true}

// TestRulesHaveAnAnswer: effects.md says of every reason for such a hazard whether a later
// fork may relax it.
func TestRulesHaveAnAnswer(t *testing.T) {
	answers := map[string]string{}
	for line := range strings.Lines(read(t, "effects.md")) {
		if cells := strings.Split(line, "|"); len(cells) == 6 {
			answers[strings.TrimSpace(cells[1])] = strings.TrimSpace(cells[4])
		}
	}
	used := map[string]bool{}
	for _, reason := range reasons(t) {
		row := ""
		for begins, of := range rules {
			if strings.HasPrefix(reason, begins) {
				row, used[begins] = of, true
			}
		}
		if answer := answers[row]; !strings.HasPrefix(answer, "yes: ") && !strings.HasPrefix(answer, "no: ") {
			t.Errorf("%q: effects.md has no answer in the row %q: %q", reason, row, answer)
		}
	}
	for begins := range rules {
		if !used[begins] {
			t.Errorf("no hazard's text begins with %q", begins)
		}
	}
}

// reasons returns the texts in the functions that add such hazards: of a call with the name
// of one, or of a function that returns one.
func reasons(t *testing.T) (texts []string) {
	t.Helper()
	paths, err := filepath.Glob("../chains/*/*.go")
	testenv.Must(t, err)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		testenv.Must(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.CallExpr:
				if len(node.Args) > 1 && isFrozen(node.Args[0]) {
					texts = append(texts, literal(node.Args[1]))
				}
			case *ast.FuncDecl:
				if node.Body != nil && strings.HasPrefix(node.Name.Name, "neverRelayed") {
					texts = append(texts, literals(node.Body)...)
				}
			}
			return true
		})
	}
	return texts
}

func isFrozen(e ast.Expr) bool {
	name, ok := e.(*ast.Ident)
	return ok && frozen[name.Name]
}

// literals returns the formats in a function that returns a hazard.
func literals(body *ast.BlockStmt) (texts []string) {
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		if text := literal(call.Args[0]); text != "" && !strings.HasPrefix(text, ";") {
			texts = append(texts, text)
		}
		return true
	})
	return texts
}

func literal(e ast.Expr) string {
	text, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	out, err := strconv.Unquote(text.Value)
	if err != nil {
		return ""
	}
	return out
}
