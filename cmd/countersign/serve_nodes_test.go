package main

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestNodes: two servers over one PostgreSQL do a request once, whichever of
// them it comes to, and one goes on when the other is killed.
func TestNodes(t *testing.T) {
	server := testenv.Postgres(t)
	s := newServed(t)
	folder, _, _ := strings.Cut(strings.TrimPrefix(server.DSN, "host="), " ")
	s.edit(t, "store: bolt:state.db", "store: postgres:///postgres?user=postgres&host="+folder)
	nodes := []*node{s.start(t, "--admin", "none"), s.start(t, "--admin", "none")}
	body := signBody(s.by.organizationID, s.signer, vectorUnsigned, time.Now())
	var mu sync.Mutex
	var group sync.WaitGroup
	var answers [][]byte
	for i := range 20 {
		group.Go(func() {
			answer, err := nodes[i%2].post(t.Context(), "submit/sign_transaction", body)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			answers = append(answers, answer)
		})
	}
	group.Wait()
	for _, answer := range answers {
		if !bytes.Equal(answer, answers[0]) {
			t.Fatalf("two answers to one request:\n%s\n%s", answers[0], answer)
		}
	}
	if status := nodes[0].end(t, os.Kill); status != -1 {
		t.Errorf("exit status %d", status)
	}
	if again, err := nodes[1].post(t.Context(), "submit/sign_transaction", body); err != nil || !bytes.Equal(again, answers[0]) {
		t.Errorf("%v: %s", err, again)
	}
	if status := nodes[1].end(t, syscall.SIGTERM); status != exitSuccess {
		t.Errorf("exit status %d: %s", status, nodes[1].log)
	}
}
