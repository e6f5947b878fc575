package deployment_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestOneAddress: no two of the servers have one address, unless the system chooses each.
func TestOneAddress(t *testing.T) {
	s := clitest.Documented(t)
	text := string(testenv.Read(t, s.Config()))
	check := func(text string) error {
		clitest.WritePrivate(t, s.Config(), text)
		configured, err := config.Read(s.Config())
		testenv.Must(t, err)
		return deployment.Addresses{Serve: true}.Check(configured)
	}
	testenv.Must(t, check(text))
	for _, members := range [][2]string{{"listen", "rpc.listen"}, {"listen", "admin"}, {"rpc.listen", "admin"}} {
		changed := "\n" + text
		for _, member := range members {
			name := "\n" + strings.Replace(member, "rpc.", "  ", 1) + ": 127.0.0.1:"
			changed = strings.Replace(changed, name+"0", name+"1", 1)
		}
		want := members[1] + ": 127.0.0.1:1 is also the address of " + members[0] + ": choose another"
		if err := check(changed[1:]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
