package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testkit/tape"
	"github.com/countersign-dev/countersign/store"
)

// Play performs the operations that a tape chooses, which may be a fuzzer's, on a store
// and on a model of a few maps: two organizations with the same fingerprints; leases
// that expire, are taken over, renewed, completed and released with valid or stale
// tokens; changes to one-time passwords that succeed, refuse or fail; and sweeps in
// between. Every answer must equal the model's.
func Play(t testing.TB, h Harness, choices []byte) {
	t.Helper()
	p := &player{bench: open(t, h), tape: tape.New(choices), model: newModel(), gone: map[nameKey]bool{}}
	for p.tape.More() {
		p.retire()
		p.step()
	}
	p.checkAll()
}

// runModel plays random sequences, the same ones every time.
func runModel(t *testing.T, h Harness) {
	const sequences, length = 8, 300
	random := rand.New(rand.NewPCG(1, 2))
	for number := range sequences {
		choices := make([]byte, length)
		for i := range choices {
			choices[i] = byte(random.Uint32())
		}
		t.Run(fmt.Sprint(number), func(t *testing.T) { Play(t, h, choices) })
	}
}

// player plays one sequence.
type player struct {
	*bench
	tape  *tape.Tape
	model *model
	given []store.Lease    // all that were given out, over or not
	gone  map[nameKey]bool // codes that a store may have swept
}

// Names that sequences choose from. There are few, so that operations collide.
var (
	organizations = []string{organization, "another"}
	bodies        = []string{"a", "b", "c"}
	activityIDs   = []string{"id 1", "id 2", "id 3", "id 4"}
	codeIDs       = []string{"code 1", "code 2", "code 3"}
	meterKeys     = []otpledger.MeterKey{{1}, {2}, {3}}
)

const longTTL = time.Hour

// farAway is later than any sequence gets.
var farAway = epoch.Add(100_000 * time.Hour)

func (p *player) step() {
	switch p.tape.Intn(12) {
	case 0, 1, 2:
		p.playBegin()
	case 3:
		p.withLease(p.playRenew)
	case 4, 5:
		p.withLease(p.playComplete)
	case 6:
		p.withLease(p.playRelease)
	case 7:
		p.playChange()
	case 8:
		p.now = p.now.Add(tape.Pick(p.tape, time.Millisecond, shortTTL-time.Millisecond, shortTTL, longTTL,
			otpledger.Grace))
	case 9:
		p.playSweep()
	case 10:
		if p.Waiter != nil {
			p.playReplace()
		}
	case 11:
		if p.Lister != nil {
			p.playList()
		}
	}
}

// chooseTTL chooses how long a lease lasts. If the store has its own clock, a lease is
// over either immediately or not before the sequence ends.
func (p *player) chooseTTL() time.Duration {
	switch long := p.tape.OneIn(3); {
	case long:
		return longTTL
	case p.h.OwnClock:
		return time.Millisecond
	}
	return shortTTL
}

// hold records a lease in the model, as it is after a call that granted or renewed it.
func (p *player) hold(lease store.Lease, ttl time.Duration) {
	p.t.Helper()
	over := p.now.Add(ttl)
	switch {
	case p.h.OwnClock && ttl == longTTL:
		over = farAway
	case p.h.OwnClock:
		over = time.Time{}
		time.Sleep(5 * ttl)
	case !lease.Until.Equal(over):
		p.t.Fatalf("the lease lasts until %v; %v was expected", lease.Until, over)
	}
	p.model.leases[requestKey{lease.OrganizationID, lease.Fingerprint}] = held{lease.Token, over}
}

func (p *player) playBegin() {
	claim := p.claim(tape.Pick(p.tape, bodies...))
	claim.OrganizationID, claim.LeaseTTL = tape.Pick(p.tape, organizations...), p.chooseTTL()
	claim.LiveUntil = tape.Pick(p.tape, farAway, farAway, farAway, p.now, p.now.Add(-time.Millisecond))
	key := requestKey{claim.OrganizationID, claim.Fingerprint}
	claim.Revision = tape.Pick(p.tape, 0, 0, p.model.records[key].Revision, p.model.records[key].Revision, 1)
	script := p.script(claim.OrganizationID)
	begun, err := p.Begin(p.t.Context(), claim, script.change())
	recorded, done := p.model.records[key]
	holder, taken := p.model.leases[key]
	switch {
	case done && !claim.Takes(&recorded):
		p.noError(err)
		p.same(&recorded, begun.Recorded)
	case !done && claim.Revision != 0:
		p.is(err, store.ErrChanged)
	case taken && p.now.Before(holder.over):
		p.noError(err)
		p.same(true, begun.Wait != nil && begun.Lease == nil && begun.Recorded == nil)
	case claim.Stale():
		p.is(err, store.ErrStale)
	default:
		p.tookOver(key, script)
		p.is(err, script.end)
		p.same(script.end == nil, begun.Lease != nil)
		p.settle(claim.OrganizationID, script, !script.fails())
		if begun.Lease != nil {
			p.same(false, p.model.tokens[begun.Lease.Token])
			p.model.tokens[begun.Lease.Token] = true
			p.given = append(p.given, *begun.Lease)
			p.hold(*begun.Lease, claim.LeaseTTL)
		}
	}
}

// tookOver ends a lease that had expired. The contract leaves open whether its holder
// still has it after the change of a Begin has failed, so that is not checked.
func (p *player) tookOver(key requestKey, script *script) {
	holder, taken := p.model.leases[key]
	delete(p.model.leases, key)
	if taken && script.fails() {
		p.forget(holder)
	}
}

