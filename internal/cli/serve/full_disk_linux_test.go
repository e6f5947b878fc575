package serve_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
)

// TestFullDisk fills the disk of a running server's store. Requests must be refused with
// UNAVAILABLE, /readyz and health must give the cause, and earlier answers must stay
// readable. Once there is room, the server must recover by itself, with a complete log.
func TestFullDisk(t *testing.T) {
	testenv.Slow(t)
	t.Run("bolt", func(t *testing.T) {
		disk := testenv.SmallDisk(t, 16<<20)
		s := clitest.NewServed(t)
		s.StoreAt(t, "bolt:"+filepath.Join(disk.Dir, "state.db"))
		servesThroughFullDisk(t, s, disk, func() {})
	})
	t.Run("postgres", func(t *testing.T) {
		disk := testenv.SmallDisk(t, 256<<20)
		t.Setenv("TMPDIR", disk.Dir)
		server := testenv.Postgres(t)
		folder, _, _ := strings.Cut(strings.TrimPrefix(server.DSN, "host="), " ")
		s := clitest.NewServed(t)
		s.StoreAt(t, "postgres:///postgres?user=postgres&host="+folder)
		servesThroughFullDisk(t, s, disk, func() {
			// Start a new write-ahead log file: PostgreSQL stops if it cannot create one.
			administrator := connected(t, server.DSN)
			for _, statement := range []string{"SELECT pg_switch_wal()", "CHECKPOINT"} {
				if _, err := administrator.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
		})
	})
}

func servesThroughFullDisk(t *testing.T, s *clitest.Served, disk *testenv.Disk, prepare func()) {
	admin := testenv.FreeAddress(t)
	n := s.Start(t, "--admin", admin)
	ready := func() (status int, body string) { return clitest.Get(t, "http://"+admin+"/readyz") }
	answered := []recorded{signs(t, n, s, 0)}
	prepare()
	disk.Fill()
	refused, more := untilRefused(t, n, s)
	answered = append(answered, more...)
	for range 3 {
		if status, body := ready(); status != http.StatusServiceUnavailable || !strings.Contains(strings.ToLower(body), "no space left on device") {
			t.Errorf("/readyz with a full disk: %d %s", status, body)
		}
	}
	health := exec.CommandContext(t.Context(), "countersign", "health", "--url", "http://"+admin)
	if out, err := health.CombinedOutput(); err == nil || !bytes.Contains(bytes.ToLower(out), []byte("no space left on device")) {
		t.Errorf("health with a full disk: %v, %s", err, out)
	}
	// It may succeed now, because the failed transaction left some bytes of room.
	if _, err := n.Post(t.Context(), "submit/sign_transaction", refused); err != nil && !isUnavailable(err) {
		t.Errorf("again with a full disk: %v", err)
	}
	for _, one := range answered {
		mustHave(t, n, one)
	}
	disk.Empty()
	testenv.Await(t, "/readyz once the disk has room", func() bool { status, _ := ready(); return status == http.StatusOK })
	if _, err := n.Post(t.Context(), "submit/sign_transaction", refused); err != nil {
		t.Errorf("what was refused, once the disk has room: %v", err)
	}
	answered = append(answered, signs(t, n, s, mostOnFullDisk))
	for _, one := range answered {
		mustHave(t, n, one)
	}
	if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
		t.Errorf("exit status %d: %s", status, n.Log)
	}
	want := fmt.Sprintf(`"leaves":%d,"records":%[1]d`, len(answered)+1) // with the one that was refused at first
	if out := s.Run(t, "log", "verify", "--config", s.Config()); !bytes.Contains(out, []byte(want)) {
		t.Errorf("%s, want %s", out, want)
	}
}

// mostOnFullDisk bounds how many requests may fit into space that the store already has.
const mostOnFullDisk = 5000

// untilRefused submits requests until one is refused for lack of room. It returns that
// request and the ones that succeeded.
func untilRefused(t *testing.T, n *clitest.Node, s *clitest.Served) (refused []byte, answered []recorded) {
	t.Helper()
	for number := 1; number < mostOnFullDisk; number++ {
		one, err := submits(t, n, s, number)
		if isUnavailable(err) {
			return one.body, answered
		}
		testenv.Must(t, err)
		answered = append(answered, one)
	}
	t.Fatalf("%d requests found room on a full disk", mostOnFullDisk)
	return nil, nil
}
