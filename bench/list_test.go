package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
)

// listSize is how many transactions a list of BenchmarkHTTPList has.
const listSize = 20

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
