package memory_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

var start = time.Date(2026, time.May, 4, 3, 2, 1, 0, time.UTC)

func claimOf(i int, now time.Time, size int) store.Claim {
	claim := store.Claim{OrganizationID: "org", LeaseTTL: time.Minute, Now: now, LiveUntil: now.Add(time.Hour), Size: size}
	binary.BigEndian.PutUint64(claim.Fingerprint[:], uint64(i))
	return claim
}

// put completes an activity with a record of size bytes.
func put(t testing.TB, s store.Store, i int, now time.Time, size int) error {
	t.Helper()
	begun, err := s.Begin(t.Context(), claimOf(i, now, size), nil)
	if err != nil {
		return err
	}
	if begun.Lease == nil {
		t.Fatalf("activity %d: no lease: %+v", i, begun)
	}
	return s.Complete(t.Context(), *begun.Lease, store.Activity{
		ID: fmt.Sprint("id ", i), Data: make([]byte, size), KeepUntil: now.Add(time.Hour),
	}, nil)
}

// TestFull fills a store: it refuses what is new, still has all it took, and
// takes more when the first have been forgotten.
func TestFull(t *testing.T) {
	s := memory.New(1 << 20)
	kept := 0
	for ; ; kept++ {
		err := put(t, s, kept, start, 10_000)
		if errors.Is(err, store.ErrFull) {
			break
		}
		testenv.Must(t, err)
		if kept > 200 {
			t.Fatal("a store of 1 MiB took 2 MB")
		}
	}
	if s.Used() > 1<<20 || kept < 90 {
		t.Fatalf("%d activities of 10 kB took %d bytes", kept, s.Used())
	}
	for i := range kept {
		if begun, err := s.Begin(t.Context(), claimOf(i, start.Add(time.Hour), 0), nil); err != nil || begun.Recorded == nil {
			t.Fatalf("activity %d was evicted: %+v, %v", i, begun, err)
		}
	}
	if err := put(t, s, kept, start.Add(time.Hour), 10_000); !errors.Is(err, store.ErrFull) {
		t.Fatalf("as long as all can be asked for: %v", err)
	}
	if err := put(t, s, kept, start.Add(time.Hour+time.Millisecond), 10_000); err != nil {
		t.Fatalf("after they are forgotten: %v", err)
	}
}

// TestRecordLargerThanClaimed completes more than was reserved: it is refused
// if there is no room, and the lease goes on.
func TestRecordLargerThanClaimed(t *testing.T) {
	s := memory.New(10_000)
	begun, err := s.Begin(t.Context(), claimOf(1, start, 10), nil)
	testenv.Must(t, err)
	large := store.Activity{ID: "a", Data: make([]byte, 10_000)}
	if err := s.Complete(t.Context(), *begun.Lease, large, nil); !errors.Is(err, store.ErrFull) {
		t.Fatalf("a record larger than the store: %v", err)
	}
	testenv.Must(t, s.Complete(t.Context(), *begun.Lease, store.Activity{ID: "a"}, nil))
}

// TestLeasesTakeRoom: what is begun has its room, so that it can be completed.
func TestLeasesTakeRoom(t *testing.T) {
	s := memory.New(100_000)
	var leases []store.Lease
	for i := 0; ; i++ {
		begun, err := s.Begin(t.Context(), claimOf(i, start, 20_000), nil)
		if errors.Is(err, store.ErrFull) {
			break
		}
		leases = append(leases, *begun.Lease)
	}
	if len(leases) != 4 {
		t.Fatalf("%d leases of 20 kB in 100 kB", len(leases))
	}
	for i, lease := range leases {
		testenv.Must(t, s.Complete(t.Context(), lease, store.Activity{ID: fmt.Sprint(i), Data: make([]byte, 20_000)}, nil))
	}
}

