package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/postgres"
	"github.com/countersign-dev/countersign/translog"
)

// pair is two databases with what serves organizations from them.
type pair struct{ rest, b *postgres.Store }

// node returns what a node with a table has.
func (p pair) node(t testing.TB, organization, name string) *store.Sharded {
	t.Helper()
	node, err := store.NewSharded(t.Context(), map[string]store.Full{"": p.rest, "b": p.b}, map[string]string{organization: name})
	testenv.Must(t, err)
	return node
}

func quietly(string) {}

// request is one of an organization, which is charged.
type request struct {
	organization, body string
	amount             int64
}

func (r request) claim() store.Claim {
	return store.Claim{OrganizationID: r.organization, Fingerprint: sha256.Sum256([]byte(r.body)), LeaseTTL: time.Minute, Now: time.Now(), Sent: time.Now()}
}

func (r request) charges() *store.Charges {
	return &store.Charges{By: r.claim().Fingerprint, List: []store.Charge{
		{Limit: "daily", Subject: "key", Amount: big.NewInt(r.amount), Max: big.NewInt(100), Window: 24 * time.Hour}}}
}

func (r request) begin(t testing.TB, s store.Store) (store.BeginResult, error) {
	return s.Begin(t.Context(), r.claim(), r.charges().Take(time.Now(), nil))
}

func (r request) activity() store.Activity {
	return store.Activity{ID: r.body, Type: "type", Status: "done", Data: []byte("record of " + r.body), KeepUntil: time.Now().Add(time.Hour),
		Leaf: []byte(r.body), Sent: time.Now(), Event: &store.Event{ID: "event of " + r.organization + r.body, At: time.Now(), Data: []byte("event")}}
}

func (r request) complete(t testing.TB, s store.Store, lease store.Lease) error {
	return s.Complete(t.Context(), lease, r.activity(), r.charges().Confirm(time.Now(), nil))
}

// carryOut begins and completes a request, or finds it recorded.
func (r request) carryOut(t testing.TB, s store.Store) error {
	begun, err := r.begin(t, s)
	if err != nil || begun.Recorded != nil {
		return err
	}
	if begun.Lease == nil {
		return store.ErrHeld
	}
	err = r.complete(t, s, *begun.Lease)
	if err != nil {
		testenv.Must(t, s.Release(t.Context(), *begun.Lease, r.charges().Refund(time.Now(), nil)))
	}
	return err
}

// settle fills an organization with something of everything.
func settle(t testing.TB, s *store.Sharded, organization string, requests int) {
	t.Helper()
	for i := range requests {
		testenv.Must(t, request{organization, fmt.Sprint("done ", i), 10}.carryOut(t, s))
	}
	waiting := request{organization, "waits", 0}
	begun, err := s.Begin(t.Context(), waiting.claim(), nil)
	testenv.Must(t, err)
	activity := waiting.activity()
	activity.Waiting, activity.Leaf, activity.Status = true, nil, "waiting"
	testenv.Must(t, s.Complete(t.Context(), *begun.Lease, activity, nil))
	testenv.Must(t, s.Change(t.Context(), organization, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		if _, err := ledger.Lock(used); err != nil {
			return nil, err
		}
		return nil, ledger.Write(used, store.Entry{Value: []byte("used"), KeepUntil: time.Now().Add(time.Hour)})
	})))
}

var used = store.Key{Kind: store.KindCode, ID: [32]byte{1}}

