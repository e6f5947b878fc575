package policy

import "github.com/countersign-dev/countersign/internal/yamlfile"

// The file is read by package yamlfile.
type (
	node     = yamlfile.Node
	entry    = yamlfile.Entry
	place    = yamlfile.Place
	problems = yamlfile.Problems
)

// Problem is an error or a likely mistake in a file.
type Problem struct {
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1, in characters
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`
	Warning bool   `json:"warning"` // it does not keep the file from loading
}

// Error has all problems of a file that does not load.
type Error struct {
	Name     string // of the file
	Problems []Problem

	lines []string
}

// Error implements error. It formats each problem as file:line:column: message, with
// the line and a caret.
func (e *Error) Error() string {
	problems := make([]yamlfile.Problem, len(e.Problems))
	for i, problem := range e.Problems {
		problems[i] = yamlfile.Problem(problem)
	}
	return yamlfile.RenderAll(e.Name, e.lines, problems)
}

func render(name string, lines []string, problem *Problem) string {
	return yamlfile.Render(name, lines, (*yamlfile.Problem)(problem))
}
