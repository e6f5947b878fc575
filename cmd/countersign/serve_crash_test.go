package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestKilledServer kills a server under load, again and again. Whatever was
// answered before is found afterwards, the same to the byte, and the file of
// the store opens.
func TestKilledServer(t *testing.T) {
	testenv.Slow(t)
	const clients = 8
	const rounds = 20
	s := newServed(t)
	var all []recorded
	n := s.start(t, "--admin", "none", "--log-level", "error")
	for round := range rounds {
		before := len(all)
		all = append(all, s.load(t, n, clients, round, clients+rand.IntN(30*clients))...)
		if status := n.wait(t); status != -1 {
			t.Fatalf("round %d: exit status %d, not killed: %s", round, status, n.log)
		}
		n = s.start(t, "--admin", "none", "--log-level", "error")
		for _, one := range all[before:] {
			n.mustHave(t, one)
		}
	}
	for range 100 {
		n.mustHave(t, all[rand.IntN(len(all))])
	}
	if status := n.end(t, syscall.SIGTERM); status != exitSuccess {
		t.Errorf("exit status %d: %s", status, n.log)
	}
	t.Logf("killed %d times; %d activities answered before, all found after", rounds, len(all))
}

// recorded is an activity that was answered.
type recorded struct {
	body   []byte
	id     string
	answer []byte
}

// load submits requests, each one another, until the server is gone: it is killed
// while others are under way, after so many answers.
func (s *served) load(t *testing.T, n *node, clients, round, answers int) (all []recorded) {
	t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for i := 0; ; i++ {
				body := signBody(s.by.organizationID, s.signer, testTransaction(round<<20|client<<16|i), time.Now())
				answer, err := n.post(t.Context(), "submit/sign_transaction", body)
				if err != nil {
					return
				}
				var got demoAnswer
				if err := json.Unmarshal(answer, &got); err != nil || got.Activity.ID == "" {
					t.Errorf("%v: %s", err, answer)
					return
				}
				mu.Lock()
				if all = append(all, recorded{body, got.Activity.ID, answer}); len(all) == answers {
					_ = n.command.Process.Kill()
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return all
}

// mustHave asks for an activity, and sends its request again: both are answered
// as at first.
func (n *node) mustHave(t *testing.T, one recorded) {
	t.Helper()
	query := jsonLine(map[string]string{"organizationId": n.by.organizationID, "activityId": one.id})
	for path, body := range map[string][]byte{"query/get_activity": query, "submit/sign_transaction": one.body} {
		got, err := n.post(t.Context(), path, body)
		if err != nil || !bytes.Equal(got, one.answer) {
			t.Fatalf("%s of activity %s: %v\n%s\nwas answered\n%s", path, one.id, err, got, one.answer)
		}
	}
}
