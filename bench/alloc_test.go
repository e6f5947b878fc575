//go:build cgo && !race

package bench

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/bench/internal/workload"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store/memory"
)

// budgets bound the allocations of the whole path of a kind or a chain, with keys in memory
// and unverified signatures. They are what the path allocates: who lets it allocate more says so
// here and in docs/performance.md. They include the allocations of the curve library, which
// differ without cgo and under the race detector.
var budgets = map[string]float64{
	"ethereum": 19, "ethereum/eip7702": 33, // recovers the signer of each authorization
	"tron/transfer": 25, "tron/trc20": 30, "tempo/transfer": 30, "tempo/batch": 35, "tempo/sponsored": 29,
	"bitcoin/P2WPKH": 34, "bitcoin/P2PKH": 38, "bitcoin/P2TR": 87,
	"solana/215": 21, "solana/300": 24, "solana/812": 30, "solana/1232": 33, "solana/4096": 70, // every instruction is read for hazards

	"message/permit": 67, "message/safe": 83, "message/order": 640, "message/personal": 23,

	// The stamp verified, and the activity recorded with what it did.
	"submit": 120, "submit/ethereum": 150, "submit/ethereum/eip7702": 182,
	"submit/tron": 180, "submit/tempo": 180, "submit/bitcoin": 335,
	"submit/solana": 320, "submit/solana/1232": 355, "submit/solana/4096": 780,
	"submit/message": 265, "submit/message/personal": 105, "submit/message/order": 5000,
}

// budgeted returns what the budgets are for, each as a function to be called again and again.
func budgeted(t *testing.T) map[string]func(i int) {
	const keys = 50
	all := map[string]func(int){}
	for _, kind := range workload.Kinds() {
		w := workload.NewOf(t, kind, keys)
		all[kind.Name()] = w.Whole(t, w.Engine(t, unverified))
	}
	for _, kind := range workload.MessageKinds() {
		w := workload.NewMessages(t, kind)
		all["message/"+kind.Name] = w.WholeMessage(t, w.Engine(t, unverified))
	}
	for name, call := range submitted(t) {
		all["submit/"+name] = call
	}
	key := enginetest.NewAPIKey(t)
	engine, err := submitEngine(key.Config(), memory.New(math.MaxInt))
	testenv.Must(t, err)
	sent := newLoad(t, key, allocationCalls)
	all["submit/memory"] = func(i int) {
		if _, err := engine.Submit(t.Context(), sent.body(i)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// submitted returns a stamped request of each kind, over a store in memory.
func submitted(t *testing.T) map[string]func(i int) {
	all := map[string]func(int){}
	key := enginetest.NewAPIKey(t)
	named := key.Config()
	named.Activities = []activity.Type{activity.TypeSignTransaction, activity.TypeSignRawPayload}
	directory, err := access.NewDirectory([]access.OrganizationConfig{{ID: workload.Organization, Users: []access.UserConfig{
		{Name: "bench", APIKeys: []access.APIKeyConfig{named}},
	}}})
	testenv.Must(t, err)
	add := func(name string, w *workload.Workload, intent func(i int) activity.Intent) {
		config := unverified
		config.Directory, config.Store = directory, memory.New(math.MaxInt)
		engine := w.Engine(t, config)
		var sent []countersign.SignedBody
		for i := range allocationCalls {
			sent = append(sent, stamped(t, key, intent(i), i))
		}
		all[name] = func(i int) {
			if _, err := engine.Submit(t.Context(), sent[i]); err != nil {
				t.Fatal(name, err)
			}
		}
	}
	for _, kind := range workload.Kinds() {
		w := workload.NewOf(t, kind, 50)
		add(kind.Name(), w, func(i int) activity.Intent { return w.Requests[i%len(w.Requests)] })
	}
	for _, kind := range workload.MessageKinds() {
		m := workload.NewMessages(t, kind)
		add("message/"+kind.Name, m.Workload, func(i int) activity.Intent { return m.Intents[i%len(m.Intents)] })
	}
	return all
}

// stamped returns a request of its own for an intent.
func stamped(t *testing.T, key *enginetest.APIKey, intent activity.Intent, number int) countersign.SignedBody {
	t.Helper()
	request, err := activity.NewRequest(activity.Envelope{OrganizationID: workload.Organization, Time: time.Now().Add(-time.Duration(number) * time.Millisecond)}, intent)
	testenv.Must(t, err)
	return key.Sign(string(request.Body))
}

// allocationRuns is over how many calls allocations are averaged, after one that is not counted, and
// allocationCalls how many there are when they are counted three times.
const (
	allocationRuns  = 200
	allocationCalls = 3 * (allocationRuns + 1)
)

func TestAllocations(t *testing.T) {
	for name, call := range budgeted(t) {
		most, named := budgets[name]
		if !named {
			most, named = budgets[name[:max(0, strings.LastIndexByte(name, '/'))]]
		}
		i := 0
		counted := func() float64 { return testing.AllocsPerRun(allocationRuns, func() { call(i); i++ }) }
		got := counted()
		for range 2 { // what runs beside the calls allocates, too, and only ever adds
			if got > most {
				got = counted()
			}
		}
		switch {
		case !named:
			t.Errorf("%s has no budget: it takes %v allocations", name, got)
		case got > most:
			t.Errorf("%s: %v allocations, at most %v are in the budget", name, got, most)
		default:
			t.Logf("%s: %v allocations of %v", name, got, most)
		}
	}
}