// everything returns the rows of an organization, but for its mark, leases, locks and the head.
func everything(t testing.TB, dsn, organization string, events bool) (all []string) {
	t.Helper()
	connection := connect(t, dsn)
	defer func() { _ = connection.Close(context.Background()) }()
	statements := []string{
		"SELECT (to_jsonb(r) - 'lease')::text FROM countersign_activities r WHERE organization_id = $1 AND id IS NOT NULL ORDER BY id",
		"SELECT to_jsonb(r)::text FROM countersign_ledgers r WHERE organization_id = $1 AND value IS NOT NULL AND get_byte(key, 0) <> 71 ORDER BY key",
		"SELECT to_jsonb(r)::text FROM countersign_log_leaves r WHERE organization_id = $1 ORDER BY index",
	}
	if events {
		statements = append(statements, "SELECT to_jsonb(r)::text FROM countersign_outbox r WHERE organization_id = $1 ORDER BY id")
	}
	for _, statement := range statements {
		rows, err := connection.Query(t.Context(), statement, organization)
		testenv.Must(t, err)
		for rows.Next() {
			var row string
			testenv.Must(t, rows.Scan(&row))
			all = append(all, row)
		}
		testenv.Must(t, rows.Err())
	}
	return all
}

// TestMove moves an organization while a request that began before is being carried out, and back.
func TestMove(t *testing.T) {
	server := testenv.Postgres(t)
	restDSN, bDSN := schema(t, server), schema(t, server)
	p := pair{open(t, restDSN), open(t, bDSN)}
	other := pair{open(t, restDSN), open(t, bDSN)} // another node, which has learned nothing
	const organization = "acme's"
	old, far := p.node(t, organization, ""), other.node(t, organization, "")
	settle(t, old, organization, 5)
	held := request{organization, "held", 30}
	begun, err := held.begin(t, old)
	testenv.Must(t, err)
	plain := request{organization, "plain", 0}
	leased, err := far.Begin(t.Context(), plain.claim(), nil)
	testenv.Must(t, err)
	testenv.Must(t, request{"another", "untouched", 1}.carryOut(t, old))

	refused := func(node *store.Sharded, when string) {
		t.Helper()
		_, charged := request{organization, "charged " + when, 1}.begin(t, node)
		uncharged := error(nil)
		if begun, err := node.Begin(t.Context(), request{organization, "begun " + when, 0}.claim(), nil); err != nil {
			uncharged = err
		} else {
			uncharged = plain.complete(t, node, *begun.Lease)
			testenv.Must(t, node.Release(t.Context(), *begun.Lease, nil))
		}
		activity, err := node.Find(t.Context(), organization, request{body: "waits"}.claim().Fingerprint)
		testenv.Must(t, err)
		_, appended := node.AppendLeaves(t.Context(), organization, store.AnySize, []store.LogEntry{{ID: "x", Leaf: []byte("x")}})
		unlogged := request{organization, "unlogged", 0}.activity()
		unlogged.Leaf, unlogged.Sent, unlogged.Event = nil, time.Time{}, nil
		for what, err := range map[string]error{
			"begin with a charge": charged, "begin and complete": uncharged, "append": appended,
			"complete what had begun":   held.complete(t, node, *begun.Lease),
			"complete without a charge": node.Complete(t.Context(), *leased.Lease, plain.activity(), nil),
			"complete without a log":    node.Complete(t.Context(), *leased.Lease, unlogged, nil),
			"replace":                   node.Replace(t.Context(), activity, time.Now(), nil),
			"change":                    node.Change(t.Context(), organization, store.ChangeFunc(func(store.Ledger) (refusal, err error) { return nil, nil })),
			"change that refuses":       node.Change(t.Context(), organization, store.ChangeFunc(func(store.Ledger) (refusal, err error) { return errors.New("refused"), nil })),
		} {
			ended := errors.Is(err, store.ErrLeaseLost) && strings.HasPrefix(what, "complete") && !strings.HasPrefix(when, "held")
			if !ended && (!errors.Is(err, store.ErrMoved) || !errors.Is(err, store.ErrUnavailable)) {
				t.Errorf("%s: %s: %v, want ErrMoved", when, what, err)
			}
		}
		testenv.Must(t, request{"another", "untouched " + when, 1}.carryOut(t, node))
	}
	waits := func(step string) {
		if !strings.HasPrefix(step, "waiting") {
			return
		}
		refused(old, "held")
		refused(far, "held, far")
		if err := p.node(t, "another", "").Assign(t.Context(), map[string]string{organization: "b"}); !errors.Is(err, store.ErrElsewhere) || !strings.Contains(err.Error(), "on its way") {
			t.Errorf("assigned before it has arrived: %v", err)
		}
		refused(p.node(t, organization, ""), "held, started")
		testenv.Must(t, old.Release(t.Context(), *begun.Lease, held.charges().Refund(time.Now(), nil)))
		testenv.Must(t, far.Release(t.Context(), *leased.Lease, nil))
	}
	testenv.Must(t, store.Move(t.Context(), organization, p.rest, p.b, "", "b", waits))

	before := everything(t, restDSN, organization, false)
	if after := everything(t, bDSN, organization, false); !reflect.DeepEqual(before, after) {
		t.Errorf("moved\n%q, want\n%q", after, before)
	}
	if events := count(t, bDSN, "SELECT count(*) FROM countersign_outbox WHERE organization_id = $1", organization); events != 6 {
		t.Errorf("%d events came along, want 6", events)
	}
	if left := count(t, restDSN, "SELECT count(*) FROM countersign_outbox WHERE organization_id = $1", organization); left != 0 {
		t.Errorf("%d events are left behind", left)
	}
	refused(old, "moved")
	refused(far, "moved, far")
	refused(p.node(t, organization, ""), "moved, started")
	testenv.Must(t, old.Assign(t.Context(), map[string]string{organization: "b"}))
	goesOn(t, old, organization)
	testenv.Must(t, store.Move(t.Context(), organization, p.rest, p.b, "", "b", quietly)) // again: nothing
	goesOn(t, p.node(t, organization, "b"), organization)
	if err := store.Move(t.Context(), organization, p.rest, p.rest, "", "c", quietly); !errors.Is(err, store.ErrElsewhere) {
		t.Errorf("moved from where it is no more: %v", err)
	}

	// Back: what the first store still had is replaced, and a node that knew of its move serves it.
	before = everything(t, bDSN, organization, true)
	testenv.Must(t, store.Move(t.Context(), organization, p.b, p.rest, "b", "", quietly))
	if after := everything(t, restDSN, organization, true); !reflect.DeepEqual(before, after) {
		t.Errorf("moved back\n%q, want\n%q", after, before)
	}
	refused(old, "moved back")
	goesOn(t, far, organization)
	testenv.Must(t, old.Assign(t.Context(), map[string]string{organization: ""}))
	goesOn(t, old, organization)
}

