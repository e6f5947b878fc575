package serve_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// endpoint takes events once it is up.
type endpoint struct {
	*httptest.Server
	mu    sync.Mutex
	up    bool
	taken []activity.Event
	tried int
}

func newEndpoint(t *testing.T) *endpoint {
	e := new(endpoint)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.mu.Lock()
		defer e.mu.Unlock()
		body, err := io.ReadAll(r.Body)
		var event activity.Event
		if err == nil {
			err = json.Unmarshal(body, &event)
		}
		if err != nil || r.Header.Get("webhook-id") == "" || !strings.HasPrefix(r.Header.Get("webhook-signature"), "v1,") {
			t.Errorf("it got %s, %v, %v", body, r.Header, err)
		}
		if e.tried++; !e.up {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		e.taken = append(e.taken, event)
	}))
	t.Cleanup(e.Close)
	return e
}

// ids returns the activities of which it took events, each once.
func (e *endpoint) ids() (ids []string, tried int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, event := range e.taken {
		ids = append(ids, event.Data.ActivityID)
	}
	slices.Sort(ids)
	return slices.Compact(ids), e.tried
}

// TestServeEvents kills a server whose endpoint of events fails: each activity that was
// answered is told once the endpoint is up, with both stores. Requests do not wait for it. In
// the database, which nodes share, the lease of the dead node ends first.
func TestServeEvents(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bolt", "postgres"} {
		t.Run(name, func(t *testing.T) {
			s, e := clitest.NewServed(t), newEndpoint(t)
			passes := func() {} // the time for which a dead node keeps its lease
			if name == "postgres" {
				dsn := testenv.Postgres(t).DSN
				folder, _, _ := strings.Cut(strings.TrimPrefix(dsn, "host="), " ")
				s.StoreAt(t, "postgres:///postgres?user=postgres&host="+folder)
				passes = func() { endLease(t, dsn) }
			}
			tellTo(t, s, e)
			var want []string
			for round := range 3 {
				n := s.Start(t)
				for i := range 5 {
					want = append(want, signs(t, n, s, 10*round+i).id)
				}
				if round < 2 {
					n.End(t, syscall.SIGKILL)
					continue
				}
				passes()
				testenv.Await(t, "an event is tried", func() bool { _, tried := e.ids(); return tried > 0 })
				e.mu.Lock()
				e.up = true
				e.mu.Unlock()
				slices.Sort(want)
				testenv.Await(t, "all events are taken", func() bool { ids, _ := e.ids(); return slices.Equal(ids, want) })
				n.End(t, syscall.SIGTERM)
			}
		})
	}
}

// endLease makes the lease on the outbox as old as it must be for another node to take it.
func endLease(t *testing.T, dsn string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	testenv.Must(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	done, err := conn.Exec(t.Context(), "UPDATE countersign_ledgers SET keep_until = clock_timestamp() WHERE organization_id = '' AND key = 'outbox' AND keep_until > clock_timestamp()")
	if err != nil || done.RowsAffected() != 1 {
		t.Errorf("the first node has no lease: %v, %v", done, err)
	}
}

// tellTo configures an endpoint of events.
func tellTo(t *testing.T, s *clitest.Served, e *endpoint) {
	t.Helper()
	testenv.Write(t, filepath.Join(s.Dir, "events-secret"), []byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"))
	s.Edit(t, "store:", "events: {webhook: {url: "+e.URL+", secretFile: events-secret}}\nstore:")
}

// TestEventsTail prints what happened on a server that has no endpoint.
func TestEventsTail(t *testing.T) {
	t.Parallel()
	s := clitest.NewServed(t)
	s.Edit(t, "store:", "events: {}\nstore:")
	admin := testenv.FreeAddress(t)
	n := s.Start(t, "--admin", admin)
	one := signs(t, n, s, 1)
	line := string(s.Run(t, "events", "tail", "--once", "--url", "http://"+admin))
	var event activity.Event
	if err := json.Unmarshal([]byte(line), &event); err != nil || event.Type != activity.EventCompleted || event.Data.ActivityID != one.id || len(event.Data.Sentences) == 0 {
		t.Errorf("it printed %q, %v", line, err)
	}
	n.End(t, syscall.SIGTERM)
}
