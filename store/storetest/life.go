package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/store"
)

func runSweep(t *testing.T, h Harness) {
	t.Run("stale claims", func(t *testing.T) { staleClaims(open(t, h)) })
	t.Run("stale claims on an expired lease", func(t *testing.T) { staleExpired(open(t, h)) })
	if open(t, h).Sweeper == nil {
		return
	}
	t.Run("activities", func(t *testing.T) { sweepActivities(open(t, h)) })
	t.Run("codes", func(t *testing.T) { sweepCodes(open(t, h)) })
	t.Run("codes inserted again", func(t *testing.T) { sweepInsertedAgain(open(t, h)) })
	t.Run("meters", func(t *testing.T) { sweepMeters(open(t, h)) })
	t.Run("leases", func(t *testing.T) { sweepLeases(open(t, h)) })
}

func (b *bench) sweep(now time.Time) store.SweepStats {
	b.t.Helper()
	swept, err := b.Sweep(b.t.Context(), now)
	b.noError(err)
	return swept
}

// sweepActivities checks that every store keeps activities until KeepUntil, and that
// afterwards only those that forget have forgotten them.
func sweepActivities(b *bench) {
	b.complete(b.lease("a"), "a")
	until := b.activity("a").KeepUntil
	b.now = until
	b.same(store.SweepStats{}, b.sweep(until))
	b.recorded()
	b.now = until.Add(time.Millisecond)
	if !b.forgets {
		b.same(store.SweepStats{}, b.sweep(b.now))
		b.recorded()
		return
	}
	b.stale("a")
	b.sweep(b.now)
	_, err := b.Get(b.t.Context(), organization, b.activity("a").ID)
	b.is(err, store.ErrNotFound)
	b.now = epoch // the clock is set back: the request looks live again
	b.stale("a")
	b.stale("another that was live as long")
}

// stale checks that a request is refused for good.
func (b *bench) stale(body string) {
	b.t.Helper()
	_, err := b.Begin(b.t.Context(), b.claim(body), bump(nil, nil))
	b.is(err, store.ErrStale)
}

// staleClaims checks that a request that is no longer live gets no lease, but does get
// the record, and waits for a holder that has not finished.
func staleClaims(b *bench) {
	b.ttl = time.Minute
	b.now = liveUntil
	held := b.lease("held")
	b.complete(b.lease("a"), "a")
	b.now = liveUntil.Add(time.Millisecond)
	b.stale("b")
	b.bumped(0)
	begun, err := b.Begin(b.t.Context(), b.claim("held"), bump(nil, nil))
	b.noError(err)
	b.same(true, begun.Wait != nil)
	b.complete(held, "held")
	if !b.forgets {
		b.recorded()
	}
}

// staleExpired checks that an expired lease is not waited for if it cannot be taken.
func staleExpired(b *bench) {
	b.now = liveUntil
	b.lease("a")
	b.pass(b.ttl + time.Millisecond)
	b.stale("a")
}

func sweepCodes(b *bench) {
	code := testCode("a", otpledger.StateLive)
	later := testCode("b", otpledger.StateLive)
	later.ExpiresAt = later.ExpiresAt.Add(time.Second)
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(code) })
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(later) })
	b.same(store.SweepStats{}, b.sweep(code.KeepUntil()))
	b.same(store.SweepStats{Entries: 1}, b.sweep(code.KeepUntil().Add(time.Millisecond)))
	b.do(func(ledger otpledger.Ledger) error {
		_, err := ledger.Code("a")
		b.is(err, otp.ErrUnknown)
		_, err = ledger.Code("b")
		return err
	})
	b.same(store.SweepStats{Entries: 1}, b.sweep(later.KeepUntil().Add(time.Millisecond)))
	b.same(store.SweepStats{}, b.sweep(later.KeepUntil().Add(time.Hour)))
}