// goesOn expects of an organization that settle has filled what it had where it was before.
func goesOn(t *testing.T, s *store.Sharded, organization string) {
	t.Helper()
	for i := range 5 {
		r := request{organization, fmt.Sprint("done ", i), 10}
		if begun, err := r.begin(t, s); err != nil || begun.Recorded == nil || string(begun.Recorded.Data) != "record of "+r.body {
			t.Errorf("%s again: %+v, %v", r.body, begun, err)
		}
	}
	if _, err := (request{organization, "too much", 51}).begin(t, s); !errors.Is(err, store.ErrLimit) {
		t.Errorf("beyond the limit: %v", err)
	}
	most := request{organization, "the rest", 50}
	begun, err := most.begin(t, s)
	testenv.Must(t, err)
	testenv.Must(t, s.Release(t.Context(), *begun.Lease, most.charges().Refund(time.Now(), nil)))
	testenv.Must(t, s.Change(t.Context(), organization, store.ChangeFunc(func(ledger store.Ledger) (refusal, err error) {
		entry, err := ledger.Read(used)
		if string(entry.Value) != "used" {
			t.Errorf("the code is %q", entry.Value)
		}
		return nil, err
	})))
	waiting := request{organization, "waits", 0}.claim()
	if found, err := s.Find(t.Context(), organization, waiting.Fingerprint); err != nil || !found.Waiting {
		t.Fatalf("what waited: %+v, %v", found, err)
	}
	waiting.Revision = 1
	begun, err = s.Begin(t.Context(), waiting, nil)
	if err != nil || begun.Lease == nil {
		t.Fatalf("approved: %+v, %v", begun, err)
	}
	testenv.Must(t, s.Release(t.Context(), *begun.Lease, nil))
	head, err := s.LogHead(t.Context(), organization)
	testenv.Must(t, err)
	tree, err := translog.TreeAt(t.Context(), store.LogOf(s, organization), head.Size)
	if err != nil || tree != head.Tree() || head.Moved || head.Size < 5 {
		t.Errorf("the log: %+v, %+v, %v", head, tree, err)
	}
	testenv.Must(t, translog.Extends(t.Context(), store.LogOf(s, organization), &head, tree))
}

