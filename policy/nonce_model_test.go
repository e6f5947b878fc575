package policy_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
	"github.com/countersign-dev/countersign/store/memory"
)

// bumpedPolicy counts on each of two networks what is paid and its fee, of each nonce the
// largest sum. Above 150,000 wei a payment waits for a vote.
const bumpedPolicy = `schema: countersign.policy/2
assets:
  main: {chain: "eip155:1", token: native}
  other: {chain: "eip155:10", token: native}
limits:
  - {name: day, asset: main, max: "0.000000000000300000", window: 24h, per: organization, replaces: nonce}
  - {name: other-day, asset: other, max: "0.000000000000300000", window: 24h, per: organization, replaces: nonce}
rules:
  - {name: pays, allow: transfer, when: effect.asset == main && effect.amount <= units('150000'), limit: day, hazards: [ethereum/no-chain-id], of: transactions}
  - {name: more, allow: transfer, when: effect.asset == main, limit: day, hazards: [ethereum/no-chain-id], of: transactions, approvals: [{count: 1, tag: finance}]}
  - {name: gas, allow: fee, when: effect.asset == main, limit: day, hazards: [ethereum/no-chain-id], of: transactions}
  - {name: pays-other, allow: transfer, when: effect.asset == other && effect.amount <= units('150000'), limit: other-day}
  - {name: more-other, allow: transfer, when: effect.asset == other, limit: other-day, approvals: [{count: 1, tag: finance}]}
  - {name: gas-other, allow: fee, when: effect.asset == other, limit: other-day}
  - {name: delegates, allow: authority, hazards: [ethereum/delegation], of: transactions, chains: [eip155:1, eip155:10]}
`

// bumpLimit is the limit of bumpedPolicy, and needsVote the payment above which one is needed.
const (
	bumpLimit = 300_000
	needsVote = 150_000
	day       = 24 * time.Hour
	gasOfOne  = 21_000
)

// bumped is a transaction of an attacker.
type bumped struct {
	key          string
	chain, nonce uint64
	kind         byte
	value, price int64
}

// cost is what a signature may cost.
func (b bumped) cost() int64 {
	switch b.kind {
	case 3:
		return b.value + gasOfOne*b.price + 131_072 // a blob
	case 4:
		return b.value + 4*gasOfOne*b.price
	}
	return b.value + gasOfOne*b.price
}

// slot is what the network includes one transaction of.
func (b bumped) slot() string { return fmt.Sprint(b.key, " ", b.chain, " ", b.nonce) }

// unsigned is the encoding of the transaction.
func (b bumped) unsigned(t *testing.T) string {
	to, none := common.HexToAddress("0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7").Bytes(), []byte{}
	value, price := uint64(b.value), uint64(b.price)
	items := map[byte][]any{
		0: {b.nonce, price, uint64(gasOfOne), to, value, none, b.chain, none, none},
		1: {b.chain, b.nonce, price, uint64(gasOfOne), to, value, none, []any{}},
		2: {b.chain, b.nonce, uint64(1), price, uint64(gasOfOne), to, value, none, []any{}},
		3: {b.chain, b.nonce, uint64(1), price, uint64(gasOfOne), to, value, none, []any{}, uint64(1), []common.Hash{{1}}},
		4: {b.chain, b.nonce, uint64(1), price, uint64(4 * gasOfOne), to, value, none, []any{}, []any{delegated(t, b.chain)}},
	}[b.kind]
	if b.chain == 0 {
		items = items[:6]
	}
	raw, err := rlp.EncodeToBytes(items)
	testenv.Must(t, err)
	if b.kind > 0 {
		raw = append([]byte{b.kind}, raw...)
	}
	return hex.EncodeToString(raw)
}

// delegated is an authorization of another account on a network.
func delegated(t *testing.T, chain uint64) types.SetCodeAuthorization {
	key, err := crypto.ToECDSA([]byte(strings.Repeat("5", 32)))
	testenv.Must(t, err)
	signed, err := types.SignSetCode(key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(chain), Address: common.HexToAddress("0x63c0c19a282a1B52b07dD5a65b58948A07DAE32B")})
	testenv.Must(t, err)
	return signed
}

// mortal is the store of a process that can die: afterwards it writes nothing.
type mortal struct {
	store.Full
	dead atomic.Bool
}

var errDied = errors.New("the process has died")

// Complete implements store.Store.
func (m *mortal) Complete(ctx context.Context, lease store.Lease, done store.Activity, change store.Change) error {
	if m.dead.Load() {
		return errDied
	}
	return m.Full.Complete(ctx, lease, done, change)
}

// Release implements store.Store.
func (m *mortal) Release(ctx context.Context, lease store.Lease, change store.Change) error {
	if m.dead.Load() {
		return errDied
	}
	return m.Full.Release(ctx, lease, change)
}

