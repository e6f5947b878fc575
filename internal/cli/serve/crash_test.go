package serve_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestKilledServer repeatedly kills a server under load. Afterwards every earlier answer must
// be found, identical to the byte, and the store's file must open.
func TestKilledServer(t *testing.T) {
	testenv.Slow(t)
	const clients = 8
	rounds := testenv.Draws(t, 6)
	s := clitest.NewServed(t)
	var all []recorded
	n := s.Start(t, "--admin", "none", "--log-level", "error")
	for round := range rounds {
		before := len(all)
		all = append(all, loadOf(t, s, n, clients, round, clients+rand.IntN(30*clients))...)
		if status := n.Wait(t); status != -1 {
			t.Fatalf("round %d: exit status %d, not killed: %s", round, status, n.Log)
		}
		n = s.Start(t, "--admin", "none", "--log-level", "error")
		for _, one := range all[before:] {
			mustHave(t, n, one)
		}
	}
	for range 100 {
		mustHave(t, n, all[rand.IntN(len(all))])
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
	t.Logf("killed %d times; %d activities answered before, all found after", rounds, len(all))
}

// recorded is an answered activity.
type recorded struct {
	body   []byte
	id     string
	answer []byte
}

// load submits distinct requests from several clients until the server is gone. It is killed
// after a number of answers, while other requests are in flight.
func loadOf(t *testing.T, s *clitest.Served, n *clitest.Node, clients, round, answers int) (all []recorded) {
	t.Helper()
	var mu sync.Mutex
	var group sync.WaitGroup
	for client := range clients {
		group.Go(func() {
			for i := 0; ; i++ {
				body := clitest.SignBody(s.By.OrganizationID, s.Signer, clitest.NthTransaction(round<<20|client<<16|i), time.Now())
				answer, err := n.Post(t.Context(), "submit/sign_transaction", body)
				if err != nil {
					return
				}
				var got clitest.Answer
				if err := json.Unmarshal(answer, &got); err != nil || got.Activity.ID == "" {
					t.Errorf("%v: %s", err, answer)
					return
				}
				mu.Lock()
				if all = append(all, recorded{body, got.Activity.ID, answer}); len(all) == answers {
					_ = n.Command.Process.Kill()
				}
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return all
}

// mustHave queries an activity and sends its request again. Both must get the first answer.
func mustHave(t *testing.T, n *clitest.Node, one recorded) {
	t.Helper()
	query := console.JSONLine(map[string]string{"organizationId": n.By.OrganizationID, "activityId": one.id})
	for path, body := range map[string][]byte{"query/get_activity": query, "submit/sign_transaction": one.body} {
		got, err := n.Post(t.Context(), path, body)
		if err != nil || !bytes.Equal(got, one.answer) {
			t.Fatalf("%s of activity %s: %v\n%s\nwas answered\n%s", path, one.id, err, got, one.answer)
		}
	}
}

// TestNodes checks that two servers on one PostgreSQL carry out a request once, whichever
// receives it, and that one continues when the other is killed.
func TestNodes(t *testing.T) {
	t.Parallel()
	server := testenv.Postgres(t)
	s := clitest.NewServed(t)
	folder, _, _ := strings.Cut(strings.TrimPrefix(server.DSN, "host="), " ")
	s.StoreAt(t, "postgres:///postgres?user=postgres&host="+folder)
	nodes := []*clitest.Node{s.Start(t, "--admin", "none"), s.Start(t, "--admin", "none")}
	body := clitest.SignBody(s.By.OrganizationID, s.Signer, clitest.Unsigned, time.Now())
	var mu sync.Mutex
	var group sync.WaitGroup
	var answers [][]byte
	for i := range 20 {
		group.Go(func() {
			answer, err := nodes[i%2].Post(t.Context(), "submit/sign_transaction", body)
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
	if status := nodes[0].End(t, os.Kill); status != -1 {
		t.Errorf("exit status %d", status)
	}
	if again, err := nodes[1].Post(t.Context(), "submit/sign_transaction", body); err != nil || !bytes.Equal(again, answers[0]) {
		t.Errorf("%v: %s", err, again)
	}
	if status := nodes[1].End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, nodes[1].Log)
	}
}
