package engines

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/messages"
	"github.com/countersign-dev/countersign/policy"
)

// Machine is the user that calls are attributed to.
var Machine = access.User{ID: "machine", Name: "machine"}

// WithHazards allows hazards by name.
func WithHazards(names ...string) func(*countersign.Config) {
	return func(c *countersign.Config) { c.AllowHazards = names }
}

// WithPolicy sets the policy of a file.
func WithPolicy(t testing.TB, text string) func(*countersign.Config) {
	t.Helper()
	return WithDecider(Policy(t, text, nil))
}

// Policy reads a policy about the five chains and messages, with the names of users and keys or
// without.
func Policy(t testing.TB, text string, names *policy.Names) *policy.File {
	t.Helper()
	file, err := policy.Parse("policy.yaml", []byte(text), policy.Options{Chains: all.Chains(all.Limits{}),
		Hazards: messages.HazardNames(all.Chains(all.Limits{})...), Names: names})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// WithDecider sets the policy.
func WithDecider(d access.Decider) func(*countersign.Config) {
	return func(c *countersign.Config) { c.Policy = d }
}

// LogInto makes the engine log into a buffer.
func LogInto(log *bytes.Buffer) func(*countersign.Config) {
	return func(c *countersign.Config) { c.Logger = slog.New(slog.NewJSONHandler(log, nil)) }
}

// Ruled is a policy that allows everything by the rule "small sums".
type Ruled struct{}

// Authorize implements access.Policy.
func (Ruled) Authorize(context.Context, access.Authorization) error { return nil }

// Decide implements access.Decider.
func (Ruled) Decide(context.Context, access.Authorization) (access.Decision, error) {
	return access.Decision{Rules: []string{"small sums"}}, nil
}

// Notes is a policy that allows everything, hazards too, and keeps what it is asked.
type Notes struct{ Of []access.Authorization }

// Authorize implements access.Policy.
func (n *Notes) Authorize(context.Context, access.Authorization) error { return nil }

// Decide implements access.Decider.
func (n *Notes) Decide(_ context.Context, asked access.Authorization) (access.Decision, error) {
	n.Of = append(n.Of, asked)
	return access.Decision{Hazards: asked.Hazards}, nil
}
