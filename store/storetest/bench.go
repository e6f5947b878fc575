package storetest

import (
	"context"
	"crypto/sha256"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/store"
)

// Harness says how to open the store under test.
type Harness struct {
	// Open creates an empty store. The suite closes it. With OwnClock, tests call it and
	// the other functions at once.
	Open func(t testing.TB) store.Store

	// OwnClock says that leases go by the store's own clock instead of Claim.Now. The
	// suite then sleeps where it would otherwise advance the time that it passes.
	OwnClock bool

	// Reopen creates a place for a store that survives, and returns a function that
	// opens the store there. Nil if the store does not survive.
	Reopen func(t testing.TB) func() store.Store

	// Dump returns everything that the store keeps, as a thief would find it. Nil if it
	// keeps nothing outside the process.
	Dump func(t testing.TB, s store.Store) []byte

	// Nodes creates two stores that share one empty place. Nil if the store cannot be
	// shared.
	Nodes func(t testing.TB) (first, other store.Store)
}

// atOnce runs a test in parallel with others if it has to wait for the store's clock.
func (h Harness) atOnce(t *testing.T) {
	if h.OwnClock {
		t.Parallel()
	}
}

// epoch is when the tests begin, for stores that are passed the time.
var epoch = time.Date(2026, time.May, 4, 3, 2, 1, 0, time.UTC)

// liveUntil is until when the requests of the tests are live.
var liveUntil = epoch.Add(time.Hour)

// bench is a store with its test's clock and helpers. What the store cannot do is nil: see
// store.Capabilities.
type bench struct {
	t           testing.TB
	store.Store // makes each change twice: see rehearsing
	store.Waiter
	store.Lister
	store.Sweeper
	store.Pinger
	raw     store.Store
	log     store.Log
	outbox  store.Outbox
	forgets bool
	h       Harness
	ttl     time.Duration
	now     time.Time
}

// The duration of leases that expire in a test. With its own clock a store has to be
// waited for, on a machine that may be slow.
const (
	shortTTL    = 300 * time.Millisecond
	ownClockTTL = 1500 * time.Millisecond
)

func open(t testing.TB, h Harness) *bench {
	t.Helper()
	s := h.Open(t)
	t.Cleanup(func() { _ = s.Close() })
	return on(t, h, s)
}

func on(t testing.TB, h Harness, s store.Store) *bench {
	can := store.CapabilitiesOf(s)
	b := &bench{
		t: t, Store: rehearsing{s}, raw: s,
		Lister: can.Lister, Sweeper: can.Sweeper, Pinger: can.Pinger,
		log: can.Log, outbox: can.Outbox, forgets: can.Forgets,
		h: h, ttl: shortTTL, now: epoch,
	}
	if can.Waiter != nil {
		b.Waiter = rehearsingWaiter{can.Waiter}
	}
	if h.OwnClock {
		b.ttl = ownClockTTL
	}
	return b
}

// pass advances the clock by d, or sleeps if the store has its own.
func (b *bench) pass(d time.Duration) {
	b.now = b.now.Add(d)
	if b.h.OwnClock {
		time.Sleep(d)
	}
}

const organization = "6e1f8f5e-1111-4222-8333-444455556666"

func fingerprint(body string) store.Fingerprint { return sha256.Sum256([]byte(body)) }

// at is the time that a body names: none for every fourth.
func at(body string) int64 {
	sum := fingerprint(body)
	if sum[0]%4 == 0 {
		return 0
	}
	return epoch.UnixMilli() + int64(sum[1])
}

func (b *bench) claim(body string) store.Claim {
	return store.Claim{OrganizationID: organization, Fingerprint: fingerprint(body), At: at(body), LeaseTTL: b.ttl,
		Now: b.now, LiveUntil: liveUntil, Size: 100}
}

func (b *bench) activity(body string) store.Activity {
	return store.Activity{
		ID:             "id of " + body,
		OrganizationID: organization,
		Fingerprint:    fingerprint(body),
		At:             at(body),
		SubmittedBy:    "somebody",
		Data:           []byte("record of " + body),
		KeepUntil:      liveUntil,
		User:           "ann",
		Type:           "SIGN",
		Status:         "DONE",
		Revision:       1,
	}
}

// begin calls Begin and fails on an error.
func (b *bench) begin(body string) store.BeginResult {
	b.t.Helper()
	begun, err := b.Begin(b.t.Context(), b.claim(body), nil)
	b.noError(err)
	set := 0
	for _, is := range []bool{begun.Lease != nil, begun.Recorded != nil, begun.Wait != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		b.t.Fatalf("Begin set %d of its three answers: %+v", set, begun)
	}
	return begun
}

// lease calls Begin and fails unless it returns a lease.
func (b *bench) lease(body string) store.Lease {
	b.t.Helper()
	begun := b.begin(body)
	if begun.Lease == nil {
		b.t.Fatalf("Begin granted no lease: %+v", begun)
	}
	if begun.Lease.OrganizationID != organization || begun.Lease.Fingerprint != fingerprint(body) {
		b.t.Fatalf("the lease is for another claim: %+v", begun.Lease)
	}
	return *begun.Lease
}

// busy calls Begin for the body a and fails unless the lease is held.
func (b *bench) busy() func(context.Context) error {
	b.t.Helper()
	begun := b.begin("a")
	if begun.Wait == nil {
		b.t.Fatalf("Begin does not report that the lease is held: %+v", begun)
	}
	return begun.Wait
}

// recorded calls Begin for the body a and fails unless it returns the completed
// activity.
func (b *bench) recorded() {
	b.t.Helper()
	begun := b.begin("a")
	if begun.Recorded == nil {
		b.t.Fatalf("Begin returned no record: %+v", begun)
	}
	b.same(b.activity("a"), *begun.Recorded)
}

// complete completes an activity and fails on an error.
func (b *bench) complete(lease store.Lease, body string) {
	b.t.Helper()
	b.noError(b.Complete(b.t.Context(), lease, b.activity(body), nil))
}

func (b *bench) noError(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) same(want, got any) {
	b.t.Helper()
	if diff := differences(want, got); diff != "" {
		b.t.Fatalf("not what was expected (-want +got):\n%s", diff)
	}
}

// differences is cmp.Diff for values that are not deeply equal, which is a thousand
// times faster for those that are.
func differences(want, got any, options ...cmp.Option) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got, options...)
}

// change is a function as a store.Change.
type change func(ledger otpledger.Ledger) (refusal, err error)

// Apply implements store.Change.
func (c change) Apply(ledger store.Ledger) (refusal, err error) { return c(otpledger.Over(ledger)) }

// do makes a change that refuses nothing, and fails on an error.
func (b *bench) do(f func(ledger otpledger.Ledger) error) {
	b.t.Helper()
	b.noError(b.Change(b.t.Context(), organization, change(func(ledger otpledger.Ledger) (error, error) {
		return nil, f(ledger)
	})))
}