// TestAccounting: what all was forgotten of takes no room.
func TestAccounting(t *testing.T) {
	s := memory.New(0)
	for i := range 1000 {
		testenv.Must(t, put(t, s, i, start, 100))
	}
	issueMany(t, s, 1000)
	swept, err := s.Sweep(t.Context(), start.Add(48*time.Hour))
	testenv.Must(t, err)
	if swept.Activities != 1000 || swept.Entries != 3000 || s.Used() != 0 {
		t.Fatalf("swept %+v, and %d bytes are still taken", swept, s.Used())
	}
}

// issueMany makes live codes of as many users.
func issueMany(t testing.TB, s otp.Store, n int) {
	t.Helper()
	for i := range n {
		var user, to otpledger.MeterKey
		binary.BigEndian.PutUint64(user[:], uint64(i))
		binary.BigEndian.PutUint64(to[8:], uint64(i)+1)
		code := otpledger.Code{
			ID: fmt.Sprintf("%036d", i), Type: string(otp.TypeEmail), Contact: fmt.Sprintf("user%d@example.com", i),
			User: user, To: to, State: otpledger.StateLive, CreatedAt: start, ExpiresAt: start.Add(5 * time.Minute),
		}
		meter := otpledger.Meter{
			Sent:  []otpledger.Event{{At: start.UnixMilli(), N: 1}},
			Live:  []otpledger.LiveCode{{ID: code.ID, ExpiresAt: code.ExpiresAt.UnixMilli()}},
			Until: start.Add(3 * time.Minute).UnixMilli(),
		}
		err := s.Change(t.Context(), "org", changeFunc(func(ledger otpledger.Ledger) (error, error) {
			_, err := ledger.Meters(user, to)
			return nil, errors.Join(err, ledger.SetMeter(user, meter), ledger.SetMeter(to, meter), ledger.Insert(code))
		}))
		testenv.Must(t, err)
	}
}

type changeFunc func(otpledger.Ledger) (refusal, err error)

func (f changeFunc) Apply(ledger store.Ledger) (refusal, err error) { return f(otpledger.Over(ledger)) }

// TestCost holds the costs that the bound is computed from against what is
// really allocated: 100,000 live codes, and 50,000 activities.
func TestCost(t *testing.T) {
	for name, fill := range map[string]func(s *memory.Store, n int){
		"codes": func(s *memory.Store, n int) { issueMany(t, s, n) },
		"activities": func(s *memory.Store, n int) {
			for i := range n {
				testenv.Must(t, put(t, s, i, start, 1000))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := testenv.Some(100_000)
			s := memory.New(1 << 30)
			before := allocated()
			fill(s, n)
			real, counted := int(allocated()-before), s.Used()
			t.Logf("%d bytes each, of which %d are counted", real/n, counted/n)
			if real > counted*5/4 || counted > real*2 {
				t.Errorf("%d bytes are allocated and %d counted", real, counted)
			}
			runtime.KeepAlive(s)
		})
	}
}

func allocated() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// TestCodesTakeRoom: a store that is full takes no code and no new meter either.
func TestCodesTakeRoom(t *testing.T) {
	for name, add := range map[string]func(ledger otpledger.Ledger, i int) error{
		"codes": func(ledger otpledger.Ledger, i int) error {
			return ledger.Insert(otpledger.Code{ID: fmt.Sprint("id ", i), CreatedAt: start, ExpiresAt: start.Add(time.Hour)})
		},
		"meters": func(ledger otpledger.Ledger, i int) error {
			var key otpledger.MeterKey
			binary.BigEndian.PutUint64(key[:], uint64(i))
			return ledger.SetMeter(key, otpledger.Meter{Live: []otpledger.LiveCode{{ID: "id", ExpiresAt: start.Add(time.Hour).UnixMilli()}}})
		},
	} {
		s := memory.New(64 << 10)
		var err error
		added := 0
		for ; err == nil && added < 10_000; added++ {
			err = s.Change(t.Context(), "org", changeFunc(func(ledger otpledger.Ledger) (refusal, err error) { return nil, add(ledger, added) }))
		}
		if !errors.Is(err, store.ErrFull) || added < 2 {
			t.Errorf("%d %s were taken, and then: %v", added, name, err)
		}
	}
}
