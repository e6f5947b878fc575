package serve_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestOrganizationsInDatabases serves organizations in two databases: what one has is in its own
// alone, while one is away its organizations are and no others, and no organization begins again in
// the other.
func TestOrganizationsInDatabases(t *testing.T) {
	t.Parallel()
	rest, b := testenv.Postgres(t), testenv.Postgres(t)
	uri := func(p *testenv.PostgreSQL) string {
		folder, _, _ := strings.Cut(strings.TrimPrefix(p.DSN, "host="), " ")
		return "postgres:///postgres?user=postgres&host=" + folder
	}
	s := clitest.NewServed(t)
	admin := testenv.FreeAddress(t)
	s.Edit(t, "admin: 127.0.0.1:8081", "admin: "+admin)
	s.Edit(t, "store: bolt:state.db", "store: "+uri(rest)+"\nstores: {b: '"+uri(b)+"'}")
	key := regexp.MustCompile(`- (\{curve: .*\})`).FindSubmatch(testenv.Read(t, s.Config()))
	organization := func(id string) string {
		return fmt.Sprintf("organizations:\n  - id: %s\n    name: %[1]s\n    store: b\n    users:\n      - {name: bot, apiKeys: [%s]}\n", id, key[1])
	}
	s.Edit(t, "organizations:\n", organization("second"))
	in := func(id string) *clitest.Served {
		var key show.KeyLine
		line := s.Run(t, "keys", "generate", "--config", s.Config(), "--org", id, "--curve", "CURVE_SECP256K1")
		testenv.JSON(t, line, &key)
		of, by := *s, *s.By
		by.OrganizationID, of.By, of.Signer = id, &by, key.PrivateKeyID
		return &of
	}
	second := in("second")

	n := s.Start(t, "--new-store")
	signs(t, n, s, 1)
	signs(t, n, second, 1)
	signs(t, n, second, 2)
	count := func(p *testenv.PostgreSQL, id string) (activities int) {
		row := connected(t, p.DSN).QueryRow(t.Context(), "SELECT count(*) FROM countersign_activities WHERE organization_id = $1", id)
		testenv.Must(t, row.Scan(&activities))
		return activities
	}
	if here, there := count(rest, "second"), count(b, "second"); here != 0 || there != 2 {
		t.Errorf("second has %d activities in the first database and %d in its own", here, there)
	}
	if here, there := count(rest, s.By.OrganizationID), count(b, s.By.OrganizationID); here != 1 || there != 0 {
		t.Errorf("the first organization has %d activities in its own database and %d in the other", here, there)
	}

	b.Stop()
	signs(t, n, s, 2)
	if _, err := submits(t, n, second, 3); !isUnavailable(err) {
		t.Errorf("signed while the database is away: %v", err)
	}
	if status, body := clitest.Get(t, "http://"+admin+"/readyz"); status != http.StatusOK || !strings.Contains(body, `"storesAway":["b"]`) {
		t.Errorf("while one database is away: %d %s", status, body)
	}
	b.Start()
	testenv.Await(t, "the database is there again", func() bool {
		_, err := submits(t, n, second, 4)
		return err == nil
	})

	// An organization can come by a reload.
	s.Edit(t, "organizations:\n", organization("third"))
	third := in("third")
	testenv.Must(t, n.Command.Process.Signal(syscall.SIGHUP))
	testenv.Await(t, "the new organization is let in", func() bool {
		_, err := submits(t, n, third, 1)
		return err == nil
	})
	// None moves by one.
	s.Edit(t, "id: third\n    name: third\n    store: b\n", "id: third\n    name: third\n")
	out, err := exec.CommandContext(t.Context(), "countersign", "activities", "list", "--org", "third", "--config", s.Config()).CombinedOutput()
	if err == nil || !strings.Contains(string(out), `an organization stays in the store in which it has begun: "third" in the store "b"`) {
		t.Errorf("opened with another table: %v, %s", err, out)
	}
	testenv.Must(t, n.Command.Process.Signal(syscall.SIGHUP))
	testenv.Await(t, "the reload is refused", func() bool {
		_, body := clitest.Get(t, "http://"+admin+"/readyz")
		return strings.Contains(body, "configurationOlderSince")
	})
	before := signs(t, n, third, 2)
	if count(rest, "third") != 0 {
		t.Error("third has begun again")
	}
	moves(t, s, n, third)
	// A request of before is answered as then, from where the organization is now.
	if again, err := n.Post(t.Context(), "submit/sign_transaction", before.body); err != nil || !bytes.Equal(again, before.answer) || count(rest, "third") != 3 {
		t.Errorf("the same body after the move: %v\n%s, want\n%s", err, again, before.answer)
	}
	signs(t, n, third, 3)
	if here, there := count(rest, "third"), count(b, "third"); here != 4 || there != 2 {
		t.Errorf("third has %d activities where it is, and %d where it was", here, there)
	}
	n.End(t, syscall.SIGTERM)
	if !strings.Contains(n.Log.String(), "an organization stays in the store in which it has begun") {
		t.Errorf("the reload was not refused:\n%s", n.Log)
	}
}

// moves moves an organization to the database without a name while a node serves, which then reloads.
func moves(t *testing.T, s *clitest.Served, n *clitest.Node, organization *clitest.Served) {
	t.Helper()
	const at, elsewhere = "id: third\n    name: third\n", "id: third\n    name: third\n    store: b\n"
	refused := func(want string, args ...string) {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "countersign", append([]string{"store", "move", "--config", s.Config()}, args...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v, %s, want %s", args, err, out, want)
		}
	}
	refused("configure the store that third leaves", "third", "--to", "store")
	refused("is not in the store that it is to leave", "third", "--to", "b")
	s.Edit(t, at, elsewhere)
	refused(`stores has no "c"`, "third", "--to", "c")
	refused("name one of the organizations", "nowhere", "--to", "store")
	if out := s.Run(t, "store", "move", "third", "--to", "store", "--config", s.Config()); string(out) != `{"organizationId":"third","store":"store"}`+"\n" {
		t.Errorf("store move prints %s", out)
	}
	if _, err := submits(t, n, organization, 9); !isUnavailable(err) || !strings.Contains(err.Error(), "has moved") {
		t.Errorf("where it no longer is: %v", err)
	}
	s.Edit(t, elsewhere, at)
	testenv.Must(t, n.Command.Process.Signal(syscall.SIGHUP))
	testenv.Await(t, "the new table is in force", func() bool {
		_, err := submits(t, n, organization, 2)
		return err == nil
	})
}
