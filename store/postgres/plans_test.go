package postgres_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	queryText = regexp.MustCompile(`^\tQuery Text: *(.*)`)
	planNode  = regexp.MustCompile(`^\t *(?:->  )?((?:Index|Index Only|Seq|Bitmap Index|Tid) Scan.*?)  \(cost=`)
	indexCond = regexp.MustCompile(`^\t *Index Cond: (.*)`)
	byKey     = regexp.MustCompile(`\((?:held\.)?(?:fingerprint|id|key|index|keep_until|lease_until) (?:=|<|<=|>)`)
	wholeRow  = regexp.MustCompile(` on countersign_(?:log_heads|schema)`) // a key of one column, a table of one row
)

// checkPlans refuses plans that read a table, or all rows of an organization, to find
// one: they are as quick as the others in an empty database, and the planner, which has
// no statistics of a new one, takes them if they fit. What the logs of the contract's
// tests have is what was executed, the plans that connections keep included. It also refuses
// statements that the server compiled, which takes a hundred times as long as they do.
func checkPlans(t *testing.T, log string, least int) {
	t.Helper()
	query, node, wrong, seen := "", "", map[string]bool{}, 0
	flush := func() {
		if node != "" && !lists(query, node) {
			wrong[node+"\n\tof "+query] = true
		}
		node = ""
	}
	for line := range strings.Lines(log) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case queryText.MatchString(line):
			flush()
			query = queryText.FindStringSubmatch(line)[1]
		case line == "\tJIT:":
			wrong["compiled: "+query] = true
		case planNode.MatchString(line):
			flush()
			if node = planNode.FindStringSubmatch(line)[1]; !strings.Contains(node, " on countersign_") || wholeRow.MatchString(node) {
				node = ""
			} else {
				seen++
			}
		case node != "" && indexCond.MatchString(line):
			if byKey.MatchString(indexCond.FindStringSubmatch(line)[1]) {
				node = ""
			}
		case query == "" || strings.HasPrefix(line, "\t\t"):
			query += " " + strings.TrimSpace(line)
		}
	}
	flush()
	for _, one := range slices.Sorted(maps.Keys(wrong)) {
		t.Errorf("%s", one)
	}
	if seen < least {
		t.Errorf("the log has only %d plans: auto_explain is not loaded", seen)
	}
}

// lists reports whether a statement is to return what an index has, and not one row.
func lists(query, node string) bool {
	return strings.HasPrefix(query, "SELECT row_to_json") || // of the tests
		strings.Contains(query, "page AS (SELECT") || strings.Contains(query, "count(*)") || strings.Contains(query, "row_number()") || strings.Contains(query, "countersign_outbox WHERE at <") || strings.Contains(query, "WHERE waiting ORDER BY")
}
