package policy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/trust"
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
	tests    []*fileTest
	options  Options
	inputs   []input
	cost     uint64 // steps that the conditions take at most for the most effects
	effects  int    // the most of a request that the conditions can judge
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

// Cost returns an upper bound of the steps in which the file would judge the most effects that a
// request has, if they are of one account.
func (f *File) Cost() uint64 { return f.cost }

// Effects returns the most effects of a request that the file can judge in about 100 ms, whatever
// they are. One that takes more steps is denied.
func (f *File) Effects() int { return f.effects }

// Tests returns the number of the file's own tests.
func (f *File) Tests() int { return len(f.tests) }

// User returns a user of [Options.Names], by id or name. An id has precedence.
func (f *File) User(name string) (access.User, bool) { return f.options.Names.user(name) }

// LimitsSince describes, one sentence each, the limits that count differently than in
// an earlier file. Limits are identified by name: a renamed limit starts at zero.
func (f *File) LimitsSince(old *File) []string {
	var changes []string
	changed := func(format string, args ...any) { changes = append(changes, fmt.Sprintf(format, args...)) }
	for _, name := range sortedKeys(f.limits) {
		before, ok := old.limits[name]
		switch now := f.limits[name]; {
		case !ok:
			changed("%s is new, and starts at zero", name)
		case before.per != now.per:
			changed("%s is counted per %s, no longer per %s: it starts at zero", name, now.per, before.per)
		case !before.counts(now):
			changed("%s counts %s, and continues from what it counted of %s: rename it", name, now.asset, before.asset)
		}
	}
	for _, name := range sortedKeys(old.limits) {
		if f.limits[name] == nil {
			changed("%s is gone: what it counted no longer counts", name)
		}
	}
	return changes
}

// Decide implements [access.Decider]. See the package's documentation for what is allowed.
func (f *File) Decide(ctx context.Context, request access.Authorization) (access.Decision, error) {
	decision, err := f.cover(ctx, &request).decide()
	if err == nil {
		decision.Digest = f.digest
		if f.prices != nil {
			decision.Prices = f.prices.digest
		}
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
		text := "this charges a limit, which needs the engine's store"
		return &Denial{Rule: decision.Rules[0], Effect: -1, Text: text}
	case len(decision.Approvals) > 0 && missingAny(&decision, &request):
		return &Denial{Rule: decision.Approvals[0].Rule, Effect: -1, Text: "this needs approvals"}
	}
	return nil
}

// Options configures [Load] and [Parse].
type Options struct {
	// Chains are the chains that the file judges, usually those of the engine. A transaction of any
	// other is denied. Each has another name. The hazards of tests' transactions depend on their limits.
	Chains []chains.Chain

	// Hazards are the names of hazards that rules can list besides those of the chains, such as
	// those of messages: see package messages. A name may be of a chain too.
	Hazards []string

	// Names are the users and keys of the organization; names in the file must be
	// among them. If nil, names are not checked: a misspelled one matches no one, so that
	// a deny denies nothing, and a user is found by id or name.
	Names *Names

	// Folder has the price file and the transactions that tests name. The default is the
	// folder of the file.
	Folder string

	// SkipTests skips the file's own tests.
	SkipTests bool

	// Previous is what [Load] returns if nothing has changed from which it was loaded: the
	// file, its price file, the transactions that its tests name, and these options. May be nil.
	Previous *File
}

// Load reads and checks a file and runs its tests. Its error is an [*Error], one of
// the file system, or one of Options.Chains.
func Load(path string, options Options) (*File, error) {
	content, err := trust.ReadFile(path, source.MaxFileBytes)
	if err != nil {
		return nil, err
	}
	options.Folder = cmp.Or(options.Folder, filepath.Dir(path))
	if options.Previous.loadedFrom(path, content, options) {
		return options.Previous, nil
	}
	return Parse(path, content, options)
}

// loadedFrom reports whether the file would be the same if it were loaded again.
func (f *File) loadedFrom(path string, content []byte, options Options) bool {
	if f == nil || f.name != path || f.digest != sha256.Sum256(content) {
		return false
	}
	options.Names, options.Previous = options.Names.once(), nil
	if !reflect.DeepEqual(f.options, options) {
		return false
	}
	return !slices.ContainsFunc(f.inputs, func(loaded input) bool {
		now, err := trust.ReadFile(loaded.path, maxTestFile)
		return err != nil || sha256.Sum256(now) != loaded.digest
	})
}

