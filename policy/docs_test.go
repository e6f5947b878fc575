package policy_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/countersign-dev/countersign/policy"
)

// TestDocumentedPolicies loads the policies in the documentation, which runs their tests.
func TestDocumentedPolicies(t *testing.T) {
	var content []byte
	for _, document := range []string{"../docs/policies.md", "../docs/sponsor.md", "../docs/recipes.md"} {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		content = append(content, text...)
	}
	found := regexp.MustCompile("(?s)\n### ([^\n]+)\n\n(?:[^#]+?\n\n)?```yaml\n(.*?)```").FindAllStringSubmatch(string(content), -1)
	if len(found) != 17 {
		t.Errorf("%d policies, want 17", len(found))
	}
	for _, one := range found {
		t.Run(one[1], func(t *testing.T) {
			file, err := policy.Parse("policy.yaml", []byte(one[2]), policy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if file.Tests() < 2 {
				t.Errorf("%d tests", file.Tests())
			}
			for _, warning := range file.Warnings() {
				t.Errorf("%s", file.RenderProblem(warning))
			}
		})
	}
}
