package serve_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/clitest"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// adoption is a deployment whose store has records that predate the log.
type adoption struct {
	*clitest.Served
	uri     string // of the store
	records int
}

func newAdoption(t *testing.T, s *clitest.Served, uri string) *adoption {
	t.Helper()
	a := &adoption{s, uri, testenv.Draws(t, 2000)}
	started := time.Now()
	kept := a.open(t)
	defer func() { _ = kept.Close() }()
	const workers = 64
	errs := make(chan error, workers)
	for worker := range workers {
		go func() {
			var failed error
			for i := worker; i < a.records; i += workers {
				failed = errors.Join(failed, a.record(t.Context(), kept, i))
			}
			errs <- failed
		}()
	}
	for range workers {
		testenv.Must(t, <-errs)
	}
	t.Logf("%d records were written in %v", a.records, time.Since(started))
	return a
}

// record completes an activity without a leaf, with the size of a transfer.
func (a *adoption) record(ctx context.Context, kept store.Store, i int) error {
	id := fmt.Sprintf("01900000-0000-7000-8000-%012d", i)
	claim := store.Claim{OrganizationID: a.By.OrganizationID, Fingerprint: sha256.Sum256([]byte(id)), LeaseTTL: time.Hour, Now: time.Now()}
	begun, err := kept.Begin(ctx, claim, nil)
	if err != nil {
		return err
	}
	data := fmt.Appendf(make([]byte, 0, 2048), "record %s%2000s", id, "")
	return kept.Complete(ctx, *begun.Lease, store.Activity{ID: id, Data: data, KeepUntil: time.Now().Add(time.Hour)}, nil)
}

func (a *adoption) open(t *testing.T) store.Store {
	t.Helper()
	kept, err := deployment.OpenStore(t.Context(), &config.Config{Store: a.uri})
	testenv.Must(t, err)
	return kept
}

// leaves audits the log and returns the number of leaves. Each leaf must have its record, and
// no record may have two.
func (a *adoption) leaves(t *testing.T) int {
	t.Helper()
	kept := a.open(t)
	defer func() { _ = kept.Close() }()
	ids := map[string]bool{}
	seen, err := translog.Audit(t.Context(), store.LogOf(kept.(store.Log), a.By.OrganizationID), nil, func(ctx context.Context, leaf translog.Leaf) ([]byte, error) {
		ids[leaf.ID] = true
		found, err := kept.Get(ctx, leaf.Organization, leaf.ID)
		return found.Data, err
	})
	if err != nil || seen.Leaves != int64(len(ids)) {
		t.Errorf("%d leaves of %d records: %v", seen.Leaves, len(ids), err)
	}
	return len(ids)
}

// killedWhen starts a server and kills it as soon as holds returns true or the server
// listens. It returns whether holds did.
func (a *adoption) killedWhen(t *testing.T, holds func(pid int) bool) bool {
	t.Helper()
	command := exec.Command("countersign", "serve", "--config", a.Config(), "--listen", "127.0.0.1:0", "--admin", "none")
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	testenv.Must(t, err)
	listens := make(chan struct{})
	go func() {
		_, _ = out.Read(make([]byte, 1))
		close(listens)
	}()
	held := false
	for waiting := true; waiting && !held; held = held || holds(command.Process.Pid) {
		select {
		case <-listens:
			waiting = false
		default:
		}
	}
	_ = command.Process.Kill()
	_ = command.Wait()
	return held
}

// finished starts the server twice: the first start adopts the remaining records, the second
// has nothing to adopt.
func (a *adoption) finished(t *testing.T) {
	t.Helper()
	for range 2 {
		started := time.Now()
		n := a.Start(t, "--admin", "none")
		t.Logf("it listens after %v", time.Since(started))
		if status := n.End(t, syscall.SIGTERM); status != console.ExitSuccess {
			t.Errorf("exit status %d: %s", status, n.Log)
		}
		if got := a.leaves(t); got != a.records {
			t.Errorf("%d of %d records are in the log", got, a.records)
		}
	}
}

// TestKilledWhileAdopting sends SIGKILL to a server that is adding older records to the log.
// The log must be empty or complete, and after the next start each record must have exactly
// one leaf.
func TestKilledWhileAdopting(t *testing.T) {
	testenv.Slow(t)
	t.Parallel()
	t.Run("bolt", func(t *testing.T) { adoptsInBolt(t, clitest.NewServed(t)) })
	t.Run("postgres", func(t *testing.T) { adoptsInPostgres(t, clitest.NewServed(t)) })
}

// adoptsInBolt kills the server when it has opened the file, and when it writes to it.
func adoptsInBolt(t *testing.T, s *clitest.Served) {
	file := filepath.Join(s.Dir, "state.db")
	a := newAdoption(t, s, "bolt:"+file)
	whole := testenv.Read(t, file)
	for what, holds := range map[string]func(pid int) bool{
		"open": func(pid int) bool { return hasOpen(pid, file) },
		"written": func(int) bool {
			info, err := os.Stat(file)
			return err == nil && info.ModTime().After(time.Unix(1, 0))
		},
	} {
		_ = os.Remove(filepath.Join(s.Dir, config.MemoryName)) // as on another machine
		testenv.Must(t, errors.Join(os.WriteFile(file, whole, 0o600), os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0))))
		held := a.killedWhen(t, holds)
		got := a.leaves(t)
		if got != 0 && got != a.records || !held {
			t.Errorf("killed with the file %s: %d of %d records are in the log", what, got, a.records)
		}
		t.Logf("killed with the file %s: %d leaves", what, got)
		a.finished(t)
	}
}

// hasOpen reports whether a process has a file open.
func hasOpen(pid int, file string) bool {
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	entries, _ := os.ReadDir(folder)
	for _, one := range entries {
		if to, err := os.Readlink(filepath.Join(folder, one.Name())); err == nil && to == file {
			return true
		}
	}
	return false
}

// adoptsInPostgres kills the server when half of the leaves are written: an uncommitted
// transaction occupies the index of the next one.
func adoptsInPostgres(t *testing.T, s *clitest.Served) {
	server := testenv.Postgres(t)
	folder, _, _ := strings.Cut(strings.TrimPrefix(server.DSN, "host="), " ")
	uri := "postgres:///postgres?user=postgres&host=" + folder
	s.StoreAt(t, uri)
	a := newAdoption(t, s, uri)
	holder, watcher := connected(t, server.DSN), connected(t, server.DSN)
	execute := func(statement string, arguments ...any) {
		t.Helper()
		if _, err := holder.Exec(t.Context(), statement, arguments...); err != nil {
			t.Fatal(err)
		}
	}
	execute("BEGIN")
	execute("INSERT INTO countersign_log_leaves VALUES ($1, $2, '', '', '')", a.By.OrganizationID, a.records/2)
	if !a.killedWhen(t, func(int) (blocked bool) {
		err := watcher.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid')").Scan(&blocked)
		return err == nil && blocked
	}) {
		t.Error("it listened before all records were in the log")
	}
	execute("ROLLBACK")
	if got := a.leaves(t); got != 0 {
		t.Errorf("killed in the middle: %d of %d records are in the log", got, a.records)
	}
	a.finished(t)
}

func connected(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), dsn)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = connection.Close(context.Background()) })
	return connection
}
