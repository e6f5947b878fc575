package interop

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// ourSeed is the Ed25519 seed of the one key of the organization.
var ourSeed = bytes.Repeat([]byte{0x22}, ed25519.SeedSize)

func ourAddress() sdk.PublicKey {
	return sdk.PublicKeyFromBytes(ed25519.NewKeyFromSeed(ourSeed).Public().(ed25519.PublicKey))
}

// TestSolanaEffectsOfPassages executes random transactions of several signers, in which accounts
// are made, funded by several and emptied, and compares who has more afterwards with the effects:
// it is named, by our signature as far as the money was ours, and limits count no less than we
// have lost.
func TestSolanaEffectsOfPassages(t *testing.T) {
	peer, engine := startPeer(t, "solanaeffects.mjs"), passageEngine(t)
	want := testenv.Draws(t, 500)
	random := rand.New(rand.NewPCG(53, uint64(want)))
	covered, passed, bites := 0, 0, 0
	failures := map[string]int{}
	for number := 0; covered < want && number < 60*want; {
		runs := make([]*solanaRun, 50)
		for i := range runs {
			runs[i] = drawPassages(t, random, 1<<24+number, ourAddress())
			number++
		}
		var outcomes []solanaOutcome
		peer.ask(t, runs, &outcomes)
		for i, outcome := range outcomes {
			effects, ok := passageEffects(t, engine, runs[i])
			switch {
			case outcome.Error != "":
				failures[fmt.Sprintf("%.60s", outcome.Error)]++
				continue
			case !ok:
				continue
			}
			covered++
			for _, problem := range unfollowed(effects, runs[i], outcome) {
				t.Errorf("%s\n%s%x", problem, describeEffects(effects), runs[i].raw)
			}
			derived := func(e chains.Effect) bool { return e.Passed }
			if slices.ContainsFunc(effects, derived) {
				passed++
				if len(unfollowed(slices.DeleteFunc(slices.Clone(effects), derived), runs[i], outcome)) > 0 {
					bites++
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d runs succeeded and were covered, in %d money passed on; without that effect, %d are not covered; failures %v", covered, passed, bites, failures)
	if covered < want {
		t.Errorf("only %d runs succeeded, of %d", covered, want)
	}
	if passed*10 < covered || bites*2 < passed {
		t.Errorf("money passed on in only %d runs, of which %d are missed without", passed, bites)
	}
}

// passageEngine returns an engine with our key that allows every hazard.
func passageEngine(t *testing.T) *countersign.Engine {
	t.Helper()
	keys := memory.New()
	if _, err := keys.Add(context.Background(), "org", keystore.NewKey{Name: "ops", Curve: keystore.CurveEd25519, Secret: ourSeed}); err != nil {
		t.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: keys, AllowHazards: []string{countersign.AllHazards}})
	testenv.Must(t, err)
	return engine
}

// passageEffects returns what our signature does, in its resolved form. ok is false if we do not
// sign the transaction, or if something is not decoded.
func passageEffects(t *testing.T, engine *countersign.Engine, run *solanaRun) (effects []chains.Effect, ok bool) {
	t.Helper()
	prepared, err := engine.Prepare(context.Background(), "org", activity.SignTransactionIntent{
		SignWith: ourAddress().String(), Type: activity.TransactionTypeSolana, UnsignedTransaction: run.Transaction})
	if err != nil {
		return nil, false
	}
	if effects, err = prepared.Effects(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, hazard := range prepared.Hazards() {
		if index, ok := hazard.Effect(); ok && index >= len(effects) {
			t.Fatalf("%s points at effect %d of %d", hazard.Name, index, len(effects))
		}
	}
	return effects, !slices.ContainsFunc(effects, func(e chains.Effect) bool { return e.Undecoded })
}

// holding is what accounts have of one asset: SOL, or the test's token.
type holding func(a *chainAccount) int64

func lamportsOf(a *chainAccount) int64 { return int64(stateOf(a).lamports) }

func tokensOf(a *chainAccount) int64 {
	if s := stateOf(a); isToken(s) && !bytes.Equal(s.data[:32], nativeMint[:]) {
		return int64(binary.LittleEndian.Uint64(s.data[64:]))
	}
	return 0
}

// unfollowed compares who has more afterwards with the effects.
func unfollowed(effects []chains.Effect, run *solanaRun, outcome solanaOutcome) (problems []string) {
	isSOL := func(a chains.Asset) bool { return a.IsNative() || a.Token.String() == nativeMint.String() }
	assets := []struct {
		name string
		has  holding
		is   func(chains.Asset) bool
	}{
		{"SOL", lamportsOf, isSOL},
		{"tokens", tokensOf, func(a chains.Asset) bool { return !a.IsNone() && !isSOL(a) }},
	}
	for _, asset := range assets {
		// gives is what an account gives of its own: a holder also what it gets from us, any other
		// one of what it has before.
		gives := func(i int) int64 {
			before, after, address := asset.has(outcome.Before[i]), asset.has(outcome.After[i]), run.Watch[i]
			if slices.Contains(run.holders, address) {
				return max(0, before+paid(effects, asset.is, address, true)-after)
			}
			if slices.ContainsFunc(effects, func(e chains.Effect) bool { return e.From.String() == address && asset.is(e.Asset) }) {
				return before
			}
			return max(0, before-after)
		}
		changes, given := map[int]int64{}, int64(0) // by others, of their own
		lost := int64(0)                            // by us
		for i, address := range run.Watch {
			delta := asset.has(outcome.After[i]) - asset.has(outcome.Before[i])
			if isOurs(address, outcome.Before[i]) {
				lost -= delta
				continue
			}
			changes[i] = delta
			given += gives(i)
		}
		for i, delta := range changes {
			address, ours := run.Watch[i], delta-given+gives(i) // what others have given may be there too
			if named := paid(effects, asset.is, address, false); delta > 0 && named < delta {
				problems = append(problems, fmt.Sprintf("%s has %d more of %s, and effects name %d", address, delta, asset.name, named))
			}
			if named := paid(effects, asset.is, address, true); ours > 0 && named < ours {
				problems = append(problems, fmt.Sprintf("%s has %d of our %s, and effects by our signature name %d", address, ours, asset.name, named))
			}
		}
		if counted := counted(effects, asset.is); counted < lost {
			problems = append(problems, fmt.Sprintf("we lose %d of %s, and limits count %d", lost, asset.name, counted))
		}
	}
	return problems
}

// isOurs reports whether an account is ours before the run: our wallet, or a token account of
// ours.
func isOurs(address string, before *chainAccount) bool {
	us := ourAddress()
	s := stateOf(before)
	return address == us.String() || isToken(s) && bytes.Equal(s.data[32:64], us[:])
}

const unbounded = int64(1) << 62

// paid sums what effects give to an account.
func paid(effects []chains.Effect, of func(chains.Asset) bool, to string, byUs bool) int64 {
	sum := int64(0)
	for i := range effects {
		e := &effects[i]
		if e.Kind == chains.KindStake || e.Kind == chains.KindApprove || !of(e.Asset) || e.To.String() != to || byUs && e.By == chains.ByOther {
			continue
		}
		sum = added(sum, e.Amount)
	}
	return sum
}

// counted sums what limits count.
func counted(effects []chains.Effect, of func(chains.Asset) bool) int64 {
	sum := int64(0)
	for i := range effects {
		e := &effects[i]
		if of(e.Asset) && e.By != chains.ByOther && e.Kind.Spends() && !e.Change && e.Kind != chains.KindStake {
			sum = added(sum, e.Counted())
		}
	}
	return sum
}

func added(sum int64, amount chains.Quantity) int64 {
	if amount.IsNone() {
		return sum
	}
	if amount.IsUnknown() || !amount.Value.IsInt64() {
		return unbounded
	}
	return min(unbounded, new(big.Int).Add(big.NewInt(sum), amount.Value).Int64())
}
