package policy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/postgres"
)

// If this variable is set, TestHammerVictim is a node that hammers a limit until it is done
// or killed.
const hammerVariable = "COUNTERSIGN_TEST_HAMMER"

// hammerNode configures such a process.
type hammerNode struct {
	Bolt, Postgres string // the store: one of the two
	PublicKey      string // of the API key
	Bodies         []countersign.SignedBody
	Calls          bool // sign without a stamp instead of submitting the bodies
}

func (n *hammerNode) store(t testing.TB) store.Store {
	t.Helper()
	var opened store.Store
	var err error
	if n.Bolt != "" {
		opened, err = bolt.Open(n.Bolt)
	} else {
		opened, err = postgres.Open(t.Context(), n.Postgres)
	}
	testenv.Must(t, err)
	return opened
}

// engine returns the node's engine. Leases last a second; hsm runs before each signature.
func (n *hammerNode) engine(t testing.TB, now func() time.Time, hsm func(context.Context) error) *enginetest.Fixture {
	t.Helper()
	return enginetest.New(t, func(config *countersign.Config) {
		directory, err := access.NewDirectory([]access.OrganizationConfig{{
			ID: enginetest.Organization, Users: []access.UserConfig{{
				ID: "user-1", Name: "ci", APIKeys: []access.APIKeyConfig{{Curve: stamp.CurveP256, PublicKey: n.PublicKey}},
			}},
		}})
		testenv.Must(t, err)
		config.Directory, config.Policy = directory, load(t, hammered)
		config.Store, config.LeaseTTL, config.Now = n.store(t), time.Second, now
		config.Keystore.(*enginetest.CountingKeystore).Before = hsm
	})
}

// TestHammerVictim is one of the processes. It prints a line before each signature, and one
// for each answered body.
func TestHammerVictim(t *testing.T) {
	text := os.Getenv(hammerVariable)
	if text == "" {
		return // not such a process
	}
	var n hammerNode
	testenv.JSON(t, []byte(text), &n)
	var calls atomic.Int64
	f := n.engine(t, time.Now, func(context.Context) error {
		fmt.Println("signing")
		if calls.Add(1)%3 == 2 {
			return errors.New("the token is away")
		}
		return nil
	})
	var clients sync.WaitGroup
	for client := range hammerers {
		clients.Go(func() {
			for i := client; i < len(n.Bodies); i += hammerers {
				if n.send(t.Context(), f.Engine, i) == nil {
					fmt.Println("answered", i)
				}
			}
		})
	}
	clients.Wait()
	os.Exit(0)
}

func (n *hammerNode) send(ctx context.Context, to *countersign.Engine, i int) error {
	if n.Calls {
		unsigned := strings.Replace(enginetest.Unsigned, "82ea60", fmt.Sprintf("82%04x", 60_000+i), 1) // the gas limit
		_, err := to.As(access.User{ID: "machine"}, "").SignTransaction(ctx, enginetest.Organization, activity.SignTransactionIntent{
			SignWith: enginetest.Address, UnsignedTransaction: unsigned, Type: activity.TransactionTypeEthereum})
		return err
	}
	_, err := to.Submit(ctx, n.Bodies[i])
	return err
}

// answers collects the bodies that processes answered with a signature.
type answers struct {
	mu     sync.Mutex
	bodies map[string]bool
	calls  map[string]bool // which have no body: by their number
}

// run runs a process, and calls then before its nth signature, if there is one. It returns
// when the process has ended.
func (n *hammerNode) run(t *testing.T, seen *answers, nth int, then func(*os.Process)) {
	t.Helper()
	text, err := json.Marshal(n)
	if err != nil {
		t.Error(err)
		return
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHammerVictim$")
	command.Env = append(os.Environ(), hammerVariable+"="+string(text))
	pipe, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	signing := 0
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		line := lines.Text()
		switch {
		case line == "signing":
			if signing++; signing == nth {
				then(command.Process)
			}
		case strings.HasPrefix(line, "answered "):
			seen.add(strings.TrimPrefix(line, "answered "), n.Calls)
		default:
			t.Log(line)
		}
	}
	_ = command.Wait() // killed, or done
}

func (a *answers) add(body string, call bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if call {
		if a.calls == nil {
			a.calls = map[string]bool{}
		}
		a.calls[body] = true
		return
	}
	a.bodies[body] = true
}

// newHammerNode returns a node with bodies that are live at now, and the key that signed them.
func newHammerNode(t *testing.T, n hammerNode, now time.Time) (*hammerNode, *enginetest.APIKey) {
	t.Helper()
	f := enginetest.New(t)
	n.PublicKey = f.APIKey.PublicKey
	n.Bodies = n.bodies(f, f.APIKey, now)
	return &n, f.APIKey
}

func (*hammerNode) bodies(f *enginetest.Fixture, by *enginetest.APIKey, now time.Time) []countersign.SignedBody {
	bodies := make([]countersign.SignedBody, 2*hammerers)
	for i := range bodies {
		bodies[i] = by.Sign(f.Body(enginetest.Request{At: now.Add(-time.Duration(i) * time.Second)}))
	}
	return bodies
}

func kill(process *os.Process) { _ = process.Kill() }

