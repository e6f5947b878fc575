package bolt_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// With this variable set, the test binary is a process that completes
// activities in the file it names, says so line by line, and waits to be killed.
const victimVariable = "COUNTERSIGN_TEST_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victimVariable); path != "" {
		victim(path)
	}
	os.Exit(m.Run())
}

func victim(path string) {
	s, err := bolt.Open(path)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	var out sync.Mutex
	for worker := range 8 {
		go func() {
			for i := 0; ; i++ {
				body := fmt.Sprintf("%d/%d/%d", os.Getpid(), worker, i)
				if err := completeOne(context.Background(), s, body); err != nil {
					body = "error " + err.Error()
				}
				out.Lock()
				fmt.Println(body)
				out.Unlock()
			}
		}()
	}
	select {}
}

func completeOne(ctx context.Context, s store.Store, body string) error {
	claim, charges := claimOf(body), chargesOf(body)
	begun, err := s.Begin(ctx, claim, charges.Take(claim.Now, nil))
	if err != nil {
		return err
	}
	return s.Complete(ctx, *begun.Lease, activityOf(body), charges.Confirm(claim.Now, nil))
}

// chargesOf is one of two limits: one that is never reached, and one that is
// reached while processes are killed.
func chargesOf(body string) *store.Charges {
	never, reached := big.NewInt(1<<40), big.NewInt(limitOfVictims)
	one := store.Charge{Limit: "never", Subject: "all", Amount: big.NewInt(1), Max: never, Window: store.MaxWindow}
	if os.Getenv(limitedVariable) != "" {
		one.Limit, one.Max = "reached", reached
	}
	return &store.Charges{By: fingerprint(body), List: []store.Charge{one}}
}

// limitedVariable makes victims charge a limit of limitOfVictims.
const (
	limitedVariable = "COUNTERSIGN_TEST_LIMITED"
	limitOfVictims  = 2000
)

// TestKillNeverExceedsALimit kills processes that charge one limit: what they
// said to have completed is never more than the limit, all of it is counted, and
// a body that comes again is not charged again.
func TestKillNeverExceedsALimit(t *testing.T) {
	testenv.Slow(t)
	t.Setenv(limitedVariable, "1")
	path := filepath.Join(t.TempDir(), "store")
	var completed []string
	for range 12 {
		completed = append(completed, killAfterSome(t, path)...)
	}
	s := open(t, path)
	for range 2 * limitOfVictims { // the rest, and more
		if err := completeOne(t.Context(), s, fmt.Sprint("after ", len(completed))); errors.Is(err, store.ErrLimit) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		completed = append(completed, fmt.Sprint("after ", len(completed)))
	}
	if len(completed) > limitOfVictims || len(completed) < limitOfVictims/2 {
		t.Errorf("%d of %d were completed", len(completed), limitOfVictims)
	}
	for _, body := range completed {
		charges := chargesOf(body)
		if begun, err := s.Begin(t.Context(), claimOf(body), charges.Take(time.Now(), nil)); err != nil || begun.Recorded == nil {
			t.Fatalf("%s again: %+v, %v", body, begun, err)
		}
	}
	err := s.Change(t.Context(), "org", store.ChangeFunc(func(ledger store.Ledger) (error, error) {
		sum, _, err := store.Spent(ledger, chargesOf("").List[0], time.Now())
		if err == nil && sum.Cmp(big.NewInt(limitOfVictims)) != 0 {
			t.Errorf("%s of %d are counted", sum, limitOfVictims)
		}
		return nil, err
	}))
	testenv.Must(t, err)
	t.Logf("%d of %d were completed, the others died with their processes", len(completed), limitOfVictims)
}

func claimOf(body string) store.Claim {
	return store.Claim{OrganizationID: "org", Fingerprint: fingerprint(body), LeaseTTL: time.Minute, Now: time.Now()}
}

func activityOf(body string) store.Activity {
	return store.Activity{ID: body, OrganizationID: "org", Fingerprint: fingerprint(body), Data: []byte("record of " + body)}
}

func fingerprint(body string) (sum store.Fingerprint) {
	copy(sum[:], body)
	return sum
}

// TestKill kills a process in the middle of its work, again and again: what it
// said to have completed is in the file, and the file opens.
func TestKill(t *testing.T) {
	testenv.Slow(t)
	path := filepath.Join(t.TempDir(), "store")
	var completed []string
	for range 20 {
		completed = append(completed, killAfterSome(t, path)...)
	}
	s := open(t, path)
	for _, body := range completed {
		got, err := s.Get(t.Context(), "org", body)
		if err != nil || string(got.Data) != "record of "+body {
			t.Fatalf("%s was completed; afterwards: %q, %v", body, got.Data, err)
		}
		begun, err := s.Begin(t.Context(), claimOf(body), nil)
		if err != nil || begun.Recorded == nil {
			t.Fatalf("%s was completed; afterwards Begin: %+v, %v", body, begun, err)
		}
	}
	t.Logf("%d activities were completed by 20 processes that were killed", len(completed))
}

