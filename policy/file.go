package policy

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/internal/source"
)

// Schema is the version of the file's form.
const Schema = "countersign.policy/2"

// Problem is an error or a likely mistake in a file.
type Problem = source.Problem

// Error has all problems of a file that does not load, and shows each with its line.
type Error = source.Error

// File is a policy read from a file. It is immutable and safe for concurrent use.
type File struct {
	*judge
	name     string
	digest   [32]byte
	limits   map[string]*limit
	assets   []*asset
	warnings []Problem
	lines    []string
	tests    int
	options  Options
	inputs   []input
	cost     uint64 // upper bound of all conditions, for one effect
}

// Name returns the name that the file was loaded under.
func (f *File) Name() string { return f.name }

// Digest returns the SHA-256 of the file's bytes.
func (f *File) Digest() [32]byte { return f.digest }

// DigestText returns the digest in hex.
func (f *File) DigestText() string { return hex.EncodeToString(f.digest[:]) }

// Warnings returns likely mistakes that do not keep the file from loading.
func (f *File) Warnings() []Problem { return slices.Clone(f.warnings) }

// RenderProblem formats a problem of the file with its place, its line and a caret.
func (f *File) RenderProblem(problem Problem) string { return source.Render(f.name, f.lines, &problem) }

// Rules returns the names of the rules, in file order.
func (f *File) Rules() []string { return namesOf(f.rules) }

// Cost returns an upper bound for evaluating all conditions for one effect, in steps
// of 20 to 50 ns.
func (f *File) Cost() uint64 { return f.cost }

// Tests returns the number of the file's own tests.
func (f *File) Tests() int { return f.tests }

// User returns a user of [Options.Names], by id or name. An id has precedence.
func (f *File) User(name string) (access.User, bool) { return f.options.Names.user(name) }

// LimitsSince describes, one sentence each, the limits that count differently than in
// an earlier file. Limits are identified by name: a renamed limit starts at zero.
func (f *File) LimitsSince(old *File) []string {
	var changes []string
	for _, name := range sortedKeys(f.limits) {
		before, ok := old.limits[name]
		switch now := f.limits[name]; {
		case !ok:
			changes = append(changes, name+" is new, and starts at zero")
		case before.per != now.per:
			changes = append(changes, fmt.Sprintf("%s is counted per %s, no longer per %s: it starts at zero", name, now.per, before.per))
		case !before.asset.Asset.Equal(now.asset.Asset):
			changes = append(changes, fmt.Sprintf("%s counts %s, and continues from what it counted of %s: rename it", name, now.asset, before.asset))
		}
	}
	for _, name := range sortedKeys(old.limits) {
		if f.limits[name] == nil {
			changes = append(changes, name+" is gone: what it counted no longer counts")
		}
	}
	return changes
}

// Decide implements [access.Decider]. See the package's documentation for what is allowed.
func (f *File) Decide(ctx context.Context, request access.Authorization) (access.Decision, error) {
	decision, err := f.cover(ctx, &request).decide()
	if err == nil {
		decision.Digest = f.digest
	}
	return decision, err
}

// Authorize implements [access.Policy]. Its callers can neither charge limits nor
// wait for approvals, so it denies requests that need either.
func (f *File) Authorize(ctx context.Context, request access.Authorization) error {
	decision, err := f.Decide(ctx, request)
	switch {
	case err != nil:
		return err
	case len(decision.Charges) > 0:
		return &Denial{Rule: decision.Rules[0], Effect: -1, Text: "this charges a limit, which needs the engine's store"}
	case len(decision.Approvals) > 0 && missingAny(&decision, &request):
		return &Denial{Rule: decision.Approvals[0].Rule, Effect: -1, Text: "this needs approvals"}
	}
	return nil
}