// sweepInsertedAgain checks that an insert that was rolled back leaves nothing behind
// that would sweep a later code with the same id too early.
func sweepInsertedAgain(b *bench) {
	code := testCode("a", otpledger.StateLive)
	b.is(b.Change(b.t.Context(), organization, change(func(ledger otpledger.Ledger) (error, error) {
		return nil, errors.Join(ledger.Insert(code), errFailed)
	})), errFailed)
	early := code.KeepUntil().Add(time.Millisecond)
	code.ExpiresAt = code.ExpiresAt.Add(time.Hour)
	b.do(func(ledger otpledger.Ledger) error { return ledger.Insert(code) })
	b.same(store.SweepStats{}, b.sweep(early))
	b.do(func(ledger otpledger.Ledger) error {
		_, err := ledger.Code("a")
		return err
	})
}

// sweepMeters also extends a meter: it is swept by its latest KeepUntil.
func sweepMeters(b *bench) {
	set := func(at time.Time) time.Time {
		meter := otpledger.Meter{Tried: []otpledger.Event{{At: at.UnixMilli(), N: 1}},
			Until: at.Add(24 * time.Hour).UnixMilli()}
		b.do(func(ledger otpledger.Ledger) error {
			if _, err := ledger.Meters(testKey); err != nil {
				return err
			}
			return ledger.SetMeter(testKey, meter)
		})
		return meter.KeepUntil()
	}
	first := set(epoch)
	last := set(epoch.Add(time.Hour))
	b.same(store.SweepStats{}, b.sweep(first.Add(time.Millisecond)))
	b.same(store.SweepStats{}, b.sweep(last))
	b.same(1, len(b.meter(testKey).Tried))
	b.same(store.SweepStats{Entries: 1}, b.sweep(last.Add(time.Millisecond)))
	b.same(0, len(b.meter(testKey).Tried))
}

// sweepLeases checks that a lease that has just expired is left to its holder.
func sweepLeases(b *bench) {
	lease := b.lease("a")
	b.pass(2 * b.ttl)
	b.same(store.SweepStats{}, b.sweep(b.now))
	if b.h.OwnClock {
		b.complete(lease, "a")
		return // the clock that would make it old enough is not ours to set
	}
	b.now = lease.Until.Add(store.LeaseGrace)
	b.same(store.SweepStats{Leases: 1}, b.sweep(b.now))
	b.lost(lease)
}

func runClose(t *testing.T, h Harness) {
	b := open(t, h)
	b.ttl = time.Minute
	lease := b.lease("a")
	wait := b.busy()
	woken := make(chan error, 1)
	go func() { woken <- wait(t.Context()) }()
	b.ping(nil)
	b.noError(b.Close())
	b.is(b.soon(woken), store.ErrClosed)
	b.noError(b.Close())

	_, err := b.Begin(t.Context(), b.claim("a"), nil)
	b.is(err, store.ErrClosed)
	_, err = b.Renew(t.Context(), lease, time.Minute, b.now)
	b.is(err, store.ErrClosed)
	b.is(b.Complete(t.Context(), lease, b.activity("a"), nil), store.ErrClosed)
	b.is(b.Release(t.Context(), lease, nil), store.ErrClosed)
	b.is(b.Change(t.Context(), organization, bump(nil, nil)), store.ErrClosed)
	_, err = b.Get(t.Context(), organization, "id")
	b.is(err, store.ErrClosed)
	if b.Sweeper != nil {
		_, err = b.Sweep(t.Context(), b.now)
		b.is(err, store.ErrClosed)
	}
	b.ping(store.ErrClosed)
}

// ping checks what a store that can be asked says of itself.
func (b *bench) ping(want error) {
	b.t.Helper()
	if b.Pinger != nil {
		b.is(b.Ping(b.t.Context()), want)
	}
}

