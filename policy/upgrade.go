package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/source"
)

// Upgrade returns a file of the schema before this one with the schema replaced and, above each
// line that has to change or may mean something else now, a comment that begins with "change:".
// The comments do not change what the file says.
func Upgrade(name string, content []byte, options Options) string {
	const before, mark = "countersign.policy/1", "# change: "
	text := strings.Replace(string(content), before, Schema, 1)
	report := new(source.Report)
	if root, ok := source.ParseYAML([]byte(text), report); ok {
		markApprovals(root.Quiet(), report)
	}
	_, err := Parse(name, []byte(text), options)
	if failed, ok := errors.AsType[*Error](err); ok {
		report.List = append(report.List, failed.Problems...)
	}
	lines := strings.SplitAfter(text, "\n")
	slices.SortStableFunc(report.List, func(a, b Problem) int { return cmp.Compare(b.Line, a.Line) }) // from the end, so that lines stay where they are
	for _, problem := range report.List {
		at := min(max(problem.Line, 1), len(lines)) - 1
		indent := lines[at][:len(lines[at])-len(strings.TrimLeft(lines[at], " "))]
		if line := indent + mark + strings.ReplaceAll(problem.Message, "\n", " ") + "\n"; !slices.Contains(lines, line) || problem.Rule != "" {
			lines = slices.Insert(lines, at, line)
		}
	}
	return fmt.Sprintf("# Read as %s. In it, a request of nothing but change needs an allow like a payment, and one of nothing but a fee a\n"+
		"# rule with alone: true and a limit: sponsoring, cancelling, claiming. Remove these lines when all below is done.\n", Schema) + strings.Join(lines, "")
}

// markApprovals marks groups for which the submission no longer is a vote.
func markApprovals(root source.Node, report *source.Report) {
	member := func(n source.Node, name string) source.Node {
		pairs := n.Pairs("")
		if i := slices.IndexFunc(pairs, func(entry source.Entry) bool { return entry.Name == name }); i >= 0 {
			return pairs[i].Node
		}
		return source.Node{}
	}
	for _, rule := range member(root, "rules").Quiet().Items("") {
		for _, group := range member(rule, "approvals").Quiet().Items("") {
			if member(group, "not").Node == nil && member(group, "submitter").Node == nil {
				report.Add(group.Place(), "", "the submission is no vote here unless the group says submitter: counts")
			}
		}
	}
}