func killAfterSome(t *testing.T, path string) (completed []string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), victimVariable+"="+path)
	pipe, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	lines := bufio.NewScanner(pipe)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "error") {
			t.Error(lines.Text())
		}
		completed = append(completed, lines.Text())
		if len(completed) == 50 {
			testenv.Must(t, command.Process.Kill())
		}
	}
	_ = command.Wait() // killed
	if len(completed) < 50 {
		t.Fatalf("the process ended by itself after %d activities", len(completed))
	}
	return completed[:len(completed)-1] // the last line may be half a one
}

// TestInUse opens a file that is open: the answer comes when OpenTimeout is over and
// names the cause.
func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	open(t, path)
	started := time.Now()
	_, err := bolt.Open(path)
	if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "in use by another process") || !strings.Contains(err.Error(), path) {
		t.Fatalf("opened twice: %v", err)
	}
	if waited := time.Since(started); waited < bolt.OpenTimeout/2 {
		t.Fatalf("it took %v", waited)
	}
}

func TestOpenRefusesWhatIsNoStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	testenv.Write(t, path, []byte(strings.Repeat("this is no store. ", 1000)))
	if _, err := bolt.Open(path); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), path) {
		t.Fatalf("opened: %v", err)
	}
	if _, err := bolt.Open(filepath.Join(t.TempDir(), "missing", "store")); !errors.Is(err, store.ErrUnavailable) {
		t.Fatalf("opened in a folder that is not there: %v", err)
	}
}

func TestFileMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	open(t, path)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", info.Mode(), err)
	}
}

// TestGroupCommit lets many come while the writer is at work: they share fsyncs,
// however fast the disk is.
func TestGroupCommit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	const clients, rounds = 64, 20
	for round := range rounds {
		var all, coming sync.WaitGroup
		release := occupy(t, s, &all)
		for client := range clients {
			coming.Add(1)
			all.Go(func() {
				coming.Done()
				if err := completeOne(t.Context(), s, fmt.Sprintf("%d/%d", client, round)); err != nil {
					t.Error(err)
				}
			})
		}
		coming.Wait()
		release()
		all.Wait()
	}
	stats := s.Stats()
	t.Logf("%d activities in %d commits: %.1f share an fsync", stats.Completed, stats.Commits, float64(stats.Completed)/float64(stats.Commits))
	if stats.Completed != clients*rounds {
		t.Fatalf("%d activities were completed; %d were expected", stats.Completed, clients*rounds)
	}
	if stats.Commits*2 > stats.Completed {
		t.Fatalf("%d commits for %d activities: they do not share", stats.Commits, stats.Completed)
	}
}

// occupy keeps the writer at work until it is released.
func occupy(t *testing.T, s *bolt.Store, all *sync.WaitGroup) (release func()) {
	t.Helper()
	started, released := make(chan struct{}), make(chan struct{})
	start := sync.OnceFunc(func() { close(started) })
	all.Go(func() {
		err := s.Change(t.Context(), "org", changeFunc(func(otpledger.Ledger) (error, error) {
			start()
			<-released
			return nil, nil
		}))
		if err != nil {
			t.Error(err)
		}
	})
	<-started
	return func() { close(released) }
}

// TestFailingChangeIsAlone puts a change that fails after it has written among
// others: they are made, it is not.
func TestFailingChangeIsAlone(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	failed := errors.New("failed by the test")
	var all sync.WaitGroup
	for i := range 100 {
		all.Go(func() {
			key := otpledger.MeterKey{byte(i)}
			err := s.Change(t.Context(), "org", changeFunc(func(ledger otpledger.Ledger) (error, error) {
				if err := ledger.SetMeter(key, otpledger.Meter{Sent: []otpledger.Event{{At: 1, N: 1}}}); err != nil {
					return nil, err
				}
				if i%5 == 0 {
					return nil, failed
				}
				return nil, nil
			}))
			if (i%5 == 0) != errors.Is(err, failed) {
				t.Errorf("change %d: %v", i, err)
			}
		})
	}
	all.Wait()
	err := s.Change(t.Context(), "org", changeFunc(func(ledger otpledger.Ledger) (error, error) {
		for i := range 100 {
			meters, err := ledger.Meters(otpledger.MeterKey{byte(i)})
			if err != nil {
				return nil, err
			}
			if kept := len(meters[0].Sent) == 1; kept == (i%5 == 0) {
				t.Errorf("change %d: kept %v", i, kept)
			}
		}
		return nil, nil
	}))
	testenv.Must(t, err)
}

type changeFunc func(otpledger.Ledger) (refusal, err error)

func (f changeFunc) Apply(ledger store.Ledger) (refusal, err error) { return f(otpledger.Over(ledger)) }
