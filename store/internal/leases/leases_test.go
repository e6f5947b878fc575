package leases

import (
	"errors"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
)

var now = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// claim asks for the lease of a request for a second.
func claim(organization string) store.Claim {
	return store.Claim{OrganizationID: organization, Now: now, LeaseTTL: time.Second}
}

func take(t *testing.T, table *Table, organization string) store.Lease {
	t.Helper()
	begun, err := table.Take(claim(organization))
	if err != nil || begun.Lease == nil {
		t.Fatalf("%+v, %v: want a lease", begun, err)
	}
	return *begun.Lease
}

// TestPinnedOnce: of two that complete under one lease, one writes.
func TestPinnedOnce(t *testing.T) {
	table := New()
	lease := take(t, table, "org")
	testenv.Must(t, table.Pin(lease))
	if err := table.Pin(lease); !errors.Is(err, store.ErrLeaseLost) {
		t.Errorf("pinned twice: %v", err)
	}
	table.Unpin(lease)
	if err := table.Pin(lease); err != nil {
		t.Errorf("after the first has failed: %v", err)
	}
}

// TestClosed: leases are lost, and none is given.
func TestClosed(t *testing.T) {
	table := New()
	lease := take(t, table, "org")
	table.Close()
	table.Close()
	if begun, err := table.Take(claim("other")); !errors.Is(err, store.ErrClosed) || begun.Lease != nil {
		t.Errorf("taken: %+v, %v", begun, err)
	}
	if _, err := table.Renew(lease, time.Second, now); !errors.Is(err, store.ErrClosed) {
		t.Errorf("renewed: %v", err)
	}
	if err := table.Pin(lease); !errors.Is(err, store.ErrClosed) {
		t.Errorf("pinned: %v", err)
	}
}