// TestHammeredLimitKilled runs processes of 64 clients that hammer one limit in one file,
// with keys that fail. Each process is killed with SIGKILL before a signature, and the next
// takes over its leases. In the end exactly as many bodies are signed as the limit allows,
// including all that were answered, and a day later there is room for as many again.
func TestHammeredLimitKilled(t *testing.T) {
	testenv.Slow(t)
	n, by := newHammerNode(t, hammerNode{Bolt: filepath.Join(t.TempDir(), "state.db")}, time.Now())
	seen := &answers{bodies: map[string]bool{}}
	for nth := 1; nth <= 6; nth++ {
		n.run(t, seen, nth, kill)
	}
	n.finish(t, seen, time.Now)
	tomorrow := func() time.Time { return time.Now().Add(25 * time.Hour) }
	n.Bodies = n.bodies(enginetest.New(t), by, tomorrow())
	n.finish(t, &answers{bodies: map[string]bool{}}, tomorrow)
}

// TestHammeredCallsKilled is the same for calls without a stamp. A killed call is not
// repeated: its charge stays until the day is over.
func TestHammeredCallsKilled(t *testing.T) {
	testenv.Slow(t)
	n, by := newHammerNode(t, hammerNode{Bolt: filepath.Join(t.TempDir(), "state.db"), Calls: true}, time.Now())
	seen, all := &answers{bodies: map[string]bool{}}, n.Bodies
	n.Bodies = all[:3]
	n.run(t, seen, 1, kill)
	n.run(t, seen, 1, kill)
	n.Bodies = all
	n.run(t, seen, 0, nil) // to its end
	f := n.engine(t, time.Now, nil)
	var err error
	for i := range hammerRoom + 1 {
		err = n.send(t.Context(), f.Engine, 1000+i) // calls that were not made before
	}
	if refused, ok := errors.AsType[*activity.Error](err); !ok || refused.Reason != activity.ReasonLimitExceeded {
		t.Errorf("more calls than there is room for: %v", err)
	}
	counted(t, f.Config.Store)
	count, err := recordedIn(t.Context(), f.Config.Store.(store.Lister))
	if least := hammerRoom - 2*3; err != nil || count < least || count > hammerRoom || len(seen.calls) > count {
		t.Errorf("%d calls are recorded and %d were answered, the limit has room for %d to %d: %v", count, len(seen.calls), least, hammerRoom, err)
	}
	testenv.Must(t, f.Engine.Close())
	n.Calls = false
	tomorrow := func() time.Time { return time.Now().Add(25 * time.Hour) }
	n.Bodies = n.bodies(enginetest.New(t), by, tomorrow())
	n.finish(t, &answers{bodies: map[string]bool{}}, tomorrow)
}

// TestHammeredLimitOfNodesKilled runs two nodes over one PostgreSQL until, before a
// signature, one of them is killed, all connections are terminated, or the database is
// killed and restarted. Then two more nodes take over, of which one is killed.
func TestHammeredLimitOfNodesKilled(t *testing.T) {
	testenv.Slow(t)
	server := testenv.Postgres(t)
	for name, then := range map[string]func(*os.Process){
		"node":        kill,
		"connections": func(*os.Process) { executes(t, server.DSN, endConnections) },
		"database":    func(*os.Process) { server.Kill(); server.Start() },
	} {
		t.Run(name, func(t *testing.T) {
			executes(t, server.DSN, "CREATE DATABASE "+name)
			dsn := strings.Replace(server.DSN, "dbname=postgres", "dbname="+name, 1)
			n, _ := newHammerNode(t, hammerNode{Postgres: dsn}, time.Now())
			seen := &answers{bodies: map[string]bool{}}
			for _, what := range []func(*os.Process){then, kill} {
				var nodes sync.WaitGroup
				nodes.Go(func() { n.run(t, seen, 2, what) })
				nodes.Go(func() { n.run(t, seen, 0, nil) })
				nodes.Wait()
			}
			n.finish(t, seen, time.Now)
		})
	}
}

// endConnections terminates all connections but its own.
const endConnections = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"

// executes executes an SQL statement.
func executes(t *testing.T, dsn, statement string) {
	connection, err := pgx.Connect(t.Context(), dsn)
	if err == nil {
		_, err = connection.Exec(t.Context(), statement)
		err = errors.Join(err, connection.Close(t.Context()))
	}
	if err != nil {
		t.Error(err)
	}
}

// finish sends every body once more, with a key that works. It expects that the limit is
// used up, that each signature is charged once, and that answered bodies are still
// answered.
func (n *hammerNode) finish(t *testing.T, seen *answers, now func() time.Time) {
	t.Helper()
	f := n.engine(t, now, nil)
	signed := 0
	for i := range n.Bodies {
		err := n.send(t.Context(), f.Engine, i)
		refused, ok := errors.AsType[*activity.Error](err)
		switch {
		case err == nil:
			signed++
		case !ok || refused.Reason != activity.ReasonLimitExceeded:
			t.Error(err)
		case seen.bodies[fmt.Sprint(i)]:
			t.Errorf("body %d was answered before, and is now refused: %v", i, err)
		}
	}
	if signed != hammerRoom || len(seen.bodies) > hammerRoom {
		t.Errorf("%d bodies are signed and %d were answered, the limit has room for %d", signed, len(seen.bodies), hammerRoom)
	}
	counted(t, f.Config.Store)
	testenv.Must(t, f.Engine.Close())
}

// recordedIn counts the activities in a store.
func recordedIn(ctx context.Context, s store.Lister) (count int, err error) {
	for filter := (store.Filter{Limit: store.MaxList}); ; {
		page, err := s.List(ctx, enginetest.Organization, filter)
		if err != nil || len(page) == 0 {
			return count, err
		}
		count += len(page)
		filter.Before = page[len(page)-1].ID
	}
}
