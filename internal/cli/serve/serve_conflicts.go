package serve

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/cli/console"
)

// followLogs keeps the memory of the logs until the returned function is called. The policy
// of an organization whose conflict was accepted is logged again: while there was one, it
// could not be.
func (c *Command) followLogs(ctx context.Context, state *Live) (stop func()) {
	if c.memory == nil {
		return func() {}
	}
	c.memory.Accepted = func(ctx context.Context, organization string) {
		if err := state.Policies.RecordOne(ctx, state.engine, organization); err != nil {
			c.log.Error("the policy is in force, but could not be recorded", "organization", organization, "cause", err)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { c.memory.Run(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}

// conflicts returns the configured organizations whose logs conflict with what was seen,
// and whether these are all.
func (c *Command) conflicts(state *Live) (organizations []string, all bool) {
	conflicting := c.memory.Conflicts()
	if len(conflicting) == 0 {
		return nil, false
	}
	configured := state.Current.Load().Configured.Organizations
	for i := range configured {
		if slices.Contains(conflicting, configured[i].ID) {
			organizations = append(organizations, configured[i].ID)
		}
	}
	return organizations, len(organizations) == len(configured)
}

// allConflict reports whether no organization can be served.
func (c *Command) allConflict(state *Live) bool {
	_, all := c.conflicts(state)
	return all
}

// withState answers /readyz while logs conflict: 503 if those of all organizations do,
// otherwise with their list if the rest can be served. It also says since when what is in force
// is older than the configuration's file.
func (c *Command) withState(engine *countersign.Engine, state *Live, admin http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		organizations, all := c.conflicts(state)
		since := state.OlderSince()
		ctx, cancel := context.WithTimeout(r.Context(), httpapi.ReadyTimeout)
		defer cancel()
		if r.URL.Path != "/readyz" || len(organizations) == 0 && since.IsZero() || engine.Ready(ctx) != nil {
			admin.ServeHTTP(w, r)
			return
		}
		answer := struct {
			Status    string     `json:"status"`
			Cause     string     `json:"cause,omitempty"`
			Conflicts []string   `json:"conflicts,omitempty"`
			Older     *time.Time `json:"configurationOlderSince,omitempty"`
		}{Status: "ready", Conflicts: organizations}
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
