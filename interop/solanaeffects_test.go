package interop

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/gagliardetto/solana-go"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/solana"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// solanaRun is a transaction with accounts of its own.
type solanaRun struct {
	Accounts    []chainAccount `json:"accounts"`
	Transaction string         `json:"transaction"`
	Watch       []string       `json:"watch"`

	specs        []solanaSpec
	instructions []*sdk.GenericInstruction
	raw          []byte
	tables       solanaTables
	holders      []string // who keeps what it gets: wallets
}

// specStep is a step and its spec.
type specStep struct {
	solanaSpec
	solanaStep
}

func (r *solanaRun) steps() (steps []specStep) {
	for _, spec := range r.specs {
		for _, step := range spec.steps {
			steps = append(steps, specStep{spec, step})
		}
	}
	return steps
}

type solanaOutcome struct {
	Error         string          `json:"error"`
	Before, After []*chainAccount // of the watched accounts; nil if there is none
}

// provenPerInstruction is the least number of successful runs of each instruction if
// COUNTERSIGN_PROVE is set.
const provenPerInstruction = 50

// TestSolanaEffects executes random transactions in litesvm and compares the changes of
// every account with the effects. In a run that succeeds and has no undecoded call, every
// change belongs to an effect, no account loses more than the effects say, and exact
// amounts are exact.
func TestSolanaEffects(t *testing.T) {
	peer := startPeer(t, "solanaeffects.mjs")
	want, all := testenv.Draws(t, 1000), os.Getenv("COUNTERSIGN_PROVE") != ""
	specs := parseSolanaSpecs()
	random := rand.New(rand.NewPCG(11, uint64(want)))
	succeeded, blind, failures := map[string]int{}, 0, map[string]string{}
	covered, loaded, bites, executed := 0, 0, teeth{}, solanaExecuted{}
	for number := 0; covered < want || all && fewest(specs, succeeded) < provenPerInstruction; {
		if number > 60*want {
			break
		}
		runs := make([]*solanaRun, 50)
		for i := range runs {
			runs[i] = drawSolanaRun(t, random, specs, number, succeeded)
			number++
		}
		var outcomes []solanaOutcome
		peer.ask(t, runs, &outcomes)
		for i, outcome := range outcomes {
			switch effects, ok := effectsOf(t, runs[i]); {
			case !ok:
				blind++
			case outcome.Error != "":
				failures[runs[i].specs[0].String()] = outcome.Error
			default:
				covered++
				if len(runs[i].tables) > 0 {
					loaded++
				}
				for _, spec := range runs[i].specs {
					succeeded[spec.String()]++
				}
				executed.add(runs[i].instructions)
				for _, problem := range uncovered(effects, runs[i].Watch, outcome) {
					t.Errorf("%v: %s\n%s%x", runs[i].specs, problem, describeEffects(effects), runs[i].raw)
				}
				if len(runs[i].specs) == len(runs[i].instructions) { // with several steps, many effects name the same account
					bites.try(effects, runs[i].Watch, outcome)
				}
			}
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d runs succeeded and matched their effects, %d of them with accounts from a lookup table, %d were undecoded", covered, loaded, blind)
	if loaded*10 < covered {
		t.Errorf("only %d of %d runs have accounts from a lookup table", loaded, covered)
	}
	for _, name := range slices.Sorted(maps.Keys(succeeded)) {
		t.Logf("%6d %s", succeeded[name], name)
	}
	for _, spec := range specs {
		least := 1
		if all {
			least = provenPerInstruction
		}
		if n := succeeded[spec.String()]; n < least {
			t.Errorf("%s succeeded %d times; litesvm says %.300s", spec, n, failures[spec.String()])
		}
	}
	executed.all(t)
	t.Logf("%d of %d effects are missed when removed", bites.noticed, bites.tried)
	if bites.noticed*10 < bites.tried*7 {
		t.Errorf("only %d of %d effects are missed when removed: the comparison is too weak", bites.noticed, bites.tried)
	}
	if covered < want {
		t.Errorf("only %d runs succeeded, of %d", covered, want)
	}
}

func fewest(specs []solanaSpec, succeeded map[string]int) int {
	least := 1 << 30
	for _, spec := range specs {
		least = min(least, succeeded[spec.String()])
	}
	return least
}

// drawSolanaRun generates a run of one to three instructions, preferring those that have
// succeeded least, and mutates some of them.
func drawSolanaRun(t *testing.T, random *rand.Rand, specs []solanaSpec, number int, succeeded map[string]int) *solanaRun {
	t.Helper()
	w := newWorld(random, number)
	a, b := specs[random.IntN(len(specs))], specs[random.IntN(len(specs))]
	if succeeded[b.String()] < succeeded[a.String()] {
		a = b
	}
	run := &solanaRun{specs: []solanaSpec{a}}
	for random.IntN(4) == 0 && len(run.specs) < 3 {
		run.specs = append(run.specs, specs[random.IntN(len(specs))])
	}
	builder := sdk.NewTransactionBuilder().SetFeePayer(w.at("us")).SetRecentBlockHash(sdk.Hash(w.at("blockhash")))
	if random.IntN(3) == 0 {
		run.tables = w.sharedTable()
		builder.WithOpt(sdk.TransactionAddressTables(run.tables))
	}
	for _, step := range run.steps() {
		in := w.instruction(step.solanaSpec, step.solanaStep)
		if random.IntN(8) == 0 && len(in.DataBytes) > 0 { // a mutation
			in.DataBytes[random.IntN(len(in.DataBytes))] ^= 1 << random.IntN(8)
		}
		if random.IntN(12) == 0 && len(in.AccountValues) > 1 {
			i, j := random.IntN(len(in.AccountValues)), random.IntN(len(in.AccountValues))
			in.AccountValues[i], in.AccountValues[j] = in.AccountValues[j], in.AccountValues[i]
		}
		builder.AddInstruction(in)
		run.instructions = append(run.instructions, in)
	}
	tx, err := builder.Build()
	testenv.Must(t, err)
	tx.Signatures = make([]sdk.Signature, tx.Message.Header.NumRequiredSignatures)
	if run.raw, err = tx.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	run.Accounts, run.Transaction = w.accounts, hex.EncodeToString(run.raw)
	for _, key := range tx.Message.AccountKeys {
		run.Watch = append(run.Watch, key.String())
	}
	for _, lookup := range tx.Message.AddressTableLookups {
		for _, index := range slices.Concat(lookup.WritableIndexes, lookup.ReadonlyIndexes) {
			run.Watch = append(run.Watch, run.tables[lookup.AccountKey][index].String())
		}
	}
	if len(tx.Message.AddressTableLookups) == 0 {
		run.tables = nil
	}
	return run
}

// solanaTables is a reader that knows lookup tables.
type solanaTables map[sdk.PublicKey]sdk.PublicKeySlice

func (solanaTables) Read(chains.Call) (chains.Reading, bool) { return chains.Reading{}, false }

func (t solanaTables) LookupTable(address []byte) (table chains.LookupTable, ok bool) {
	keys, ok := t[sdk.PublicKey(address)]
	for _, key := range keys {
		table.Addresses = append(table.Addresses, key[:])
	}
	return table, ok
}

// effectsOf returns the effects, with accounts of lookup tables resolved. ok is false if
// the transaction is refused or has an undecoded effect. It fails the test if an account
// remains unresolved.
func effectsOf(t *testing.T, run *solanaRun) (effects []chains.Effect, ok bool) {
	t.Helper()
	tx, err := solana.Chain{}.Parse(run.raw)
	if err != nil {
		return nil, false
	}
	tx, readings := chains.ReadWith(tx, run.tables)
	for _, reading := range readings {
		if !reading.Complete {
			t.Errorf("%s\n%x", reading.Problem, run.raw)
		}
	}
	effects = tx.Effects()
	for _, e := range effects {
		if len(e.Unresolved) > 0 {
			t.Errorf("unresolved: %+v\n%x", e, run.raw)
		}
	}
	return effects, !slices.ContainsFunc(effects, func(e chains.Effect) bool { return e.Undecoded })
}

// uncovered compares the accounts before and after a run with its effects.
func uncovered(effects []chains.Effect, watched []string, outcome solanaOutcome) (problems []string) {
	for i, address := range watched {
		if isSysvarAddress(address) {
			continue
		}
		before, after := outcome.Before[i], outcome.After[i]
		c := change{effects: effects, address: address, before: stateOf(before), after: stateOf(after)}
		for _, problem := range c.problems() {
			problems = append(problems, fmt.Sprintf("%s of %s\nbefore %+v\nafter  %+v", problem, address, before, after))
		}
	}
	return problems
}

// teeth counts how many effects are missed when they are removed: a comparison that
// explains everything proves nothing.
type teeth struct{ tried, noticed int }

func (b *teeth) try(effects []chains.Effect, watched []string, outcome solanaOutcome) {
	for i, e := range effects {
		if e.Amount.Value != nil && e.Amount.Value.Sign() == 0 || e.Kind == chains.KindSettings {
			continue // nothing to miss
		}
		b.tried++
		if len(uncovered(slices.Delete(slices.Clone(effects), i, i+1), watched, outcome)) > 0 {
			b.noticed++
		}
	}
}

func describeEffects(effects []chains.Effect) string {
	var out bytes.Buffer
	for _, effect := range effects {
		form, _ := effect.MarshalJSON()
		fmt.Fprintf(&out, "%s\n", form)
	}
	return out.String()
}

// isSysvarAddress reports whether an account belongs to the network. Its changes are
// exempt.
func isSysvarAddress(address string) bool { return strings.HasPrefix(address, "Sysvar") }