// forget excludes a lease from further play.
func (p *player) forget(holder held) {
	for i := range p.given {
		if p.given[i].Token == holder.token {
			p.given = append(p.given[:i], p.given[i+1:]...)
			return
		}
	}
}

// withLease plays something with one of the leases granted so far.
func (p *player) withLease(play func(lease store.Lease)) {
	if len(p.given) > 0 {
		play(tape.Pick(p.tape, p.given...))
	}
}

func (p *player) playRenew(lease store.Lease) {
	ttl := p.chooseTTL()
	renewed, err := p.Renew(p.t.Context(), lease, ttl, p.now)
	if !p.model.holds(lease) {
		p.is(err, store.ErrLeaseLost)
		return
	}
	p.noError(err)
	p.same(lease.Token, renewed.Token)
	p.hold(renewed, ttl)
}

func (p *player) playComplete(lease store.Lease) {
	done := store.Activity{
		ID: tape.Pick(p.tape, activityIDs...), OrganizationID: lease.OrganizationID, Fingerprint: lease.Fingerprint,
		At:          lease.At,
		SubmittedBy: "somebody", User: tape.Pick(p.tape, users...), Type: tape.Pick(p.tape, kinds...),
		Status:  tape.Pick(p.tape, states...),
		Waiting: p.tape.OneIn(2), Data: p.tape.Bytes(p.tape.Intn(9)), KeepUntil: farAway,
	}
	before, again := p.model.records[requestKey{lease.OrganizationID, lease.Fingerprint}]
	if again && !p.tape.OneIn(4) {
		done.ID = before.ID
	}
	done.User, done.Type = sameOf(again, before.User, done.User), sameOf(again, before.Type, done.Type)
	if p.Waiter != nil {
		done.Most = store.Crowd{OfUser: tape.Pick(p.tape, 0, 0, 1), OfOrganization: tape.Pick(p.tape, 0, 0, 2)}
	}
	script := p.script(lease.OrganizationID)
	err := p.Complete(p.t.Context(), lease, done, script.change())
	_, twice := p.model.ids[nameKey{lease.OrganizationID, done.ID}]
	twice = twice && !again || again && before.ID != done.ID
	switch {
	case !p.model.holds(lease):
		p.is(err, store.ErrLeaseLost)
	case twice:
		p.same(true, err != nil && (again || !errors.Is(err, store.ErrLeaseLost)))
	case p.model.crowded(&done):
		p.is(err, store.ErrCrowded)
	default:
		p.is(err, script.end)
		p.settle(lease.OrganizationID, script, script.end == nil)
		if done.Most = (store.Crowd{}); script.end == nil {
			p.model.record(lease, done)
		}
	}
}

func (p *player) playRelease(lease store.Lease) {
	script := p.script(lease.OrganizationID)
	err := p.Release(p.t.Context(), lease, script.change())
	if !p.model.holds(lease) {
		p.is(err, store.ErrLeaseLost)
		return
	}
	p.is(err, script.end)
	p.settle(lease.OrganizationID, script, script.end == nil)
	if script.end == nil {
		delete(p.model.leases, requestKey{lease.OrganizationID, lease.Fingerprint})
	}
}

func (p *player) playChange() {
	organizationID := tape.Pick(p.tape, organizations...)
	script := p.script(organizationID)
	p.is(p.Change(p.t.Context(), organizationID, script), script.end)
	p.settle(organizationID, script, !script.fails())
}

// playSweep sweeps: what may be gone is gone, and everything else is still there.
func (p *player) playSweep() {
	if p.Sweeper == nil {
		return
	}
	p.sweep(p.now)
	for key, holder := range p.model.leases {
		if !p.h.OwnClock && !p.now.Before(holder.over.Add(store.LeaseGrace)) {
			delete(p.model.leases, key)
		}
	}
	clear(p.gone)
	p.checkAll()
}

// retire removes the codes from the model that a store may sweep from now on. A store
// need not do so before it is told to sweep.
func (p *player) retire() {
	for organizationID, ledger := range p.model.ledgers {
		for id, code := range ledger.codes {
			if p.now.After(code.KeepUntil()) {
				delete(ledger.codes, id)
				p.gone[nameKey{organizationID, id}] = true
			}
		}
	}
}

// checkAll reads everything that may exist.
func (p *player) checkAll() {
	p.t.Helper()
	p.retire()
	if p.Waiter != nil {
		p.checkWaiting()
	}
	for _, organizationID := range organizations {
		for _, id := range activityIDs {
			want, known := p.model.ids[nameKey{organizationID, id}]
			got, err := p.Get(p.t.Context(), organizationID, id)
			if known {
				p.noError(err)
				p.same(want, got)
			} else {
				p.is(err, store.ErrNotFound)
			}
		}
		all := &script{steps: p.readAll(organizationID)}
		p.noError(p.Change(p.t.Context(), organizationID, all))
		p.settle(organizationID, all, true)
	}
}

// settle makes the change in the model, and compares its answers. kept says whether its
// writes stay.
func (p *player) settle(organizationID string, made *script, kept bool) {
	p.t.Helper()
	ledger := p.model.ledger(organizationID).clone()
	expected := &script{steps: made.steps}
	_, err := expected.run(ledger)
	p.noError(err)
	if diff := differences(expected.answers, made.answers, cmpopts.EquateEmpty()); diff != "" {
		p.t.Fatalf("the ledger answered otherwise (-want +got):\n%s", diff)
	}
	if kept {
		p.model.ledgers[organizationID] = ledger
	}
}