// TestMoveKilled cuts a move off before and after each of its statements, and repeats it.
func TestMoveKilled(t *testing.T) {
	testenv.Slow(t)
	server := testenv.Postgres(t)
	dsns := [2]string{schema(t, server), schema(t, server)}
	p := pair{open(t, dsns[0]), open(t, dsns[1])}
	kills, killed := 0, 0
	for side := range dsns {
		proxied, address := through(t, dsns[side])
		movers := [2]store.Mover{p.rest, p.b}
		movers[side] = open(t, address)
		for name, of := range map[string]verdict{"lost": isLost, "answer lost": losesReply} {
			for n := 1; ; n++ {
				organization := fmt.Sprint(side, name, n)
				old := p.node(t, organization, "")
				settle(t, old, organization, 1)
				before := everything(t, dsns[0], organization, true)
				met := proxied.at(n, func(string) verdict { return of })
				err := store.Move(t.Context(), organization, movers[0], movers[1], "", "b", quietly)
				hit := met()
				if hit {
					kills++
				}
				if err != nil {
					killed++
					// It is in one of them or in neither.
					r := request{organization, "between", 1}
					here := r.carryOut(t, old)
					if assigned := p.node(t, "none", "").Assign(t.Context(), map[string]string{organization: "b"}); here == nil && assigned == nil {
						t.Fatalf("%s: it is in both", organization)
					}
					if here == nil {
						before = everything(t, dsns[0], organization, true)
					} else if !errors.Is(here, store.ErrMoved) {
						t.Errorf("%s: %v", organization, here)
					}
					if err := store.Move(t.Context(), organization, p.rest, p.b, "", "b", quietly); err != nil {
						t.Fatalf("%s: repeated: %v", organization, err)
					}
				}
				if after := everything(t, dsns[1], organization, true); !reflect.DeepEqual(before, after) {
					t.Errorf("%s: moved\n%q, want\n%q", organization, after, before)
				}
				if !hit {
					if err != nil {
						t.Error(err)
					}
					break
				}
				if err := (request{organization, "between", 1}).carryOut(t, old); !errors.Is(err, store.ErrMoved) && err != nil {
					t.Errorf("%s: after the move: %v", organization, err)
				}
				testenv.Must(t, old.Assign(t.Context(), map[string]string{organization: "b"}))
				testenv.Must(t, request{organization, "after", 1}.carryOut(t, old))
			}
		}
	}
	if kills < 60 || killed < 40 {
		t.Errorf("%d statements were met, and %d moves failed", kills, killed)
	}
}

