package serve_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/logs"
	"github.com/countersign-dev/countersign/internal/cli/setup"
	"github.com/countersign-dev/countersign/internal/cli/show"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// drill is a deployment whose store is lost and replaced while its nodes live on.
type drill struct {
	*clitest.Served
	t       *testing.T
	number  int        // of the next transaction
	kept    []recorded // answered, and in the store that is put back
	lost    []recorded // answered, and not in it
	refused [][]byte   // never answered
}

// load has a node answer some requests.
func (d *drill) load(n *clitest.Node, count int) (answered []recorded) {
	d.t.Helper()
	for range count {
		d.number++
		answered = append(answered, signs(d.t, n, d.Served, d.number))
	}
	return answered
}

// reasonOf submits a body and returns why it was refused.
func (d *drill) reasonOf(n *clitest.Node, body []byte) (activity.Reason, string) {
	d.t.Helper()
	answer, err := n.Post(d.t.Context(), "submit/sign_transaction", body)
	refused, ok := errors.AsType[*activity.Error](err)
	if !ok {
		d.t.Fatalf("answered: %s, %v", answer, err)
	}
	return refused.Reason, refused.Message
}

// closed checks that a node refuses everything but reads.
func (d *drill) closed(n *clitest.Node) {
	d.t.Helper()
	d.number++
	fresh := clitest.SignBody(d.By.OrganizationID, d.Signer, clitest.NthTransaction(d.number), time.Now())
	d.refused = append(d.refused, fresh)
	bodies := [][]byte{fresh}
	for _, one := range append(d.lost, d.kept...) {
		bodies = append(bodies, one.body)
	}
	for _, body := range bodies {
		if reason, message := d.reasonOf(n, body); reason != activity.ReasonUnavailable || !strings.Contains(message, "takes no requests") {
			d.t.Errorf("with a conflict: %s: %s", reason, message)
		}
	}
	for _, one := range d.kept {
		query := console.JSONLine(map[string]string{"organizationId": d.By.OrganizationID, "activityId": one.id})
		if got, err := n.Post(d.t.Context(), "query/get_activity", query); err != nil || !bytes.Equal(got, one.answer) {
			d.t.Errorf("reads go on: %s, %v", got, err)
		}
	}
}

// reopened checks that after the acceptance nothing that was answered is carried out again,
// what is recorded is answered as before, and new requests are carried out.
func (d *drill) reopened(nodes ...*clitest.Node) {
	d.t.Helper()
	for _, n := range nodes {
		testenv.Await(d.t, "the node to see the acceptance", func() bool {
			reason, _ := d.reasonOf(n, d.lost[0].body)
			return reason != activity.ReasonUnavailable
		})
		for _, one := range d.lost {
			if reason, message := d.reasonOf(n, one.body); reason != activity.ReasonInvalidTime || !strings.Contains(message, "has lost what was answered") {
				d.t.Errorf("what was answered before: %s: %s", reason, message)
			}
		}
		for _, one := range d.kept {
			mustHave(d.t, n, one)
		}
		for _, body := range d.refused {
			if reason, _ := d.reasonOf(n, body); reason != activity.ReasonInvalidTime {
				d.t.Errorf("what was refused before: %s", reason)
			}
		}
		d.kept = append(d.kept, d.ahead(n))
	}
}

// ahead submits requests whose time is as far ahead as it may be until one is carried out:
// the first that is later than the acceptance and the skew.
func (d *drill) ahead(n *clitest.Node) recorded {
	d.t.Helper()
	var done recorded
	testenv.Await(d.t, "a request that was made after the acceptance", func() bool {
		d.number++
		body := clitest.SignBody(d.By.OrganizationID, d.Signer, clitest.NthTransaction(d.number), time.Now().Add(countersign.DefaultMaxRequestSkew-time.Second))
		answer, err := n.Post(d.t.Context(), "submit/sign_transaction", body)
		if err != nil {
			if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonInvalidTime {
				d.t.Fatal(err)
			}
			return false
		}
		var got clitest.Answer
		testenv.JSON(d.t, answer, &got)
		done = recorded{body, got.Activity.ID, answer}
		return true
	})
	return done
}

