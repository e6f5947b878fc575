package evm

import (
	"encoding/hex"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
	"github.com/ethereum/go-ethereum/rlp"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/ethereum"
	"github.com/countersign-dev/countersign/internal/evmtest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
)

// TestEffectsAgainstExecution runs calls on go-ethereum's EVM, with contracts from npm
// packages or, where no package has one, our own. In a run that succeeds, every changed
// slot and balance must belong to an effect, within its amount, and every effect must have
// come true. Nonces and fees are not compared. As a control, the effects of some runs of
// each function are removed one at a time, which the comparison must notice.
func TestEffectsAgainstExecution(t *testing.T) {
	w := newWorld(t)
	r := &random{rand.New(rand.NewPCG(20, 20)), w}
	wanted, runs, noticed, seen := testenv.Draws(t, 1000), map[string]int{}, map[string]int{}, executed{}
	type4, each := 0, (wanted+len(draws)-1)/len(draws)
	for _, d := range draws {
		for tries := 0; runs[d.name] < each && tries < 20*each; tries++ {
			compared := w.execute(t, d, r)
			if compared == nil {
				continue
			}
			runs[d.name]++
			seen.add(compared)
			type4 += min(1, len(compared.authorizations))
			for _, problem := range compared.run() {
				t.Errorf("%s\n%x\n%v", problem, compared.data, sentences(compared.effects))
			}
			if noticed[d.name] < 5 {
				noticed[d.name] += compared.control()
			}
			w.state = compared.start
			if len(compared.problems) > 0 {
				break
			}
		}
		if runs[d.name] < each {
			t.Errorf("%s succeeded only %d times in %d tries", d.name, runs[d.name], 20*each)
		}
		if noticed[d.name] == 0 {
			t.Errorf("%s: no comparison noticed a removed effect", d.name)
		}
	}
	seen.all(t)
	total, least := 0, each
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		total += runs[name]
		least = min(least, runs[name])
		t.Logf("%6d %s", runs[name], name)
	}
	t.Logf("%d successful runs of %d functions, at least %d of each, %d of type 4", total, len(runs), least, type4)
}

// execute runs one call, after which the world has the new state. If the call fails, it
// restores the state and returns nil.
func (w *world) execute(t *testing.T, d draw, r *random) *comparison {
	t.Helper()
	start := w.state.Copy()
	e := d.call(w, r)
	e.function = d.name
	if e.authorizations == nil && r.IntN(10) == 0 { // one in ten is of type 4
		e = e.delegating(w.delegation(r, w.fourth, 0))
	}
	effects := effectsOf(t, e, w)
	w.nameAsset(effects)
	before := w.state.Copy()
	w.forget()
	if err := w.perform(e); err != nil {
		w.state = start
		return nil
	}
	return &comparison{world: w, start: start, execution: e, effects: effects, before: before, after: w.state}
}

func (w *world) perform(e execution) error {
	if e.authorizations != nil {
		return w.apply(e)
	}
	_, _, err := runtime.Call(e.to, e.data, w.config(w.signer, e.value))
	return err
}

// control removes the effects one at a time, except the fee, and counts how often the
// comparison notices.
func (c *comparison) control() (noticed int) {
	for i, effect := range c.effects {
		if effect.Undecoded || effect.Path == "maximum fee" {
			continue
		}
		less := *c
		less.problems, less.effects = nil, slices.Delete(slices.Clone(c.effects), i, i+1)
		if len(less.run()) > 0 {
			noticed++
		}
	}
	return noticed
}

// effectsOf returns the effects of a mainnet transaction of the signer's.
func effectsOf(t *testing.T, e execution, w *world) []chains.Effect {
	t.Helper()
	tx, err := ethereum.Chain{}.Parse(encode(t, e, w))
	testenv.Must(t, err)
	return effectsFor(t, tx, evmtest.Key(t, hex.EncodeToString(w.secrets[w.signer])))
}

// encode returns the unsigned mainnet transaction of the signer's.
func encode(t *testing.T, e execution, w *world) []byte {
	t.Helper()
	items := []any{uint64(1), w.state.GetNonce(w.signer), uint64(1), uint64(1), uint64(1_000_000), e.to, e.value, e.data, []any{}}
	kind := byte(types.DynamicFeeTxType)
	if e.authorizations != nil {
		kind, items = types.SetCodeTxType, append(items, e.authorizations)
	}
	encoded, err := rlp.EncodeToBytes(items)
	testenv.Must(t, err)
	return append([]byte{kind}, encoded...)
}

// effectsFor returns the effects of a transaction that a key signs.
func effectsFor(t *testing.T, tx chains.Transaction, key keystore.Key) []chains.Effect {
	t.Helper()
	request, err := tx.Request(key.ID())
	testenv.Must(t, err)
	signing, err := request.With(key)
	testenv.Must(t, err)
	return signing.Effects()
}

func sentences(effects []chains.Effect) (all []string) {
	for _, effect := range effects {
		all = append(all, chains.Sentence(effect, nil))
	}
	return all
}
