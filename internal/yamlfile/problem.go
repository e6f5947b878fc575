package yamlfile

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is an error or a likely mistake in a file.
type Problem struct {
	Line    int    // from 1
	Column  int    // from 1, in characters
	Rule    string // the part of the file that it is about; may be empty
	Message string
	Warning bool // it does not keep the file from loading
}

// Place is a position in a file. Both count from 1, columns in characters.
type Place struct{ Line, Column int }

// Problems collects the problems of a file.
type Problems struct{ List []Problem }

// Add adds an error at a place.
func (p *Problems) Add(where Place, rule, message string, args ...any) {
	p.List = append(p.List, Problem{Line: where.Line, Column: where.Column, Rule: rule, Message: fmt.Sprintf(message, args...)})
}

// Warn adds a warning at a place.
func (p *Problems) Warn(where Place, rule, message string, args ...any) {
	p.Add(where, rule, message, args...)
	p.List[len(p.List)-1].Warning = true
}

// Failed reports whether there is an error among the problems.
func (p *Problems) Failed() bool {
	return slices.ContainsFunc(p.List, func(one Problem) bool { return !one.Warning })
}

// Sorted returns the problems by place, errors before warnings.
func (p *Problems) Sorted() []Problem {
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		if a.Warning != b.Warning {
			if a.Warning {
				return 1
			}
			return -1
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return p.List
}

// maxShownProblems bounds the text of several problems.
const maxShownProblems = 20

// RenderAll formats problems as [Render] does.
func RenderAll(name string, lines []string, problems []Problem) string {
	var out strings.Builder
	for i := range problems {
		if i == maxShownProblems {
			fmt.Fprintf(&out, "\n… and %d more", len(problems)-i)
			break
		}
		if i > 0 {
			out.WriteByte('\n')
		}
		out.WriteString(Render(name, lines, &problems[i]))
	}
	return out.String()
}

// Render formats a problem as file:line:column: message, with its line and a caret.
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
	for i := range letters {
		if !isOneCell(letters[i]) {
			letters[i] = ' '
		}
	}
	return string(letters[from:to]), column - from
}

// isOneCell reports whether a terminal shows the character in one cell and does
// nothing else with it.
func isOneCell(r rune) bool {
	return r >= ' ' && r != 0x7f && (r < 0x80 || r > 0x9f && r < 0x2000)
}