// accepts runs log accept, which shows the conflict, and again to confirm it.
func (d *drill) accepts(config string) logs.ConflictLine {
	d.t.Helper()
	var shown, accepted logs.ConflictLine
	testenv.JSON(d.t, d.Run(d.t, "log", "accept", "--config", config), &shown)
	out := d.Run(d.t, "log", "accept", "--config", config, "--confirm", shown.Confirm)
	if err := json.Unmarshal(out, &accepted); err != nil || !accepted.Accepted || accepted.Confirm != shown.Confirm {
		d.t.Errorf("%s, %v", out, err)
	}
	return shown
}

// verified checks the log, and that it has as many leaves for each activity as it should.
func (d *drill) verified(acceptances int) {
	d.t.Helper()
	out := d.Run(d.t, "log", "verify", "--config", d.Config())
	if want := fmt.Sprintf(`"leaves":%d,"records":%d`, len(d.kept)+acceptances, len(d.kept)); !bytes.Contains(out, []byte(want)) {
		d.t.Errorf("%s, want %s", out, want)
	}
}

func (d *drill) ends(n *clitest.Node, signal syscall.Signal) {
	d.t.Helper()
	if status := n.End(d.t, signal); signal == syscall.SIGTERM && status != console.ExitSuccess {
		d.t.Errorf("exit status %d: %s", status, n.Log)
	}
}

// readyz returns the answer of the admin address.
func readyz(t *testing.T, admin string) (int, string) {
	t.Helper()
	return clitest.Get(t, "http://"+admin+"/readyz")
}

// storePlace is where the store of a drill is. No node runs when its functions are called.
type storePlace struct {
	save  func() (putBack func())
	empty func()
}

// onBothStores does a drill with a bolt file and with PostgreSQL.
func onBothStores(t *testing.T, do func(t *testing.T, d *drill, at storePlace)) {
	t.Run("bolt", func(t *testing.T) {
		testenv.Slow(t)
		for range testenv.Draws(t, 1) {
			d := &drill{Served: clitest.NewServed(t), t: t}
			file := filepath.Join(d.Dir, setup.StoreName)
			do(t, d, storePlace{
				save: func() func() {
					older := contentOf(t, file)
					return func() { writes(t, d.Served, file, older) }
				},
				empty: func() {
					testenv.Must(t, os.Remove(file))
				},
			})
		}
	})
	t.Run("postgres", func(t *testing.T) {
		server := testenv.Postgres(t)
		folder, _, _ := strings.Cut(strings.TrimPrefix(server.DSN, "host="), " ")
		for round := range testenv.Draws(t, 1) {
			name := fmt.Sprintf("state%d", round)
			administrator := connected(t, server.DSN)
			execute := executes(t, administrator)
			execute("CREATE DATABASE " + name)
			d := &drill{Served: clitest.NewServed(t), t: t}
			d.StoreAt(t, "postgres:///"+name+"?user=postgres&host="+folder)
			do(t, d, storePlace{
				save: func() func() {
					saved := copyOf(t, execute, administrator, name)
					return func() { replaced(t, execute, administrator, name, saved) }
				},
				empty: func() { execute("DROP DATABASE "+name, "CREATE DATABASE "+name) },
			})
		}
	})
}

func executes(t *testing.T, administrator *pgx.Conn) func(statements ...string) {
	return func(statements ...string) {
		t.Helper()
		for _, statement := range statements {
			if _, err := administrator.Exec(t.Context(), statement); err != nil {
				t.Fatalf("%s: %v", statement, err)
			}
		}
	}
}

