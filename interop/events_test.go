package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/store/memory"
)

const (
	eventSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// TestChat runs the receiver of docs/events.md, which uses the published verifier for
// JavaScript unmodified: what an engine signs is told in a chat. The receiver refuses events
// that are signed with another secret, and takes them while both sign.
func TestChat(t *testing.T) {
	chat := make(chan string, 10)
	room := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var message struct{ Text string }
		if err := json.NewDecoder(r.Body).Decode(&message); err != nil {
			t.Error(err)
		}
		chat <- message.Text
	}))
	t.Cleanup(room.Close)
	url := receiver(t, "chat.mjs", "CHAT="+room.URL)
	s := memory.New(0)
	f := enginetest.New(t, func(c *countersign.Config) {
		c.Store, c.Now, c.Events = s, time.Now, activity.EventTypes()
	})
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(f.Body(enginetest.Request{At: time.Now()})))
	wrong := deliverTo(t, s, url, otherSecret)
	testenv.Await(t, "the receiver refuses what is not signed for it", func() bool { return wrong().Failed > 0 })
	if len(chat) > 0 {
		t.Errorf("it told %q", <-chat)
	}
	right := deliverTo(t, s, url, otherSecret+"\n"+eventSecret)
	testenv.Await(t, "the receiver takes the event", func() bool { return right().Delivered == 1 })
	if told := <-chat; !strings.HasPrefix(told, "activity.completed by ci: ") || !strings.Contains(told, "ETH") || strings.Contains(told, record.ID) {
		t.Errorf("it told %q", told)
	}
}

// vetoed is a policy under which a program votes on every payment.
const vetoed = `schema: countersign.policy/2
rules:
  - {name: screened, allow: [transfer, fee], approvals: [{count: 1, tag: finance, not: submitter}]}
`

// TestVeto runs the program of docs/veto.md: a payment to an address that it blocks is rejected,
// another one is signed by its vote. Without its vote neither is.
func TestVeto(t *testing.T) {
	const blocked, other = "08d2b0a37f869ff76bacb5bab3278e26ab7067b7", "c0ffee254729296a45a3885639ac7e10f9d54979"
	f, ann := newVoters(t, vetoed)
	s := memory.New(0)
	f.Config.Store, f.Config.Events = s, activity.EventTypes()
	engine := f.Second(t)
	server := httptest.NewServer(httpapi.New(engine, httpapi.Options{}))
	t.Cleanup(server.Close)
	key := testenv.Encode(t, map[string]string{"organizationId": enginetest.Organization, "publicKey": ann.PublicKey, "privateKey": ann.PrivateKey()})
	keyFile := filepath.Join(t.TempDir(), "api-key.json")
	testenv.Write(t, keyFile, key)
	var waiting []*activity.Record
	for _, to := range []string{blocked, other} {
		unsigned := "02f00107843b9aca008504a817c80082520894" + to + "880de0b6b3a764000080c0"
		record, err := engine.Submit(t.Context(), f.APIKey.Sign(f.Body(enginetest.Request{Unsigned: unsigned, At: time.Now()})))
		if err != nil || record.Status != activity.StatusConsensusNeeded {
			t.Fatalf("%+v, %v", record, err)
		}
		waiting = append(waiting, record)
	}
	url := receiver(t, "veto.mjs", "SERVER="+server.URL, "KEY="+keyFile, "BLOCKED=0x"+strings.ToUpper(blocked)+",0x0")
	deliverTo(t, s, url, eventSecret)
	for i, want := range []activity.Status{activity.StatusRejected, activity.StatusCompleted} {
		testenv.Await(t, "the program has voted", func() bool {
			stored, err := s.Get(t.Context(), enginetest.Organization, waiting[i].ID)
			return err == nil && stored.Status == string(want)
		})
	}
	f.WantSignatures(t, 1)
}

// deliverTo delivers the events of an outbox, until the test ends or the outbox is empty.
func deliverTo(t *testing.T, s *memory.Store, url, configured string) (stats func() events.Stats) {
	t.Helper()
	secrets, err := webhook.ParseSecrets([]byte(configured))
	testenv.Must(t, err)
	sender, err := events.New(events.Config{Outbox: s, URL: url, Secrets: secrets})
	testenv.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go sender.Run(ctx)
	return sender.Stats
}

// receiver starts a receiver of events and returns where it listens.
func receiver(t *testing.T, script string, environment ...string) (url string) {
	t.Helper()
	node := testenv.Node(t, script)
	command := exec.CommandContext(t.Context(), node.Path, node.Args[1:]...)
	command.Dir, command.Stderr = node.Dir, node.Stderr
	command.Env = append(append(command.Environ(), "SECRET="+eventSecret, "PORT=0"), environment...)
	out, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // killed
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	testenv.Must(t, err)
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}
