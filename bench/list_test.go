package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/bench/internal/measure"
	"github.com/countersign-dev/countersign/enginetest"
)

// listSize is how many transactions the list of BenchmarkListRatio has.
const listSize = 20

// BenchmarkListRatio measures a list of 20 transactions as serve answers it, without a policy and
// with one of 50 rules, relative to a request for each of them, over each store, by one client.
func BenchmarkListRatio(b *testing.B) {
	for _, backend := range stores {
		for _, rules := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/rules=%t", backend.name, rules), func(b *testing.B) {
				key := enginetest.NewAPIKey(b)
				config := key.Config()
				config.Activities = []activity.Type{activity.TypeSignTransaction, activity.TypeSignTransactions}
				var engines [2]*countersign.Engine
				for side := range engines {
					var changed error
					engine, err := submitEngineWith(config, backend.open(b), func(c *countersign.Config) {
						changed = (&spec{Shipped: true, Rules: rules}).ship(c)
					})
					if err != nil || changed != nil {
						b.Fatal(err, changed)
					}
					b.Cleanup(func() { _ = engine.Close() })
					engines[side] = engine
				}
				lists, single := newLists(b, key, 2048), newLoad(b, key, 2048*listSize)
				measure.Ratio(b, func(i int) { submitOne(b, engines[0], lists, i) }, func(i int) {
					for j := range listSize {
						submitOne(b, engines[1], single, i*listSize+j)
					}
				})
			})
		}
	}
}

func submitOne(b *testing.B, engine *countersign.Engine, sent *load, i int) {
	if _, err := engine.Submit(b.Context(), sent.body(i)); err != nil {
		b.Error(err)
	}
}

// newLists returns requests that sign as many transactions as listSize says.
func newLists(b *testing.B, key *enginetest.APIKey, count int) *load {
	b.Helper()
	var listed []string
	for nonce := range listSize {
		unsigned := strings.Replace(enginetest.Unsigned, "010784", fmt.Sprintf("01%02x84", nonce+1), 1)
		listed = append(listed, fmt.Sprintf(`{"signWith":%q,"unsignedTransaction":%q}`, enginetest.Address, unsigned))
	}
	l := &load{}
	for i := range count {
		body := fmt.Appendf(nil, `{"type":%q,"timestampMs":"%d","organizationId":%q,"parameters":{"type":"TRANSACTION_TYPE_ETHEREUM","transactions":[%s]}}`,
			activity.TypeSignTransactions, time.Now().UnixMilli()-int64(i), enginetest.Organization, strings.Join(listed, ","))
		l.bodies, l.headers = append(l.bodies, body), append(l.headers, key.Header(body).Value)
	}
	return l
}