// TestLogDrillRestored puts an older store under a deployment that lives on.
func TestLogDrillRestored(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, d *drill, at storePlace) {
		n := d.Start(t, "--admin", "none")
		d.kept = d.load(n, 1+rand.IntN(4))
		d.ends(n, syscall.SIGTERM)
		putBack := at.save()
		n = d.Start(t, "--admin", "none")
		d.lost = d.load(n, 1+rand.IntN(4))
		d.ends(n, syscall.SIGTERM)
		putBack()

		admin := testenv.FreeAddress(t)
		n = d.Start(t, "--admin", admin)
		d.closed(n)
		if status, body := readyz(t, admin); status != http.StatusServiceUnavailable || !strings.Contains(body, `"conflicts":["`+d.By.OrganizationID+`"]`) {
			t.Errorf("/readyz: %d %s", status, body)
		}
		if _, metrics := clitest.Get(t, "http://"+admin+"/metrics"); !strings.Contains(metrics, "countersign_log_conflicts 1\n") || !strings.Contains(metrics, "countersign_ready 0\n") {
			t.Error("the metrics have no conflict")
		}
		shown := d.accepts(d.Config()) // while serve runs
		if want := fmt.Sprintf("%d leaves missing at least", len(d.lost)); shown.Missing != want {
			t.Errorf("%+v, want %s", shown, want)
		}
		d.reopened(n)
		if status, body := readyz(t, admin); status != http.StatusOK || body != `{"status":"ready"}` {
			t.Errorf("/readyz: %d %s", status, body)
		}
		d.ends(n, syscall.SIGTERM)
		d.verified(1)
		n = d.Start(t, "--admin", "none") // the memory goes on from there
		d.reopened(n)
		d.ends(n, syscall.SIGTERM)
		d.verified(1)
		if strings.Contains(n.Log.String(), "conflict") {
			t.Errorf("after the acceptance: %s", n.Log)
		}
	})
}

func contentOf(t *testing.T, path string) []byte {
	t.Helper()
	content := testenv.Read(t, path)
	return content
}

// TestLogDrillEmptiedVolume removes the store: serve refuses to start without one and to
// make a new one, until the loss was confirmed.
func TestLogDrillEmptiedVolume(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, d *drill, at storePlace) {
		n := d.Start(t, "--admin", "none")
		d.lost = d.load(n, 1+rand.IntN(4))
		d.ends(n, syscall.SIGTERM)
		at.empty()
		before := contents(t, d.Dir)
		for _, args := range [][]string{{"serve"}, {"serve", "--new-store"}, {"serve", "--new-store", "--check"}} {
			out, err := exec.CommandContext(t.Context(), "countersign", append(args, "--config", d.Config())...).CombinedOutput()
			if want := fmt.Sprintf("remembers a log of %d leaves of organization %s", len(d.lost), d.By.OrganizationID); err == nil || len(args) > 1 && (!bytes.Contains(out, []byte(want)) || !bytes.Contains(out, []byte("countersign log accept"))) {
				t.Errorf("%q: %v: %s", args, err, out)
			}
			mustStay(t, fmt.Sprint(args), d.Dir, before)
		}
		d.accepts(d.Config())
		n = d.Start(t, "--admin", "none", "--new-store")
		d.reopened(n)
		d.ends(n, syscall.SIGTERM)
		d.verified(1)
		n = d.Start(t, "--admin", "none")
		d.reopened(n)
		d.ends(n, syscall.SIGTERM)
	})
}

// TestLogDrillKilled kills a node between a commit and its memory: the memory is behind, and
// that is no conflict.
func TestLogDrillKilled(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, d *drill, _ storePlace) {
		for range 4 {
			n := d.Start(t, "--admin", "none")
			for range rand.IntN(3) {
				d.kept = append(d.kept, d.load(n, 1)...)
				time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond) // wherever that is in the second
			}
			d.kept = append(d.kept, d.load(n, 1+rand.IntN(4))...)
			d.ends(n, syscall.SIGKILL)
			if strings.Contains(n.Log.String(), "conflict") {
				t.Errorf("a false alarm: %s", n.Log)
			}
		}
		n := d.Start(t, "--admin", "none")
		for _, one := range d.kept {
			mustHave(t, n, one)
		}
		d.ends(n, syscall.SIGTERM)
		d.verified(0)
	})
}