// Parse is [Load] for bytes. Errors refer to them by name.
func Parse(name string, content []byte, options Options) (*File, error) {
	options.Names, options.Previous = options.Names.once(), nil
	reader, err := newReader(options)
	if err != nil {
		return nil, err
	}
	draft := reader.definitions.draft
	if root, ok := source.ParseYAML(content, draft.problems); ok {
		reader.read(root)
	}
	lines := strings.Split(string(content), "\n")
	file := &File{name: name, digest: sha256.Sum256(content), lines: lines, options: options}
	file.cost, file.effects = checks{draft}.whole()
	file.judge = newJudge(draft.words, draft.rules)
	file.judge.prices = draft.prices
	if !options.SkipTests && !draft.problems.Failed() {
		reader.tests.run(file.judge)
	}
	if draft.problems.Failed() {
		return nil, draft.problems.Failure(name, file.lines)
	}
	for _, name := range sortedKeys(draft.assets) {
		file.assets = append(file.assets, draft.assets[name])
	}
	file.limits, file.tests, file.inputs = draft.limits, reader.tests.list, reader.tests.inputs
	file.warnings = draft.problems.Sorted()
	return file, nil
}

// Upgrade returns a file of the schema before this one with the schema replaced and, above each
// line that has to change or may mean something else now, a comment that begins with "change:".
// The comments do not change what the file says.
func Upgrade(name string, content []byte, options Options) string {
	const before, mark = "countersign.policy/1", "# change: "
	text := strings.Replace(string(content), before, Schema, 1)
	report := new(source.Report)
	if root, ok := source.ParseYAML([]byte(text), report); ok {
		markApprovals(root.Quiet(), report)
	}
	_, err := Parse(name, []byte(text), options)
	if failed, ok := errors.AsType[*Error](err); ok {
		report.List = append(report.List, failed.Problems...)
	}
	lines := strings.SplitAfter(text, "\n")
	// From the end, so that lines stay where they are.
	slices.SortStableFunc(report.List, func(a, b Problem) int { return cmp.Compare(b.Line, a.Line) })
	for _, problem := range report.List {
		at := min(max(problem.Line, 1), len(lines)) - 1
		indent := lines[at][:len(lines[at])-len(strings.TrimLeft(lines[at], " "))]
		line := indent + mark + strings.ReplaceAll(problem.Message, "\n", " ") + "\n"
		if !slices.Contains(lines, line) || problem.Rule != "" {
			lines = slices.Insert(lines, at, line)
		}
	}
	return "# Read as " + Schema + ". In it, a request of nothing but change needs an allow like a payment, " +
		"and one of nothing but a fee a\n# rule with alone: true and a limit: sponsoring, cancelling, claiming. " +
		"Remove these lines when all below is done.\n" + strings.Join(lines, "")
}

// markApprovals marks groups for which the submission no longer is a vote.
func markApprovals(root source.Node, report *source.Report) {
	has := func(n source.Node, name string) bool {
		return slices.ContainsFunc(n.Pairs(""), func(entry source.Entry) bool { return entry.Name == name })
	}
	items := func(of source.Node, name string) (items []source.Node) {
		for _, entry := range of.Pairs("") {
			if entry.Name == name && !entry.Node.IsNull() {
				items = append(items, entry.Node.Items("")...)
			}
		}
		return items
	}
	for _, rule := range items(root, "rules") {
		for _, group := range items(rule, "approvals") {
			if !has(group, "not") && !has(group, "submitter") {
				report.Add(group.Place(), "", "the submission is no vote here unless the group says submitter: counts")
			}
		}
	}
}

// PricesText describes the price file that was loaded with the file, empty without one: its
// currency, its time and the SHA-256 of its bytes.
func (f *File) PricesText() string {
	if f.prices == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s, sha256 %x", f.prices.currency, shownTime(f.prices.at), f.prices.digest)
}

// PricesProblem returns why the prices of the file say nothing at a time, empty if they do, or if
// there are none.
func (f *File) PricesProblem(now time.Time) string {
	if f.prices == nil {
		return ""
	}
	return f.prices.unusable(now)
}

// timeless returns the file with prices that are never too old.
func (f *File) timeless() *File {
	if f.prices == nil {
		return f
	}
	file, judge, prices := *f, *f.judge, *f.prices
	prices.undated = true
	file.judge, judge.prices = &judge, &prices
	return &file
}
