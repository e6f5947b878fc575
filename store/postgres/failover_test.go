package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
)

// TestFailover has two nodes carry out requests while their sessions are ended, the
// primary is demoted without a restart, its synchronous standby promoted, and the new
// primary crashes. After each, requests go on; no body is carried out twice, and no answer
// is lost.
func TestFailover(t *testing.T) {
	for round := range testenv.Draws(t, 1) {
		t.Run(fmt.Sprint("round ", round), failOver)
	}
}

func failOver(t *testing.T) {
	primary := testenv.Postgres(t)
	standby := primary.Standby()
	alter(t, primary, "synchronous_standby_names", "*")
	testenv.Await(t, "the standby is synchronous", func() bool {
		return count(t, primary.DSN, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1
	})
	address := fmt.Sprintf("host=%s,%s port=5432,5432 user=postgres dbname=postgres", primary.Folder(), standby.Folder())
	d := newDrill(t, address, address+" target_session_attrs=read-write")
	after := func(what string) {
		t.Helper()
		began := time.Now()
		d.goesOn()
		t.Logf("%s: all clients had an answer after %v", what, time.Since(began).Round(time.Millisecond))
	}
	after("start")
	terminate(t, primary)
	after("all sessions ended")
	alter(t, primary, "default_transaction_read_only", "on")
	standby.Promote()
	after("primary read-only, standby promoted")
	terminate(t, standby)
	standby.Crash()
	standby.Start()
	after("new primary crashed")
	d.end(standby.DSN)
}

func alter(t *testing.T, server *testenv.PostgreSQL, setting, value string) {
	t.Helper()
	execute(t, server.DSN, fmt.Sprintf("ALTER SYSTEM SET %s = '%s'", setting, value))
	execute(t, server.DSN, "SELECT pg_reload_conf()")
}

func terminate(t *testing.T, server *testenv.PostgreSQL) {
	t.Helper()
	execute(t, server.DSN, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")
}

// drill has clients send bodies to nodes, each until it is answered.
type drill struct {
	t     *testing.T
	nodes []*postgres.Store
	stop  context.CancelFunc
	all   sync.WaitGroup

	mu       sync.Mutex
	answered map[string]string // the ids of the activities, by body
	progress []int             // answers, by client
}

func newDrill(t *testing.T, addresses ...string) *drill {
	d := &drill{t: t, answered: map[string]string{}, progress: make([]int, 8)}
	for _, address := range addresses {
		d.nodes = append(d.nodes, open(t, address))
	}
	ctx, stop := context.WithCancel(t.Context())
	d.stop = stop
	for client := range d.progress {
		d.all.Go(func() { d.send(ctx, client) })
	}
	return d
}

// send sends one body after the other, until the drill ends.
func (d *drill) send(ctx context.Context, client int) {
	for n := 0; ctx.Err() == nil; n++ {
		body := fmt.Sprintf("%04d %06d", client, n)
		id, err := "", error(nil)
		for attempt := 0; id == "" && ctx.Err() == nil; attempt++ {
			id, err = d.attempt(ctx, d.nodes[(client+attempt)%len(d.nodes)], body, fmt.Sprint(body, " ", attempt))
			if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrUnavailable) && !errors.Is(err, store.ErrLeaseLost) {
				d.t.Errorf("body %s: %v", body, err)
			}
			if id == "" {
				pause(ctx)
			}
		}
		d.mu.Lock()
		if id != "" {
			d.answered[body] = id
			d.progress[client]++
		}
		d.mu.Unlock()
	}
}

// pause is how long a client waits before it sends a body again.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

// attempt does what an engine does with a request. It returns the id of its activity.
func (d *drill) attempt(ctx context.Context, s *postgres.Store, body, id string) (string, error) {
	claim := claimOf(body)
	claim.LeaseTTL = time.Second
	claim.Now = claim.Now.Add(time.Second)
	if s == d.nodes[0] { // whose clock is two seconds behind that of the other
		claim.Now = claim.Now.Add(-2 * time.Second)
	}
	begun, err := s.Begin(ctx, claim, nil)
	switch {
	case err != nil:
		return "", err
	case begun.Recorded != nil:
		return begun.Recorded.ID, nil
	case begun.Wait != nil:
		return "", begun.Wait(ctx)
	}
	activity := loggedAs(d.t, body, id)
	if err := s.Complete(ctx, *begun.Lease, activity, nil); err != nil {
		return "", err
	}
	return id, nil
}

// goesOn waits until each client has had two more answers: the second was asked for after
// the call.
func (d *drill) goesOn() {
	d.t.Helper()
	d.mu.Lock()
	before := slices.Clone(d.progress)
	d.mu.Unlock()
	testenv.Await(d.t, "each client has an answer", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		for client, n := range d.progress {
			if n < before[client]+2 {
				return false
			}
		}
		return true
	})
	for _, one := range d.nodes {
		testenv.Await(d.t, "the node is ready", func() bool { return one.Ping(d.t.Context()) == nil })
	}
}