func runReopen(t *testing.T, h Harness) {
	reopen := h.Reopen(t)
	b := on(t, h, reopen())
	b.complete(b.lease("a"), "a")
	b.lease("left behind")
	b.do(func(ledger otpledger.Ledger) error {
		b.noError(bumpMeter(ledger, testKey))
		return ledger.Insert(testCode("code", otpledger.StateLive))
	})
	b.try("code", "1", 3, epoch, otpledger.TryCounted, 1)
	before := passwordsOf(b)
	id := before.mustIssue()
	before.refused(before.redeem(b.Store, "wrong", id, wrong(before.sent[id])), otp.ErrWrong)
	b.noError(b.Close())

	b = on(t, h, reopen())
	defer func() { _ = b.Close() }()
	b.recorded()
	b.bumped(1)
	b.try("code", "1", 3, epoch, otpledger.TryRepeated, 1)
	after := passwordsOf(b)
	after.same(1, after.redeemAtOnce(200, id, before.sent[id]))
	after.refused(after.redeem(b.Store, "later", id, before.sent[id]), otp.ErrUsed)
	b.pass(2 * b.ttl)
	b.lease("left behind")
}

func runNodes(t *testing.T, h Harness) {
	t.Run("the same body on two nodes does one piece of work", func(t *testing.T) {
		b, nodes := openNodes(t, h)
		b.ttl = time.Minute
		b.same(1, sameBodyAtOnce(b, 100, func(i int) store.Store { return nodes[i%2] }))
	})
	t.Run("the work of a dead node is taken over", func(t *testing.T) {
		b, nodes := openNodes(t, h)
		lease := b.lease("a")
		begun, err := store.Acquire(t.Context(), nodes[1], b.claim("a"), func() time.Time { return b.now }, nil)
		b.noError(err)
		b.same(true, begun.Lease != nil)
		b.lost(lease)
		b.noError(nodes[1].Complete(t.Context(), *begun.Lease, b.activity("a"), nil))
		b.recorded()
	})
	t.Run("200 right codes on two nodes: one is used", func(t *testing.T) {
		b, nodes := openNodes(t, h)
		p := passwordsOf(b)
		p.node = func(i int) store.Store { return nodes[i%2] }
		oneOfManyRight(p)
	})
	t.Run("200 wrong codes on two nodes: three are counted", func(t *testing.T) {
		b, nodes := openNodes(t, h)
		p := passwordsOf(b)
		p.node = func(i int) store.Store { return nodes[i%2] }
		threeOfManyWrong(p)
	})
	t.Run("40 sends of a credential on two nodes: ten go out", func(t *testing.T) {
		b, nodes := openNodes(t, h)
		p := passwordsOf(b)
		p.node = func(i int) store.Store { return nodes[i%2] }
		tenOfCredential(p)
	})
	t.Run("64 charges at once on two nodes never exceed the limit", func(t *testing.T) {
		b, nodes := openNodes(t, h)
		chargeAtOnce(b, func(i int) store.Store { return nodes[i%2] })
	})
	t.Run("48 activities begin to wait at once on two nodes: never more than may", func(t *testing.T) {
		b, nodes := openNodes(t, h)
		crowdAtOnce(b, func(i int) store.Store { return nodes[i%2] })
	})
	t.Run("one node wakes the other", func(t *testing.T) {
		b, nodes := openNodes(t, h)
		b.ttl = time.Minute
		lease := b.lease("a")
		begun, err := nodes[1].Begin(t.Context(), b.claim("a"), nil)
		b.noError(err)
		woken := make(chan error, 1)
		go func() { woken <- begun.Wait(t.Context()) }()
		b.complete(lease, "a")
		b.noError(b.soon(woken))
		on(t, h, nodes[1]).recorded()
	})
}

func openNodes(t testing.TB, h Harness) (*bench, [2]store.Store) {
	first, other := h.Nodes(t)
	t.Cleanup(func() { _, _ = first.Close(), other.Close() })
	return on(t, h, first), [2]store.Store{first, other}
}