// attacker sends bumps and keeps account of what was signed.
type attacker struct {
	*ballot.Ballot
	t      *testing.T
	random *rand.Rand
	store  *mortal
	key    string       // the second one
	device atomic.Int32 // what it does with the next signature: works, and so on
	nodes  [2]*countersign.Engine
	signed []signedBump
	seen   map[string]int
	last   error // of the latest request
}

// signedBump is a transaction that was charged at a time.
type signedBump struct {
	bumped
	at time.Time
}

// What the device that signs does.
const (
	works int32 = iota
	isGone
	isBusy
	diesBefore
	diesAfter
)

// sign is called before each signature. The engine's sweeps may call it, too.
func (a *attacker) sign(context.Context) error {
	switch a.device.Load() {
	case isGone:
		return errors.New("the device is gone")
	case isBusy:
		return keystore.ErrUnavailable
	case diesBefore:
		a.store.dead.Store(true)
		return errDied
	case diesAfter:
		a.store.dead.Store(true)
	}
	return nil
}

func newAttacker(t *testing.T, records store.Full, seed uint64) *attacker {
	a := &attacker{t: t, random: rand.New(rand.NewPCG(seed, 1)), store: &mortal{Full: records}}
	a.Ballot = ballot.New(t, func(config *countersign.Config) {
		config.Policy, config.Store, config.LeaseTTL, config.MaxWaiting = load(t, bumpedPolicy), a.store, time.Second, time.Hour
	})
	added, err := a.Signing.Keystore.(*keys.Store).Add(t.Context(), enginetest.Organization,
		keystore.NewKey{ID: "key-3", Curve: keystore.CurveSecp256k1, Secret: []byte(strings.Repeat("3", 32))})
	testenv.Must(t, err)
	a.Signing.Before = a.sign
	a.key, a.nodes = added.ID, [2]*countersign.Engine{a.Engine, a.Second(t)}
	return a
}

// draw returns a transaction, often one that bumps another.
func (a *attacker) draw() bumped {
	one := bumped{key: "key-1", chain: 1, nonce: uint64(a.random.IntN(3)), kind: byte(a.random.IntN(5)), value: a.random.Int64N(1 << (12 + a.random.IntN(6))), price: 1 + a.random.Int64N(3)}
	if a.random.IntN(5) == 0 {
		one.value, one.price = needsVote+1+a.random.Int64N(50_000), 1
	}
	switch a.random.IntN(10) {
	case 0:
		one.chain, one.kind = 0, 0 // of every network: no limit counts it
	case 1:
		one.chain = 10
	case 2, 3:
		one.key = a.key
	}
	return one
}

// counted is what the model counts of the network of a transaction: besides its slot, and of the
// slot, its largest cost until its youngest leaves the window.
func (a *attacker) counted(by bumped) (others, held int64) {
	most, youngest := map[string]int64{}, map[string]time.Time{}
	for _, one := range a.signed {
		if one.chain == by.chain {
			most[one.slot()], youngest[one.slot()] = max(most[one.slot()], one.cost()), one.at
		}
	}
	for slot, amount := range most {
		switch {
		case !youngest[slot].After(a.Clock.Now().Add(-day)):
			a.signed = slices.DeleteFunc(a.signed, func(one signedBump) bool { return one.slot() == slot })
		case slot == by.slot():
			held = amount
		default:
			others += amount
		}
	}
	return others, held
}

// fits reports whether the model has room for a transaction.
func (a *attacker) fits(one bumped) bool {
	others, held := a.counted(one)
	return one.chain != 0 && others+max(held, one.cost()) <= bumpLimit
}

// node is one of two processes on the store.
func (a *attacker) node() *countersign.Engine { return a.nodes[a.random.IntN(2)] }

// send submits a body, and reports whether it was signed.
func (a *attacker) send(body string) (record *activity.Record, signed bool) {
	record, err := a.node().Submit(a.t.Context(), a.APIKey.Sign(body))
	a.last = err
	return record, err == nil && record.Status == activity.StatusCompleted
}

// step sends a transaction, with what an attacker can have happen to it, and checks that it is
// signed if and only if the model has room.
func (a *attacker) step() {
	if a.random.IntN(3) > 0 { // otherwise in the same millisecond
		a.Clock.Advance(time.Duration(1+a.random.IntN(1000)) * time.Millisecond)
	}
	if a.random.IntN(6) == 0 {
		a.Clock.Advance(time.Duration(a.random.IntN(20)) * time.Hour)
	}
	one := a.draw()
	body := a.Body(enginetest.Request{Unsigned: one.unsigned(a.t), SignWith: one.key})
	fits := a.fits(one)
	if one.value > needsVote && one.chain != 0 {
		a.vote(one, body)
		return
	}
	switch a.random.IntN(5) {
	case 0:
		a.fails(one, body)
	case 1:
		a.dies(one, body, fits)
	default:
		_, signed := a.send(body)
		a.is(one, signed, fits, "sent")
	}
}

