package serve

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// asked counts how often a store is asked whether it is there.
type asked struct {
	*memory.Store
	pings int
}

func (a *asked) Ping(context.Context) error { a.pings++; return nil }

// TestAliveWithoutStore: only /readyz asks the store. A database that hangs is no reason to restart
// the server.
func TestAliveWithoutStore(t *testing.T) {
	records := &asked{Store: memory.New(0)}
	several, err := store.NewSharded(t.Context(), map[string]store.Full{"": records}, nil)
	testenv.Must(t, err)
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys.New(), Store: several})
	testenv.Must(t, err)
	s := &Server{engine: engine, records: several}
	pages := s.withState(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, page := range []struct {
		path  string
		pings int
	}{{"/livez", 0}, {"/metrics", 0}, {"/readyz", 1}} {
		pages.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, page.path, http.NoBody))
		if records.pings != page.pings {
			t.Errorf("%s: the store was asked %d times, want %d", page.path, records.pings, page.pings)
		}
	}
}