// TestLogDrillOrganizations removes an organization and adds it again, and puts back a store
// in which only one of two organizations has lost something: the other goes on.
func TestLogDrillOrganizations(t *testing.T) {
	t.Parallel()
	onBothStores(t, func(t *testing.T, d *drill, at storePlace) {
		second := d.secondOrganization(t)
		admin := testenv.FreeAddress(t)
		n := d.Start(t, "--admin", admin)
		d.kept = d.load(n, 1+rand.IntN(4))
		second.kept = second.load(asOrganization(n, second), 1+rand.IntN(4))
		d.ends(n, syscall.SIGTERM)

		both := contentOf(t, d.Config())
		alone, _, _ := bytes.Cut(both, []byte("  - id: \""+second.By.OrganizationID))
		writes(t, d.Served, d.Config(), alone)
		n = d.Start(t, "--admin", admin)
		d.kept = append(d.kept, d.load(n, 1)...)
		d.ends(n, syscall.SIGTERM)
		writes(t, d.Served, d.Config(), both)
		n = d.Start(t, "--admin", admin)
		second.kept = append(second.kept, second.load(asOrganization(n, second), 1)...)
		if status, body := readyz(t, admin); status != http.StatusOK || body != `{"status":"ready"}` {
			t.Errorf("removed and added: %d %s", status, body)
		}
		d.ends(n, syscall.SIGTERM)

		putBack := at.save()
		n = d.Start(t, "--admin", admin)
		d.lost = d.load(n, 1+rand.IntN(3))
		d.ends(n, syscall.SIGTERM)
		putBack()
		n = d.Start(t, "--admin", admin)
		d.closed(n)
		second.kept = append(second.kept, second.load(asOrganization(n, second), 1)...)
		if status, body := readyz(t, admin); status != http.StatusOK || body != `{"status":"ready","conflicts":["`+d.By.OrganizationID+`"]}` {
			t.Errorf("one of two: %d %s", status, body)
		}
		if _, metrics := clitest.Get(t, "http://"+admin+"/metrics"); !strings.Contains(metrics, "countersign_log_conflicts 1\n") || !strings.Contains(metrics, "countersign_ready 1\n") {
			t.Error("the metrics of one of two")
		}
		d.accepts(d.Config())
		d.reopened(n)
		d.ends(n, syscall.SIGTERM)
	})
}

func writes(t *testing.T, s *clitest.Served, path string, content []byte) {
	t.Helper()
	testenv.Write(t, path, content)
}

// as returns the node for the requests of another organization.
func asOrganization(n *clitest.Node, d *drill) *clitest.Node {
	other := *n
	other.By = d.By
	return &other
}

// secondOrganization adds an organization to the configuration, and returns a drill of it.
func (d *drill) secondOrganization(t *testing.T) *drill {
	t.Helper()
	second := &drill{Served: clitest.NewServed(t), t: t}
	_, organization, _ := bytes.Cut(contentOf(t, second.Config()), []byte("organizations:\n"))
	organization, _, _ = bytes.Cut(organization, []byte("otp:\n"))
	whole, _, _ := bytes.Cut(contentOf(t, d.Config()), []byte("otp:\n"))
	writes(t, d.Served, d.Config(), append(bytes.Clone(whole), organization...))
	var key show.KeyLine
	line := d.Run(t, "keys", "generate", "--config", d.Config(), "--org", second.By.OrganizationID, "--curve", "CURVE_SECP256K1")
	testenv.JSON(t, line, &key)
	second.Signer = key.PrivateKeyID
	return second
}

