package docs_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/policy"
)

// TestMessagesPage checks that the table of messages.md is that of the applications that
// the code is tested with, and that its policy is valid.
func TestMessagesPage(t *testing.T) {
	page := read(t, "messages.md")
	var applications []struct {
		Name    string
		Hazards []string
	}
	if err := json.Unmarshal([]byte(read(t, "../internal/messages/structures/testdata/applications.json")), &applications); err != nil {
		t.Fatal(err)
	}
	for _, one := range applications {
		var hazards []string
		for _, name := range slices.Compact(one.Hazards) {
			hazards = append(hazards, "`"+name+"`")
		}
		if row := fmt.Sprintf("| %s | %s |\n", one.Name, strings.Join(hazards, ", ")); !strings.Contains(page, row) {
			t.Errorf("no row %s", row)
		}
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(page)
	if block == nil {
		t.Fatal("no policy")
	}
	if _, err := policy.Parse("messages.md", []byte(block[1]), policy.Options{}); err != nil {
		t.Error(err)
	}
}