// is checks what became of a transaction, and keeps account of it.
func (a *attacker) is(one bumped, signed, fits bool, how string) {
	a.t.Helper()
	if signed != fits {
		others, held := a.counted(one)
		a.t.Fatalf("%+v, %s: signed %v, with %d of %d counted besides and %d of its slot; it costs %d: %v", one, how, signed, others, bumpLimit, held, one.cost(), a.last)
	}
	a.seen[fmt.Sprint(how, " ", signed)]++
	if signed {
		a.seen[fmt.Sprint("type ", one.kind)]++
		a.signed = append(a.signed, signedBump{one, a.Clock.Now()})
	}
}

// fails has the key fail: what was charged is given back.
func (a *attacker) fails(one bumped, body string) {
	a.device.Store(isGone)
	_, signed := a.send(body)
	a.device.Store(works)
	a.is(one, signed, false, "failed")
}

// dies has the process die before or after the signature. Until another one takes over, what it
// was charged counts: the attacker tries another nonce.
func (a *attacker) dies(one bumped, body string, fits bool) {
	a.device.Store(diesBefore + a.random.Int32N(2))
	_, signed := a.send(body)
	a.device.Store(works)
	a.store.dead.Store(false)
	a.is(one, signed, false, "died")
	if !fits {
		return
	}
	a.signed = append(a.signed, signedBump{one, a.Clock.Now()})
	a.Clock.Advance(2 * time.Second) // the lease has run out
	rival := bumped{key: one.key, chain: one.chain, nonce: 9, kind: 2, value: a.random.Int64N(needsVote), price: 1}
	_, signed = a.send(a.Body(enginetest.Request{Unsigned: rival.unsigned(a.t), SignWith: rival.key}))
	a.is(rival, signed, a.fits(rival), "beside the dead")
	_, signed = a.send(body)
	if !signed {
		a.t.Fatalf("%+v was charged, and is not signed by the process that takes over: %v", one, a.last)
	}
	a.seen["taken over"]++
}

// vote has a transaction wait, and lets it be approved, be rejected or expire. It is charged
// when it has its vote.
func (a *attacker) vote(one bumped, body string) {
	waiting, _ := a.send(body)
	if waiting == nil || waiting.Status != activity.StatusConsensusNeeded {
		a.is(one, false, a.fits(one), "to wait")
		return
	}
	kind := activity.TypeApproveActivity
	switch a.random.IntN(4) {
	case 0:
		kind = activity.TypeRejectActivity
	case 1:
		a.Clock.Advance(2 * time.Hour)
		a.Resume()
		_, signed := a.send(body)
		a.is(one, signed, false, "expired")
		return
	case 2:
		a.device.Store(isBusy)
	}
	a.Clock.Advance(time.Millisecond)
	down := a.device.Load() != works
	fits := kind == activity.TypeApproveActivity && !down && a.fits(one)
	voted, err := a.Vote(a.Ann, kind, waiting)
	testenv.Must(a.t, err)
	a.is(one, voted.Status == activity.StatusCompleted, fits, fmt.Sprint(kind, " down ", down))
	if voted.Status == activity.StatusConsensusNeeded {
		a.Clock.Advance(time.Millisecond)
		ended, err := a.Vote(a.Ann, activity.TypeRejectActivity, waiting)
		if err != nil || ended.Status != activity.StatusRejected {
			a.t.Fatalf("%+v, %v", ended, err)
		}
	}
	a.device.Store(works) // now, since until it is rejected, a sweep may sign it
}

// TestReplacesNonceAttacked has attackers send what they like, on two nodes that fail and die,
// and checks after each step that exactly what a model counts is counted.
func TestReplacesNonceAttacked(t *testing.T) {
	stores := map[string]func(t *testing.T) store.Full{
		"memory": func(*testing.T) store.Full { return memory.New(0) },
		"bolt": func(t *testing.T) store.Full {
			records, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"))
			testenv.Must(t, err)
			return records
		},
	}
	seen := map[string]int{}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			draws := testenv.Draws(t, 12)
			if name == "bolt" {
				draws = max(1, draws/6)
			}
			for seed := range draws {
				a := newAttacker(t, open(t), uint64(seed))
				a.seen = seen
				for range 60 {
					a.step()
				}
			}
		})
	}
	for _, what := range []string{"type 0", "type 1", "type 2", "type 3", "type 4", "sent true", "sent false", "failed false", "died false", "taken over",
		"beside the dead true", "beside the dead false", "expired false", "ACTIVITY_TYPE_REJECT_ACTIVITY down false false",
		"ACTIVITY_TYPE_APPROVE_ACTIVITY down false true", "ACTIVITY_TYPE_APPROVE_ACTIVITY down false false", "ACTIVITY_TYPE_APPROVE_ACTIVITY down true false"} {
		if seen[what] == 0 {
			t.Errorf("never %s: %v", what, seen)
		}
	}
}
