package sign_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/internal/ur"
)

// TestRequestWithoutAddress: a request that names no key but a path is not signed. If the
// keystore has the key at that path of that wallet, it is offered; the one at another path, or
// of another wallet, is not.
func TestRequestWithoutAddress(t *testing.T) {
	t.Parallel()
	s := clitest.NewSession(t)
	s.Must([]byte("test test test test test test test test test test test junk\n"), "keys", "import", "--format", "mnemonic")
	id := ""
	for line := range strings.Lines(string(s.Must(nil, "keys", "list", "--json"))) {
		if _, rest, ok := strings.Cut(line, `"privateKeyId":"`); ok && strings.Contains(line, `"path":"m/44'/60'/0'/0/0"`) {
			id, _, _ = strings.Cut(rest, `"`)
		}
	}
	if id == "" {
		t.Fatal("the wallet has no account at the path")
	}
	path := func(index uint32) []ur.PathIndex {
		return []ur.PathIndex{{Index: 44, Hardened: true}, {Index: 60, Hardened: true}, {Index: 0, Hardened: true}, {Index: 0}, {Index: index}}
	}
	const own = 0x16a93ed0 // of the words
	for name, c := range map[string]struct {
		at      ur.Keypath
		offered bool
	}{
		"with the fingerprint":      {ur.Keypath{Path: path(0), Fingerprint: own}, true},
		"without":                   {ur.Keypath{Path: path(0)}, true},
		"of another wallet":         {ur.Keypath{Path: path(0), Fingerprint: own + 1}, false},
		"of a path without account": {ur.Keypath{Path: path(5), Fingerprint: own}, false},
	} {
		request := ethRequest(t)
		request.Address, request.Path = nil, c.at
		stdout, stderr, status := s.Scanned(strings.ToUpper(request.Message().String()), "")
		if status != console.ExitUsage || stdout != "" || !strings.Contains(stderr, "--sign-with is missing: the request does not name the key") ||
			strings.Contains(stderr, "pass --sign-with "+id) != c.offered {
			t.Errorf("%s: exit status %d: %s%s", name, status, stdout, stderr)
		}
	}
}
