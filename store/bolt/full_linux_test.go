package bolt_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
)

// TestDiskFull runs a store in a process of its own that may not make files
// grow beyond a bound, which looks to it like a full disk. What cannot be
// written is unavailable, what was written stays, and when there is room again
// it goes on.
func TestDiskFull(t *testing.T) {
	const variable = "COUNTERSIGN_TEST_DISK_FULL"
	if path := os.Getenv(variable); path != "" {
		fillDisk(t, path)
		return
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDiskFull$", "-test.v")
	command.Env = append(os.Environ(), variable+"="+filepath.Join(t.TempDir(), "store"))
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
}

// TestNothingCanBeWritten runs a store in a process of its own in which no write
// to a file succeeds, at any place in it. Each call that has to write says so and
// leaves everything as it was; those that read go on; and when writing works
// again, so do they.
func TestNothingCanBeWritten(t *testing.T) {
	const variable = "COUNTERSIGN_TEST_NOTHING_WRITTEN"
	if path := os.Getenv(variable); path != "" {
		writeNothing(t, path)
		return
	}
	path := filled(t)
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNothingCanBeWritten$", "-test.v")
	command.Env = append(os.Environ(), variable+"="+path)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	s := open(t, path)
	for _, id := range []string{activityID, "new"} {
		if _, err := s.Get(t.Context(), "org", id); err != nil {
			t.Errorf("%s was completed; opened again: %v", id, err)
		}
	}
}

func writeNothing(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ)
	s := open(t, path)
	later, ctx := time.Now().Add(2*time.Hour), t.Context()
	claim := claimOf("new")
	claim.LeaseTTL = 10 * time.Hour
	begun, err := s.Begin(ctx, claim, nil)
	testenv.Must(t, err)
	insert := func(id string) store.Change {
		return without(func(ledger otpledger.Ledger) error { return ledger.Insert(otpledger.Code{ID: id, ExpiresAt: later}) })
	}
	calls := []struct {
		name string
		do   func() error
	}{
		{"Begin", func() error { _, err := s.Begin(ctx, claimOf("another"), insert("begun")); return err }},
		{"ChangeOTP", func() error { return s.Change(ctx, "org", insert("changed")) }},
		{"Complete", func() error { return s.Complete(ctx, *begun.Lease, activityOf("new"), insert("completed")) }},
		{"Sweep", func() error { _, err := s.Sweep(ctx, later); return err }},
	}
	limitFiles(t, 0)
	for range 2 {
		for _, call := range calls {
			if err := call.do(); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s: %v, want ErrUnavailable", call.name, err)
			}
		}
		if err := s.Release(ctx, *begun.Lease, insert("released")); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Release: %v, want ErrUnavailable", err)
		}
		if err := s.Ping(ctx); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Ping, while nothing can be written: %v", err)
		}
		if _, err := s.Get(ctx, "org", "new"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("what could not be written: %v", err)
		}
		if _, err := s.Get(ctx, "org", activityID); err != nil {
			t.Errorf("what was there: %v", err)
		}
	}
	limitFiles(t, math.MaxUint64)
	for range 2 {
		if err := s.Ping(ctx); err != nil {
			t.Errorf("Ping, once it can be written: %v", err)
		}
	}
	for _, call := range calls {
		if err := call.do(); err != nil {
			t.Errorf("%s, once it can be written: %v", call.name, err)
		}
	}
}

func fillDisk(t *testing.T, path string) {
	signal.Ignore(syscall.SIGXFSZ)
	s := open(t, path)
	limitFiles(t, 4<<20)
	written := 0
	var err error
	for ; written < 1000 && err == nil; written++ {
		err = completeLarge(t, s, written)
	}
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrLeaseLost) {
		t.Fatalf("after %d activities: %v", written, err)
	}
	written-- // the last was not
	if _, err := s.Get(t.Context(), "org", fmt.Sprint(written)); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("what could not be written: %v", err)
	}
	if written == 0 {
		t.Fatal("nothing was written at all")
	}
	for i := range written {
		if _, err := s.Get(t.Context(), "org", fmt.Sprint(i)); err != nil {
			t.Fatalf("activity %d of %d: %v", i, written, err)
		}
	}
	limitFiles(t, math.MaxUint64)
	if err := completeLarge(t, s, written); err != nil {
		t.Fatalf("with room again: %v", err)
	}
}

// limitFiles sets the soft limit only, so that it can be raised again.
func limitFiles(t *testing.T, size uint64) {
	t.Helper()
	var limit syscall.Rlimit
	testenv.Must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	limit.Cur = min(size, limit.Max)
	testenv.Must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
}

// completeLarge completes an activity of 100 kB, and releases it if it cannot.
func completeLarge(t *testing.T, s store.Store, i int) error {
	body := fmt.Sprint(i)
	claim := claimOf(body)
	claim.LeaseTTL = time.Hour
	begun, err := s.Begin(t.Context(), claim, nil)
	if err != nil {
		return err
	}
	activity := activityOf(body)
	activity.Data = make([]byte, 100_000)
	if err := s.Complete(t.Context(), *begun.Lease, activity, nil); err != nil {
		return errors.Join(err, s.Release(t.Context(), *begun.Lease, nil))
	}
	return nil
}
