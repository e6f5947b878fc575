package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestStatementsOfActivity bounds the statements of an activity: one takes the lease and one
// records, however many activities came before.
func TestStatementsOfActivity(t *testing.T) {
	server := testenv.Postgres(t)
	p, address := through(t, schema(t, server))
	s := open(t, address)
	complete(t, s, "first, which prepares the statements")
	var mu sync.Mutex
	var sent []string
	p.at(0, nil)
	p.mu.Lock()
	p.judge = func(statement string) verdict {
		mu.Lock()
		defer mu.Unlock()
		sent = append(sent, statement)
		return passes
	}
	p.mu.Unlock()
	const activities, most = 10, 2
	for i := range activities {
		complete(t, s, fmt.Sprint("activity ", i))
	}
	mu.Lock()
	defer mu.Unlock()
	t.Logf("%d statements for %d activities", len(sent), activities)
	if len(sent) == 0 || len(sent) > most*activities {
		t.Errorf("%d statements for %d activities, at most %d each are in the budget: %.200q", len(sent), activities, most, sent)
	}
}
