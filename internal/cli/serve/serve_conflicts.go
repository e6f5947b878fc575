package serve

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/deployment"
	"github.com/countersign-dev/countersign/store"
)

// conflicts returns the configured organizations whose logs conflict with what was seen,
// and whether these are all.
func (s *Server) conflicts() (organizations []string, all bool) {
	conflicting := s.memory.Conflicts()
	if len(conflicting) == 0 {
		return nil, false
	}
	configured := s.loaded().Configured.Organizations
	for i := range configured {
		if slices.Contains(conflicting, configured[i].ID) {
			organizations = append(organizations, configured[i].ID)
		}
	}
	return organizations, len(organizations) == len(configured)
}

// withState answers /readyz while logs conflict: 503 if those of all organizations do, otherwise
// with their list if the rest can be served. It also says where something is halted, which of
// several stores are away, and since when what is in force is older than the configuration's file.
func (s *Server) withState(admin http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		organizations, all := s.conflicts()
		since := s.current.OlderSince()
		ctx, cancel := context.WithTimeout(r.Context(), httpapi.ReadyTimeout)
		defer cancel()
		halted := s.memory.Halted()
		stores, several := deployment.WithoutMemory(s.records).(*store.Sharded)
		known := len(organizations) > 0 || len(halted) > 0 || several || !since.IsZero()
		if r.URL.Path != "/readyz" || !known || s.engine.Ready(ctx) != nil { // which asks the stores
			admin.ServeHTTP(w, r)
			return
		}
		var away []string
		if several {
			away = stores.Away()
		}
		answer := struct {
			Status    string     `json:"status"`
			Cause     string     `json:"cause,omitempty"`
			Conflicts []string   `json:"conflicts,omitempty"`
			Halted    []string   `json:"halted,omitempty"`
			Away      []string   `json:"storesAway,omitempty"`
			Older     *time.Time `json:"configurationOlderSince,omitempty"`
		}{Status: "ready", Conflicts: organizations, Halted: halted, Away: away}
		if !since.IsZero() {
			since = since.UTC().Truncate(time.Second)
			answer.Older = &since
		}
		w.Header().Set("Content-Type", "application/json")
		if all {
			answer.Status, answer.Cause = "unavailable", "the store lacks what was answered before: countersign log accept"
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_, _ = w.Write(console.JSONLine(answer)) // the client is gone if it fails
	})
}
