package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
	"github.com/countersign-dev/countersign/httpapi/console"
)

// newConsole returns the page of approvals that is configured, or nil.
func newConsole(configured *config.Config) (http.Handler, error) {
	at := configured.Console
	if at == nil {
		return nil, nil
	}
	page, err := console.New(console.Options{Origin: at.Origin, RPID: at.RPID})
	if err != nil {
		return nil, fmt.Errorf("%s: console: %w", configured.Path, err)
	}
	return page, nil
}

// withConsole serves the page beside the API. http.ServeMux would redirect the
// paths with doubled slashes that some clients send to the API.
func withConsole(page, api http.Handler) http.Handler {
	if page == nil {
		return api
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, console.Path) {
			page.ServeHTTP(w, r)
			return
		}
		api.ServeHTTP(w, r)
	})
}
