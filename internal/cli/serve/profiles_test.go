package serve_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestProfiles checks that the profiles are served at the admin address, and only there and
// only if asked for.
func TestProfiles(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	for _, flags := range [][]string{nil, {"--pprof"}} {
		admin := testenv.FreeAddress(t)
		n := s.Start(t, append(flags, "--admin", admin)...)
		for base, want := range map[string]int{"http://" + admin: http.StatusNotFound, n.Base: http.StatusNotFound} {
			if flags != nil && base != n.Base {
				want = http.StatusOK
			}
			for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/cmdline"} {
				if status, body := clitest.Get(t, base+path); status != want {
					t.Errorf("%q: %s%s: %d: %.200s", flags, base, path, status, body)
				}
			}
		}
		n.End(t, syscall.SIGTERM)
	}
	if _, stderr, status := clitest.CallIn("serve", "--config", s.Config(), "--pprof", "--admin", "none"); status != console.ExitUsage || !strings.Contains(stderr, "--pprof needs an admin address") {
		t.Errorf("exit status %d: %s", status, stderr)
	}
}