// end expects that a database has each answer, and no other activity of its body.
func (d *drill) end(dsn string) {
	d.stop()
	d.all.Wait()
	d.t.Logf("%d answers", len(d.answered))
	s := open(d.t, dsn)
	for _, body := range slices.Sorted(maps.Keys(d.answered)) {
		found, err := store.Recorded(d.t.Context(), s, claimOf(body))
		if err != nil || found == nil || found.ID != d.answered[body] {
			d.t.Errorf("body %s was answered %q, and is %+v, %v", body, d.answered[body], found, err)
		}
	}
	activities := count(d.t, dsn, "SELECT count(*) FROM countersign_activities WHERE id IS NOT NULL")
	leaves := count(d.t, dsn, "SELECT count(*) FROM countersign_log_leaves")
	bodies := count(d.t, dsn, "SELECT count(DISTINCT left(id, 11)) FROM countersign_log_leaves")
	if activities != leaves || bodies != leaves || activities < len(d.answered) {
		d.t.Errorf("%d activities and %d leaves, of %d bodies; %d were answered", activities, leaves, bodies, len(d.answered))
	}
	head, err := s.LogHead(d.t.Context(), "org")
	if err == nil {
		err = audit(d.t, s, head.Tree())
	}
	if err != nil {
		d.t.Error(err)
	}
}

// TestReadOnlyServer: a store whose only server becomes read-only still reads, says that
// it is not ready, and writes again by itself. Opened meanwhile, it is not ready either.
func TestReadOnlyServer(t *testing.T) {
	server := testenv.Postgres(t)
	s := open(t, server.DSN)
	complete(t, s, "before")
	alter(t, server, "default_transaction_read_only", "on")
	testenv.Await(t, "the store is not ready", func() bool { return errors.Is(s.Ping(t.Context()), store.ErrUnavailable) })
	late := open(t, server.DSN)
	for name, one := range map[string]*postgres.Store{"demoted": s, "opened late": late} {
		if err := one.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "25006") {
			t.Errorf("%s: ready with %v", name, err)
		}
		if _, err := one.Get(t.Context(), "org", "before"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := one.Begin(t.Context(), claimOf("new"), nil); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: begun with %v", name, err)
		}
	}
	alter(t, server, "default_transaction_read_only", "off")
	for _, one := range []*postgres.Store{s, late} {
		testenv.Await(t, "the store is ready", func() bool { return one.Ping(t.Context()) == nil })
	}
	complete(t, s, "after")
}

// TestWaitForStandbyEnds: a commit that no longer waits for its synchronous standby is
// not answered as done. The same body finds what happened.
func TestWaitForStandbyEnds(t *testing.T) {
	server := testenv.Postgres(t)
	s := open(t, server.DSN)
	complete(t, s, "before")
	for name, do := range map[string]func(body string) error{
		"statement": func(body string) error { return completeTaken(t, s, body, activityOf(body), nil) },
		"pipeline":  func(body string) error { return completeTaken(t, s, body, loggedOf(t, body), nil) },
		"transaction": func(body string) error {
			return completeTaken(t, s, body, loggedOf(t, body), without(func(otpledger.Ledger) error { return nil }))
		},
	} {
		for _, end := range []string{"pg_cancel_backend", "pg_terminate_backend"} {
			t.Run(name+" "+end, func(t *testing.T) {
				alter(t, server, "synchronous_standby_names", "*")
				body, outcome := waits(t, server, do)
				execute(t, server.DSN, "SELECT "+end+"(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
				if err := <-outcome; !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("answered with %v, want ErrUnavailable", err)
				}
				alter(t, server, "synchronous_standby_names", "")
				if begun, err := s.Begin(t.Context(), claimOf(body), nil); err != nil || begun.Recorded == nil || begun.Recorded.ID != body {
					t.Errorf("the same body: %+v, %v", begun, err)
				}
			})
		}
	}
}

// waits calls do with one body after the other until a commit waits for the standby: the
// server takes its time to follow a setting.
func waits(t *testing.T, server *testenv.PostgreSQL, do func(body string) error) (body string, outcome chan error) {
	t.Helper()
	begin := func() {
		body, outcome = fmt.Sprint(time.Now().UnixNano()), make(chan error, 1)
		go func(body string, outcome chan error) { outcome <- do(body) }(body, outcome)
	}
	begin()
	testenv.Await(t, "a commit waits", func() bool {
		select {
		case err := <-outcome:
			testenv.Must(t, err)
			begin()
		default:
		}
		return count(t, server.DSN, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") == 1
	})
	return body, outcome
}

// completeTaken completes a request, whose lease waits for no disk.
func completeTaken(t *testing.T, s *postgres.Store, body string, activity store.Activity, change store.Change) error {
	begun, err := s.Begin(t.Context(), claimOf(body), nil)
	if err != nil {
		return err
	}
	return s.Complete(t.Context(), *begun.Lease, activity, change)
}
