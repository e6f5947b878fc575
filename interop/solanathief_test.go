package interop

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	keys "github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/store/memory"
)

// stakeSample is the sample policy for stakes on Solana.
const stakeSample = "Stake operations"

// sampleStake is the address that the sample calls ours.
var sampleStake = regexp.MustCompile(`Fr7fpL8F37BDGm91AYSRPVsJAVDSztnyFCGY2gQg5NMz`)

// thiefEngine returns an engine with our key under the sample of the documentation.
func thiefEngine(t *testing.T) *countersign.Engine {
	t.Helper()
	sample := testenv.SamplePolicies(t)[stakeSample]
	if !sampleStake.MatchString(sample) {
		t.Fatal("the sample names no account of ours")
	}
	file := engines.Policy(t, string(sampleStake.ReplaceAll([]byte(sample), []byte(ourAddress().String()))), nil)
	held := keys.New()
	if _, err := held.Add(context.Background(), "org", keystore.NewKey{Name: "ops", Curve: keystore.CurveEd25519, Secret: ourSeed}); err != nil {
		t.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: held, Policy: file, Store: memory.New(0)})
	testenv.Must(t, err)
	return engine
}

// TestSolanaEffectsForThief draws what a thief with the credential of an operator asks for under a
// sample policy whose rules bound who gets what, and who signs for every other account. Of what is
// signed and executed, nothing but the fee leaves the accounts that are ours.
func TestSolanaEffectsForThief(t *testing.T) {
	peer, engine := startPeer(t, "solanaeffects.mjs"), thiefEngine(t)
	operator := engine.As(access.User{ID: "ann", Tags: []string{"ops"}}, "")
	want := testenv.Draws(t, 500)
	random := rand.New(rand.NewPCG(54, uint64(want)))
	drawn, signed, executed := 0, 0, 0
	for drawn < want {
		var runs []*solanaRun
		for range 50 {
			run := drawThief(t, random, 2<<24+drawn)
			drawn++
			_, err := operator.Prepare(context.Background(), "org", activity.SignTransactionIntent{
				SignWith: ourAddress().String(), Type: activity.TransactionTypeSolana, UnsignedTransaction: run.Transaction})
			if err == nil {
				runs = append(runs, run)
			}
		}
		signed += len(runs)
		var outcomes []solanaOutcome
		peer.ask(t, runs, &outcomes)
		for i, outcome := range outcomes {
			if outcome.Error != "" {
				continue
			}
			executed++
			if lost := ownedBefore(runs[i], outcome) - ownedAfter(runs[i], outcome); lost > sol/1000 {
				t.Fatalf("%d lamports leave our accounts\n%x", lost, runs[i].raw)
			}
		}
	}
	t.Logf("%d of %d draws are signed, %d executed", signed, drawn, executed)
	if signed*10 < drawn*3 || executed*2 < signed {
		t.Errorf("%d of %d draws are signed, and %d executed", signed, drawn, executed)
	}
}

// drawThief draws a stake of ours with something done to it before, between or after, or any
// transaction.
func drawThief(t *testing.T, random *rand.Rand, number int) *solanaRun {
	t.Helper()
	if random.IntN(4) == 0 {
		return drawPassages(t, random, number, ourAddress())
	}
	r := newPassageRun(random, number, ourAddress())
	for _, p := range r.passages[:1+random.IntN(2)] {
		amount := rentExempt(stakeSize) + uint64(1100+random.IntN(3000))*sol/1000
		r.add(sdk.SystemProgramID, slicesConcat(u32le(0), u64le(amount), u64le(stakeSize), sdk.StakeProgramID[:]), r.signed("us"), r.signed(p.name))
		p.kind, p.owner, p.balance = "stake", p.name, amount
		r.steal(p)
		r.add(sdk.StakeProgramID, slicesConcat(u32le(0), r.bytes("us"), r.bytes("us"), make([]byte, 48)), r.writable(p.name), r.readable("rent"))
		p.ready, p.owner = true, "us"
		if random.IntN(3) == 0 {
			r.add(sdk.StakeProgramID, u32le(2), r.writable(p.name), r.readable("vote"), r.readable("clock"), r.readable("history"), r.readable("config"), r.signed("us"))
		}
	}
	if random.IntN(4) == 0 {
		r.act()
	}
	return r.build(t, "us")
}

// steal takes something out of a stake that is not yet ours, or does something else.
func (r *passageRun) steal(p *passage) {
	switch r.IntN(4) {
	case 0:
		r.empty(p, r.passages[r.IntN(len(r.passages))], r.at(parties[r.IntN(len(parties))]))
	case 1:
		r.list = append(r.list, r.pay("bob", r.at([]string{"carol", p.name, "us"}[r.IntN(3)])))
	}
}

func ownedBefore(run *solanaRun, outcome solanaOutcome) int64 {
	return owned(run.Watch, outcome.Before)
}
func ownedAfter(run *solanaRun, outcome solanaOutcome) int64 { return owned(run.Watch, outcome.After) }

// owned sums the lamports of our wallet and of the stakes, token accounts and nonce accounts that
// we alone can withdraw or close.
func owned(watched []string, states []*chainAccount) (sum int64) {
	us := ourAddress()
	for i, address := range watched {
		s := stateOf(states[i])
		var owner []byte
		switch stake, token := s.owner == sdk.StakeProgramID, s.owner == sdk.TokenProgramID || s.owner == sdk.Token2022ProgramID; {
		case stake && len(s.data) == stakeSize && (s.data[0] == 1 || s.data[0] == 2):
			owner = s.data[44:76] // who withdraws
		case token && len(s.data) >= 165 && s.data[108] == 1 && s.data[129] == 0: // no close authority
			owner = s.data[32:64]
		case s.owner == sdk.SystemProgramID && len(s.data) == 80 && s.data[4] == 1:
			owner = s.data[8:40] // the nonce's authority
		}
		if address == us.String() || slices.Equal(owner, us[:]) {
			sum += int64(s.lamports)
		}
	}
	return sum
}
