package interop

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/internal/testenv"
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
	url := receiver(t, room.URL)
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

// deliverTo delivers the events of an outbox, until the test ends or the outbox is empty.
func deliverTo(t *testing.T, s *memory.Store, url, configured string) (stats func() events.Stats) {
	t.Helper()
	secrets, err := events.ParseSecrets([]byte(configured))
	if err != nil {
		t.Fatal(err)
	}
	sender, err := events.New(events.Config{Outbox: s, URL: url, Secrets: secrets})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	go sender.Run(ctx)
	return sender.Stats
}

// receiver starts chat.mjs and returns where it listens.
func receiver(t *testing.T, chat string) (url string) {
	t.Helper()
	node := testenv.Node(t, "chat.mjs")
	command := exec.CommandContext(t.Context(), node.Path, node.Args[1:]...)
	command.Dir, command.Stderr = node.Dir, node.Stderr
	command.Env = append(command.Environ(), "SECRET="+eventSecret, "CHAT="+chat, "PORT=0")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait() // killed
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://127.0.0.1:" + strings.TrimSpace(port)
}
