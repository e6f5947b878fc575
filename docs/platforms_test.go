package docs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestPlatforms: README.md names the platforms that make ci builds for, and no others without
// tests.
func TestPlatforms(t *testing.T) {
	makefile := testenv.Read(t, "../Makefile")
	readme := testenv.Read(t, "../README.md")
	built := regexp.MustCompile(`(?m)^PLATFORMS = (.*)$`).FindSubmatch(makefile)
	named := regexp.MustCompile(`(?m)^\| (.*) \| builds; no test runs \|$`).FindSubmatch(readme)
	if built == nil || named == nil || string(named[1]) != strings.ReplaceAll(string(built[1]), " ", ", ") {
		t.Errorf("the Makefile builds for %q, README.md names %q", built, named)
	}
}
