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
	// From the end, so that lines stay where they are.
	slices.SortStableFunc(report.List, func(a, b Problem) int { return cmp.Compare(b.Line, a.Line) })
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
	has := func(n source.Node, name string) bool {
		return slices.ContainsFunc(n.Pairs(""), func(entry source.Entry) bool { return entry.Name == name })
	}
	items := func(of source.Node, name string) (items []source.Node) {
		for _, entry := range of.Pairs("") {
			if entry.Name == name && !entry.Node.IsNull() {
				items = append(items, entry.Node.Items("")...)
			}
		}
		return items
	}
	for _, rule := range items(root, "rules") {
		for _, group := range items(rule, "approvals") {
			if !has(group, "not") && !has(group, "submitter") {
				report.Add(group.Place(), "", "the submission is no vote here unless the group says submitter: counts")
			}
		}
	}
}
