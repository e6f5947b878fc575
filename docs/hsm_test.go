//go:build cgo && unix

package docs_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// shBlock is a fenced block of shell in a document, except one with a prompt.
var shBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestHSMGuide runs hsm.md: from the token to the signature, and an imported key.
func TestHSMGuide(t *testing.T) {
	text := testenv.Read(t, "hsm.md")
	var script strings.Builder
	for _, block := range shBlock.FindAllStringSubmatch(string(text), -1) {
		script.WriteString(block[1])
	}
	module := testenv.SoftHSM(t).Module // only the module: the guide creates its own token
	here := strings.ReplaceAll(script.String(), "/usr/lib/softhsm/libsofthsm2.so", module)
	guide := exec.CommandContext(t.Context(), "sh", "-eux", "-c", here)
	guide.Dir = spaced(t)
	out, err := guide.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`^02f8[0-9a-f]{200,}$`, `^{"privateKeyId":".*","name":"moved in",`} {
		if !regexp.MustCompile("(?m)" + want).Match(out) {
			t.Errorf("no line of what it prints is %s:\n%s", want, out)
		}
	}
}
