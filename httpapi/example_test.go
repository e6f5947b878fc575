package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/keystore/memory"
	"github.com/countersign-dev/countersign/metrics"
)

// exampleEngine has no keys and no users.
func exampleEngine() *countersign.Engine {
	directory, err := access.NewDirectory(nil)
	if err != nil {
		log.Fatal(err)
	}
	engine, err := countersign.New(countersign.Config{Chains: all.Chains(all.Limits{}), Keystore: memory.New(), Directory: directory})
	if err != nil {
		log.Fatal(err)
	}
	return engine
}

// The API is an http.Handler. In production, serve it with NewServer, which sets the
// timeouts.
func ExampleNew() {
	engine := exampleEngine()
	defer engine.Close()
	api := httptest.NewServer(httpapi.New(engine, httpapi.Options{}))
	defer api.Close()

	answer, err := http.Post(api.URL+"/public/v1/query/whoami", "application/json", strings.NewReader(`{"organizationId":"x"}`))
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.StatusCode)
	// Output: 401
}

// Serve health, readiness and metrics at an address of their own.
func ExampleAdmin() {
	engine := exampleEngine()
	defer engine.Close()
	admin := httptest.NewServer(httpapi.Admin(engine, metrics.New().Handler()))
	defer admin.Close()

	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, admin.URL+"/readyz", nil)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StatusCode)
	// Output: 200
}