// TestMoveUnderLoad: of two nodes that serve while an organization moves, and load the new table one after
// the other, each request is answered or refused, and those that are repeated are carried out once.
func TestMoveUnderLoad(t *testing.T) {
	server := testenv.Postgres(t)
	restDSN, bDSN := schema(t, server), schema(t, server)
	p := pair{open(t, restDSN), open(t, bDSN)}
	nodes := []*store.Sharded{p.node(t, "acme", ""), pair{open(t, restDSN), open(t, bDSN)}.node(t, "acme", "")}
	const each = 40
	var group sync.WaitGroup
	moved := make(chan struct{})
	started, waiting := make(chan struct{}, 2*each), make(chan struct{})
	for i, node := range nodes {
		for worker := range 4 {
			group.Go(func() {
				for n := range each / 4 {
					r := request{"acme", fmt.Sprint(i, worker, n), 1}
					if n >= each/8 {
						<-waiting // some come when it is held
					}
					started <- struct{}{}
					err := r.carryOut(t, node)
					for ; err != nil; err = r.carryOut(t, node) {
						if !errors.Is(err, store.ErrMoved) {
							t.Errorf("%s: %v", r.body, err)
							return
						}
						<-moved
						testenv.Must(t, node.Assign(t.Context(), map[string]string{"acme": "b"}))
					}
				}
			})
		}
	}
	for range 20 {
		<-started
	}
	testenv.Must(t, store.Move(t.Context(), "acme", open(t, restDSN), open(t, bDSN), "", "b", func(step string) {
		if strings.HasPrefix(step, "waiting") {
			close(waiting)
		}
	}))
	close(moved)
	group.Wait()
	here, there := count(t, restDSN, "SELECT count(*) FROM countersign_log_leaves"), count(t, bDSN, "SELECT count(*) FROM countersign_log_leaves")
	recorded := count(t, bDSN, "SELECT count(*) FROM countersign_activities WHERE id IS NOT NULL")
	if there != 2*each || recorded != 2*each || here == 0 || here == there {
		t.Errorf("%d leaves before the move, %d after it with %d records: want %d", here, there, recorded, 2*each)
	}
	if _, err := (request{"acme", "too much", 100 - 2*each + 1}).begin(t, nodes[0]); !errors.Is(err, store.ErrLimit) {
		t.Errorf("beyond the limit: %v", err)
	}
	if err := (request{"acme", "the rest", 100 - 2*each}).carryOut(t, nodes[1]); err != nil {
		t.Error(err)
	}
}

