// Package source reads the YAML files that people write by hand, as [Node] values that know
// their place. What a reader refuses becomes a [Problem], shown with its line and a caret.
package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/plaintext"
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

// maxShownProblems bounds the text of an Error.
const maxShownProblems = 20

// Error implements error. It formats each problem as file:line:column: message, with
// the line and a caret.
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
		out.WriteString(Render(e.Name, e.lines, &e.Problems[i]))
	}
	return out.String()
}

// Render formats a problem with its place.
func Render(name string, lines []string, problem *Problem) string {
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

// maxExcerpt is the number of characters of a line that are shown around a column.
const maxExcerpt = 100

// excerpt cuts a line around a column. It replaces characters that could shift the
// caret, and returns the column within the excerpt.
func excerpt(line string, column int) (shown string, shownColumn int) {
	letters := []rune(strings.TrimRight(line, "\r\n"))
	column = min(max(column, 1), len(letters)+1)
	from := max(0, column-maxExcerpt/2)
	to := min(len(letters), from+maxExcerpt)
	for i, r := range letters {
		// A terminal shows it in one cell and does nothing else with it.
		isPlain := r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f && r < 0x2000)
		if !isPlain {
			letters[i] = ' '
		}
	}
	return string(letters[from:to]), column - from
}

// Report collects the problems of a file.
type Report struct {
	List []Problem
}

// Add adds an error.
func (r *Report) Add(place Place, rule, message string, args ...any) {
	r.List = append(r.List, Problem{Line: place.Line, Column: place.Column, Rule: rule, Message: fmt.Sprintf(message, args...)})
}

// Warn adds a likely mistake.
func (r *Report) Warn(place Place, rule, message string, args ...any) {
	r.Add(place, rule, message, args...)
	r.List[len(r.List)-1].Warning = true
}

// Failed reports whether there is an error.
func (r *Report) Failed() bool { return r.Errors() > 0 }

// Errors returns how many errors there are.
func (r *Report) Errors() (count int) {
	for i := range r.List {
		if !r.List[i].Warning {
			count++
		}
	}
	return count
}

// Failure returns the error of a file with its lines.
func (r *Report) Failure(name string, lines []string) *Error {
	return &Error{Name: name, Problems: r.Sorted(), lines: lines}
}

// Sorted returns the problems by place, errors before warnings.
func (r *Report) Sorted() []Problem {
	slices.SortStableFunc(r.List, func(a, b Problem) int {
		if a.Warning != b.Warning {
			if a.Warning {
				return 1
			}
			return -1
		}
		return cmp.Or(a.Line-b.Line, a.Column-b.Column)
	})
	return r.List
}

// Place is a position in the file; both count from 1, columns in characters.
type Place struct{ Line, Column int }

// FileStart is the place of problems with the file as a whole.
var FileStart = Place{1, 1}

// MaxQuoted is how many bytes of a file's text an error quotes.
const MaxQuoted = 64

func quoted(text string) string { return plaintext.Shorten(text, MaxQuoted) }

// Meant appends ": did you mean …?" to a message if one of the names is close.
func Meant(message, name string, names []string) string {
	return plaintext.Meant(message, name, names, "")
}
