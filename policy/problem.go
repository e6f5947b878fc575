package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a file, or that is likely not meant.
type Problem struct {
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1, in characters
	Rule    string `json:"rule,omitempty"`
	Message string `json:"message"`
	Warning bool   `json:"warning"` // the file loads all the same
}

// Error is why a file does not load: everything that is wrong with it.
type Error struct {
	Name     string // of the file
	Problems []Problem

	lines []string
}

// maxShownProblems bounds the text of an Error.
const maxShownProblems = 20

// Error implements error: each problem as file:line:column, with the line and a
// caret.
func (e *Error) Error() string {
	var out strings.Builder
	for i := range e.Problems {
		if i == maxShownProblems {
			fmt.Fprintf(&out, "\n… and %d more", len(e.Problems)-i)
			break
		}
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(render(e.Name, e.lines, &e.Problems[i]))
	}
	return out.String()
}

// render writes a problem with its place.
func render(name string, lines []string, problem *Problem) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s:%d:%d: ", name, problem.Line, problem.Column)
	if problem.Rule != "" {
		fmt.Fprintf(&out, "rule %s: ", problem.Rule)
	}
	out.WriteString(problem.Message)
	if problem.Line < 1 || problem.Line > len(lines) {
		return out.String()
	}
	line, column := excerpt(lines[problem.Line-1], problem.Column)
	fmt.Fprintf(&out, "\n  %s\n  %s^", line, strings.Repeat(" ", column-1))
	return out.String()
}

// maxExcerpt is how many characters of a line are shown around a column.
const maxExcerpt = 100

// excerpt cuts a line around a column, and makes everything in it printable.
func excerpt(line string, column int) (shown string, at int) {
	letters := []rune(strings.TrimRight(line, "\r\n"))
	column = min(max(column, 1), len(letters)+1)
	from := max(0, column-maxExcerpt/2)
	to := min(len(letters), from+maxExcerpt)
	for i := range letters {
		if !isPrintable(letters[i]) {
			letters[i] = ' '
		}
	}
	return string(letters[from:to]), column - from
}

// isPrintable reports whether a terminal shows the letter in one cell and does
// nothing else with it.
func isPrintable(letter rune) bool {
	return letter >= ' ' && letter != 0x7f && (letter < 0x80 || letter > 0x9f && letter < 0x2000)
}

// problems collects what is wrong with a file.
type problems struct {
	list []Problem
}

func (p *problems) add(at place, rule, message string, args ...any) {
	p.list = append(p.list, Problem{Line: at.line, Column: at.column, Rule: rule, Message: fmt.Sprintf(message, args...)})
}

func (p *problems) warn(at place, rule, message string, args ...any) {
	p.add(at, rule, message, args...)
	p.list[len(p.list)-1].Warning = true
}

func (p *problems) failed() bool {
	return slices.ContainsFunc(p.list, func(one Problem) bool { return !one.Warning })
}

// place is where in the file something stands.
type place struct{ line, column int }