// TestLogDrillReplica promotes a copy of the database that lacks the last commits, under two
// nodes of which one has seen them: from the moment that this one has checked, both refuse.
func TestLogDrillReplica(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	folder, _, _ := strings.Cut(strings.TrimPrefix(server.DSN, "host="), " ")
	for round := range testenv.Draws(t, 1) {
		name := fmt.Sprintf("state%d", round)
		administrator := connected(t, server.DSN)
		execute := executes(t, administrator)
		execute("CREATE DATABASE " + name)
		d := &drill{Served: clitest.NewServed(t), t: t}
		d.StoreAt(t, "postgres:///"+name+"?user=postgres&host="+folder)
		other := d.secondNode(t)
		saw := d.Start(t, "--admin", "none")
		d.kept = d.load(saw, 1+rand.IntN(4))
		less := d.startAt(t, other)
		replicated := copyOf(t, execute, administrator, name)
		d.lost = d.load(saw, 1+rand.IntN(4))
		awaitMemory(t, d, len(d.kept)+len(d.lost))

		replaced(t, execute, administrator, name, replicated)
		d.closed(saw) // it checks before it takes a lease
		d.closed(less)
		d.accepts(d.Config())
		d.reopened(saw, less)
		for _, n := range []*clitest.Node{saw, less} {
			d.ends(n, syscall.SIGTERM)
		}
		d.verified(1)
		for _, config := range []string{d.Config(), other} {
			n := d.startAt(t, config)
			d.reopened(n)
			d.ends(n, syscall.SIGTERM)
		}
		d.verified(1)
	}
}

// secondNode writes the configuration of another node on the same database, with a memory
// of its own.
func (d *drill) secondNode(t *testing.T) string {
	t.Helper()
	path := filepath.Join(d.Dir, "other.yaml")
	content := bytes.Replace(contentOf(t, d.Config()), []byte("keyFile: log.pem"), []byte("keyFile: log.pem, memory: other.memory"), 1)
	writes(t, d.Served, path, content)
	return path
}

// startAt starts a node with another configuration.
func (d *drill) startAt(t *testing.T, config string) *clitest.Node {
	t.Helper()
	at := *d.Served
	at.Named = filepath.Base(config)
	return at.Start(t, "--admin", "none")
}

// awaitMemory waits until the first node remembers so many leaves.
func awaitMemory(t *testing.T, d *drill, leaves int) {
	t.Helper()
	want := fmt.Sprintf("log %q %d ", d.By.OrganizationID, leaves)
	testenv.Await(t, "the memory of the last commit", func() bool {
		content, err := os.ReadFile(filepath.Join(d.Dir, "log.memory"))
		return err == nil && bytes.Contains(content, []byte(want))
	})
}

// copyOf copies a database as a replica that stops here has it. Its connections are broken.
func copyOf(t *testing.T, execute func(...string), administrator *pgx.Conn, name string) string {
	t.Helper()
	disconnected(t, administrator, name, func() { execute("CREATE DATABASE " + name + "_replica TEMPLATE " + name) })
	return name + "_replica"
}

// replaced gives a database's name to another one.
func replaced(t *testing.T, execute func(...string), administrator *pgx.Conn, name, by string) {
	t.Helper()
	disconnected(t, administrator, name, func() {
		execute("ALTER DATABASE "+name+" RENAME TO "+name+"_lost", "ALTER DATABASE "+by+" RENAME TO "+name)
	})
}

// disconnected runs do while no one can connect to a database.
func disconnected(t *testing.T, administrator *pgx.Conn, name string, do func()) {
	t.Helper()
	ctx := context.Background()
	if _, err := administrator.Exec(ctx, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false"); err != nil {
		t.Fatal(err)
	}
	testenv.Await(t, "the end of the connections", func() bool {
		connections := 0
		err := administrator.QueryRow(ctx, `
			SELECT count(*) FROM (SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1) AS ended`, name).Scan(&connections)
		return err == nil && connections == 0
	})
	do()
	for _, database := range []string{name, name + "_lost", name + "_replica"} {
		_, _ = administrator.Exec(ctx, "ALTER DATABASE "+database+" ALLOW_CONNECTIONS true") // those that exist
	}
}
