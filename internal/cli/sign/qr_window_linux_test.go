package sign_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
)

// TestWindows: a request is drawn into windows of several sizes, and read from pictures of
// them. A window that is too small is refused, with the cure.
func TestWindows(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must(nil, "init", "online")
	for i, window := range []struct{ columns, rows uint16 }{{80, 24}, {80, 25}, {100, 30}, {132, 43}, {60, 31}, {40, 12}} {
		t.Run(fmt.Sprintf("%dx%d", window.columns, window.rows), func(t *testing.T) {
			command := s.Command("request", "--type", "ethereum", "--sign-with", clitest.Address, "--api-key", "online/api-key.json",
				"--body", fmt.Sprintf("body%d.json", i), "--qr", "--fps", "30")
			var stderr clitest.Printed
			command.Stdin, command.Stderr = strings.NewReader(clitest.Unsigned), &stderr
			p := clitest.SitAt(t, command, window.columns, window.rows)
			if window.rows < 20 {
				if status := p.Ends(); status != console.ExitFailure || !strings.Contains(stderr.String(), "a window of 40×12 characters is too small for codes: enlarge it, or use --qr-png DIR") {
					t.Errorf("exit status %d: %s", status, &stderr)
				}
				return
			}
			collector := ur.NewCollector(ur.TypeRequest)
			for code := range bytes.Lines(gozxing(s, pictures(t, s, p, &stderr, false))) {
				testenv.Must(t, collector.Add(string(bytes.TrimSpace(code))))
			}
			message, ok := collector.Message()
			if request, err := ur.DecodeRequest(message); !ok || err != nil || !bytes.Contains(request.Body, []byte(clitest.Unsigned)) {
				t.Errorf("the request is %s, %v; %+v", request.Body, err, collector.Progress())
			}
		})
	}
}
