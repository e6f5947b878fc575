package config_test

import (
	"regexp"
	"testing"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestDocumented checks that the example in configuration.md is valid, and that the document
// names every member.
func TestDocumented(t *testing.T) {
	content := testenv.Read(t, "../../../docs/configuration.md")
	document := string(content)
	shown := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(document)
	if shown == nil {
		t.Fatal("configuration.md has no example")
	}
	read, err := config.Read(write(t, shown[1]))
	testenv.Must(t, err)
	if _, err := access.NewDirectory(read.Organizations); err != nil {
		t.Error(err)
	}
	for _, member := range source.Members(config.Config{}) {
		if !regexp.MustCompile(`\b` + member + `\b`).MatchString(document) {
			t.Errorf("configuration.md does not name %s", member)
		}
	}
}
