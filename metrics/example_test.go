package metrics_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/metrics"
)

// Count what an engine does, and serve it to Prometheus.
func Example() {
	observer := metrics.New()
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: memory.New(), Observer: observer})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()

	answer := httptest.NewRecorder()
	observer.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	fmt.Println(answer.Code)
	// Output: 200
}
