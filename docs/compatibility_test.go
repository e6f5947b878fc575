package docs_test

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestEveryPackageIsPromised: the page on compatibility has each package that programs can import, in
// its table or among those that are no API.
func TestEveryPackageIsPromised(t *testing.T) {
	page := testenv.Read(t, "compatibility.md")
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{if ne .Name \"main\"}}{{.ImportPath}}{{end}}", "./...")
	list.Dir = testenv.Root()
	out, err := list.Output()
	testenv.Must(t, err)
	named := map[string]bool{}
	for _, name := range regexp.MustCompile("`([a-z0-9/]+)`").FindAllStringSubmatch(string(page), -1) {
		named[name[1]] = true
	}
	const module = "github.com/countersign-dev/countersign"
	for path := range strings.FieldsSeq(string(out)) {
		name := strings.TrimPrefix(path, module+"/")
		if path == module {
			name = "countersign"
		}
		top, _, _ := strings.Cut(name, "/")
		noAPI := slices.Contains([]string{"bench", "fuzz", "interop", "docs", "packaging", "tools"}, top)
		if !named[name] && !noAPI && !strings.Contains("/"+name+"/", "/internal/") {
			t.Errorf("compatibility.md does not say what users of %s can rely on", name)
		}
	}
}