// TestMoveStale: a command that is repeated when the organization has moved on copies nothing, even while
// none has it.
func TestMoveStale(t *testing.T) {
	server := testenv.Postgres(t)
	p := pair{open(t, schema(t, server)), open(t, schema(t, server))}
	settle(t, p.node(t, "acme", ""), "acme", 5)
	testenv.Must(t, store.Move(t.Context(), "acme", p.rest, p.b, "", "b", quietly))
	testenv.Must(t, request{"acme", "after", 0}.carryOut(t, p.node(t, "acme", "b")))
	stopped, stop := context.WithCancel(t.Context())
	err := store.Move(stopped, "acme", p.b, p.rest, "b", "", func(step string) {
		if strings.HasPrefix(step, "waiting") {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("on the way back: %v", err)
	}
	testenv.Must(t, store.Move(t.Context(), "acme", p.rest, p.b, "", "b", quietly)) // takes it back
	testenv.Must(t, request{"acme", "taken back", 0}.carryOut(t, p.node(t, "acme", "b")))
	testenv.Must(t, store.Move(t.Context(), "acme", p.b, p.rest, "b", "", quietly))
	node := p.node(t, "acme", "")
	goesOn(t, node, "acme")
	if begun, err := (request{"acme", "after", 0}).begin(t, node); err != nil || begun.Recorded == nil {
		t.Errorf("%+v, %v", begun, err)
	}
	if err := p.node(t, "none", "").Assign(t.Context(), map[string]string{"acme": "b"}); err != nil {
		t.Errorf("a node with an old table starts: %v", err)
	}
	third := open(t, schema(t, server))
	testenv.Must(t, store.Move(t.Context(), "acme", p.rest, third, "", "c", quietly))
	if err := store.Move(t.Context(), "acme", p.b, p.rest, "b", "", quietly); !errors.Is(err, store.ErrElsewhere) {
		t.Errorf("repeated when it has moved on: %v", err)
	}
}

// TestMoveTakenBack cuts a move off before it copies, and taking it back before and after each statement.
// Then the organization goes on where it was, and moves.
func TestMoveTakenBack(t *testing.T) {
	testenv.Slow(t)
	server := testenv.Postgres(t)
	dsns := [2]string{schema(t, server), schema(t, server)}
	p := pair{open(t, dsns[0]), open(t, dsns[1])}
	killed := 0
	for side := range dsns {
		proxied, address := through(t, dsns[side])
		movers := [2]store.Mover{p.rest, p.b}
		movers[side] = open(t, address)
		for name, of := range map[string]verdict{"lost": isLost, "answer lost": losesReply} {
			for n := 1; ; n++ {
				organization := fmt.Sprint(side, name, n)
				old := p.node(t, organization, "")
				settle(t, old, organization, 5)
				before := everything(t, dsns[0], organization, true)
				stopped, stop := context.WithCancel(t.Context())
				err := store.Move(stopped, organization, p.rest, p.b, "", "b", func(step string) {
					if strings.HasPrefix(step, "waiting") {
						stop()
					}
				})
				if !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				met := proxied.at(n, func(string) verdict { return of })
				err = store.Move(t.Context(), organization, movers[1], movers[0], "b", "", quietly)
				hit := met()
				if err != nil {
					killed++
					if assigned := p.node(t, "none", "").Assign(t.Context(), map[string]string{organization: "b"}); assigned == nil {
						node := p.node(t, organization, "b")
						if err := (request{organization, "between", 1}).carryOut(t, node); !errors.Is(err, store.ErrMoved) {
							t.Errorf("%s: where it has not arrived: %v", organization, err)
						}
					}
					testenv.Must(t, store.Move(t.Context(), organization, p.b, p.rest, "b", "", quietly))
				}
				if after := everything(t, dsns[0], organization, true); !reflect.DeepEqual(before, after) {
					t.Errorf("%s: taken back\n%q, want\n%q", organization, after, before)
				}
				goesOn(t, old, organization)
				if !hit {
					testenv.Must(t, store.Move(t.Context(), organization, p.rest, p.b, "", "b", quietly))
					testenv.Must(t, old.Assign(t.Context(), map[string]string{organization: "b"}))
					goesOn(t, old, organization)
					break
				}
			}
		}
	}
	if killed < 8 {
		t.Errorf("%d were cut off", killed)
	}
}

// cutOff is a store whose holds fail.
type cutOff struct{ *postgres.Store }

var errCutOff = errors.New("cut off")

func (cutOff) Hold(context.Context, string, bool, store.Change) error { return errCutOff }

// TestMoveTakenBackByHalf: what is taken back by half is in neither store, whatever is tried, until it
// has been taken back.
func TestMoveTakenBackByHalf(t *testing.T) {
	server := testenv.Postgres(t)
	p := pair{open(t, schema(t, server)), open(t, schema(t, server))}
	old := p.node(t, "acme", "")
	settle(t, old, "acme", 5)
	stopped, stop := context.WithCancel(t.Context())
	err := store.Move(stopped, "acme", p.rest, p.b, "", "b", func(step string) {
		if strings.HasPrefix(step, "waiting") {
			stop()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if err := store.Move(t.Context(), "acme", p.b, cutOff{p.rest}, "b", "", quietly); !errors.Is(err, errCutOff) {
		t.Fatal(err)
	}
	if err := store.Move(t.Context(), "acme", p.rest, p.b, "", "b", quietly); !errors.Is(err, store.ErrElsewhere) {
		t.Errorf("moved all the same: %v", err)
	}
	r := request{"acme", "between", 0}
	if err := r.carryOut(t, old); !errors.Is(err, store.ErrMoved) {
		t.Errorf("where it was: %v", err)
	}
	if err := r.carryOut(t, p.node(t, "acme", "b")); !errors.Is(err, store.ErrMoved) {
		t.Errorf("where it has not arrived: %v", err)
	}
	testenv.Must(t, store.Move(t.Context(), "acme", p.b, p.rest, "b", "", quietly))
	goesOn(t, old, "acme")
	early := p.node(t, "acme", "b") // as of a configuration that names the store which it has not reached
	if head, err := early.LogHead(t.Context(), "acme"); err != nil || !head.Moved {
		t.Errorf("the log where it has not arrived has the head %+v, %v: it would be taken for one that was lost", head, err)
	}
	if err := r.carryOut(t, early); !errors.Is(err, store.ErrMoved) {
		t.Errorf("where it has not arrived, taken back: %v", err)
	}
	testenv.Must(t, store.Move(t.Context(), "acme", p.rest, p.b, "", "b", quietly))
	goesOn(t, early, "acme")
	third := open(t, schema(t, server))
	testenv.Must(t, store.Move(t.Context(), "acme", p.b, third, "b", "c", quietly))
	if err := store.Move(t.Context(), "acme", p.rest, p.b, "", "b", quietly); !errors.Is(err, store.ErrElsewhere) {
		t.Errorf("taken back from a third: %v", err)
	}
}

// TestMoveAndTakeBack: of a move and one who takes it back at the same time, one wins, and the
// organization is in one store.
func TestMoveAndTakeBack(t *testing.T) {
	server := testenv.Postgres(t)
	p := pair{open(t, schema(t, server)), open(t, schema(t, server))}
	in := map[bool]int{}
	for i := range 20 {
		organization := fmt.Sprint("acme", i)
		old := p.node(t, organization, "")
		settle(t, old, organization, 5)
		var back sync.WaitGroup
		moved := store.Move(t.Context(), organization, p.rest, p.b, "", "b", func(step string) {
			if strings.HasPrefix(step, []string{"waiting", "copying"}[i%2]) {
				back.Go(func() { _ = store.Move(t.Context(), organization, p.b, p.rest, "b", "", quietly) })
			}
		})
		back.Wait()
		r := request{organization, "after", 0}
		here := r.carryOut(t, old)
		there := old.Assign(t.Context(), map[string]string{organization: "b"})
		if there == nil {
			there = r.carryOut(t, old)
		}
		if (here == nil) == (there == nil) {
			t.Fatalf("%s: moved %v; here %v, there %v", organization, moved, here, there)
		}
		in[here == nil]++
	}
	t.Log(in)
}

// TestMoveRepeated: a copy that the database rolls back in favor of another transaction, as late as when it
// commits, is made again with its events.
func TestMoveRepeated(t *testing.T) {
	server := testenv.Postgres(t)
	dsns := [2]string{schema(t, server), schema(t, server)}
	p := pair{open(t, dsns[0]), open(t, dsns[1])}
	const organization = `É\'; DROP TABLE countersign_outbox; --%s"$1`
	settle(t, p.node(t, organization, ""), organization, 2)
	before := everything(t, dsns[0], organization, true)
	for _, statement := range []string{
		`CREATE SEQUENCE commits`,
		`CREATE FUNCTION conflicts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval('commits') = 1 THEN RAISE SQLSTATE '40001'; END IF; RETURN NULL; END $$`,
		`CREATE CONSTRAINT TRIGGER conflicts AFTER UPDATE ON countersign_log_heads DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION conflicts()`,
	} {
		execute(t, dsns[1], statement)
	}
	testenv.Must(t, store.Move(t.Context(), organization, p.rest, p.b, "", "b", quietly))
	if commits := count(t, dsns[1], "SELECT last_value FROM commits"); commits < 2 {
		t.Errorf("it was committed %d times, want a second time", commits)
	}
	if after := everything(t, dsns[1], organization, true); !reflect.DeepEqual(before, after) {
		t.Errorf("moved\n%q, want\n%q", after, before)
	}
}
