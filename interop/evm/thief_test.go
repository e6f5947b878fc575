package evm

import (
	"context"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/store/memory"
)

// sample is a sample policy, for the tokens of the world.
type sample struct {
	name, key string
	tags      []string
	most      map[string]int64 // what may leave us in one request, of the token and of ether, to anyone; none: only payees get something

	caller *countersign.Caller
	signed int
}

// samples are those that a transaction of the world can meet. The payee is the third account.
func (w *world) samples(t *testing.T) []*sample {
	all := []*sample{
		{name: "Treasury payouts", key: "treasury", tags: []string{"finance"}},
		{name: "Office hours", key: "treasury", tags: []string{"finance"}},
		{name: "An agent with a daily budget", key: "agent", tags: []string{"agent"}, most: map[string]int64{"token": 100e6}},
		{name: "Two accounts of one seed", key: "hot", most: map[string]int64{"ether": 2e18}},
	}
	for _, s := range all {
		s.open(t, w)
	}
	return all
}

// open loads the sample with the addresses of the world.
func (s *sample) open(t *testing.T, w *world) {
	t.Helper()
	text, found := testenv.SamplePolicies(t)[s.name]
	if !found {
		t.Fatalf("there is no sample %q", s.name)
	}
	text = strings.NewReplacer("eip155:8453", "eip155:1", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", w.erc20.Hex(),
		"0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", w.erc20.Hex(), "0x08d2b0a37F869FF76BACB5Bab3278E26ab7067B7", w.third.Hex()).Replace(text)
	file, err := policy.Parse("policy.yaml", []byte(text), policy.Options{Chains: all.Chains(all.Limits{}), Hazards: messages.HazardNames(all.Chains(all.Limits{})...)})
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	held := keys.New()
	if _, err := held.Add(context.Background(), "org", keystore.NewKey{Name: s.key, Curve: keystore.CurveSecp256k1, Secret: w.secrets[w.signer]}); err != nil {
		t.Fatal(err)
	}
	workday := func() time.Time { return time.Date(2026, 11, 24, 11, 0, 0, 0, time.UTC) }
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: held, Policy: file, Store: memory.New(0), Now: workday})
	testenv.Must(t, err)
	s.caller = engine.As(access.User{ID: "ann", Tags: s.tags}, "")
}

// TestThief draws what a thief with the credential of a user asks for under sample policies. What
// is signed and executed gives nothing to anyone but payees, where the rules name them, and no
// more than the limits to all.
func TestThief(t *testing.T) {
	w := newWorld(t)
	w.empty(t)
	bare, samples := w.state, w.samples(t)
	r := &random{rand.New(rand.NewPCG(54, 2)), w}
	wanted, drawn, signed := testenv.Draws(t, 500), 0, 0
	for ; drawn < wanted; drawn++ {
		w.state = bare.Copy()
		e := w.drawTheft(r)
		intent := activity.SignTransactionIntent{SignWith: w.signer.Hex(), Type: activity.TransactionTypeEthereum, UnsignedTransaction: hex.EncodeToString(encode(t, e, w))}
		var by []*sample
		for _, s := range samples {
			if _, err := s.caller.Prepare(t.Context(), "org", intent); err == nil {
				by = append(by, s)
			}
		}
		if len(by) == 0 {
			continue
		}
		signed++
		c := w.execute(t, draw{"theft", func(*world, *random) execution { return e }}, r)
		for _, s := range by {
			if s.signed++; c != nil {
				c.stolen(s)
			}
		}
		if c != nil && len(c.problems) > 0 {
			t.Fatalf("%q\nvalue %v, %x\n%q", c.problems, e.value, e.data, sentences(c.effects))
		}
	}
	for _, s := range samples {
		t.Logf("%6d signed under %q", s.signed, s.name)
		if s.signed == 0 {
			t.Errorf("nothing is signed under %q", s.name)
		}
	}
	if signed*10 < drawn*3 {
		t.Errorf("%d of %d draws are signed by some sample", signed, drawn)
	}
}

// drawTheft draws a payment, ordinary or not, or any program of shared contracts.
func (w *world) drawTheft(r *random) execution {
	to := []common.Address{w.third, w.third, r.party()}[r.IntN(3)]
	amount := big.NewInt(r.Int64N([]int64{1, 100e6, 200e6, 6000e6}[r.IntN(4)]) + 1)
	switch r.IntN(8) {
	case 0, 1, 2:
		return to20(w.erc20, "transfer(address,uint256)", to, amount)
	case 3, 4:
		return execution{to: to, value: new(big.Int).Mul(amount, big.NewInt(r.Int64N(1000)))}
	case 5:
		return w.drawnPlan(r)
	case 6:
		return w.drawnBatch(r)
	}
	return w.drawnPassages(r)
}

func to20(at common.Address, signature string, args ...any) execution {
	return execution{to: at, value: new(big.Int), data: call(signature, args...)}
}

// stolen adds a problem if more has left us than a sample lets.
func (c *comparison) stolen(s *sample) {
	for name, token := range map[string]common.Address{"ether": {}, "token": c.erc20, "nft or token": c.token, "weth": weth} {
		gain := func(at common.Address) *big.Int {
			b := book{token: token, account: at}
			return new(big.Int).Sub(c.holding(c.after, b), c.holding(c.before, b))
		}
		lost := new(big.Int).Neg(gain(c.signer))
		most := big.NewInt(s.most[name])
		if paid := gain(c.third); s.most == nil && paid.Sign() > 0 {
			most = paid
		}
		if lost.Cmp(most) > 0 {
			c.problem("%s: %v of %s leaves us, at most %v may", s.name, lost, name, most)
		}
	}
}
