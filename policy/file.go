package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
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
	name     string
	digest   [32]byte
	rules    []*rule
	limits   map[string]*limit
	assets   []*asset
	warnings []Problem
	lines    []string
	groups   groups
	tests    int
	names    *Names
	options  Options
	inputs   []input
	cost     uint64 // upper bound of all conditions, for one effect
}

// rule is one rule of a file.
type rule struct {
	index     int
	place     source.Place
	name      string
	deny      bool
	request   bool // judges the whole activity
	kinds     []chains.Kind
	on        []string // chains; empty: all
	of        string   // ofTransactions or ofMessages; empty: both, and one-time passwords
	networks  []string // CAIP-2 ids of networks; empty: all, and what names none
	who       *who
	keys      []string // ids of keys and wallets or, with byName, names
	byName    bool     // the keys were not known when the file was read
	when      *expression
	limits    []*limit
	hazards   []string
	approvals []access.Group
	others    bool
	alone     bool // pays a fee that is all that the request is for
	priced    bool // its condition asks for what is received
	bundle    bool // what is received is the price of all effects that it decides, not of one
}

// limit bounds how much of an asset may be spent within a window.
type limit struct {
	name   string
	place  source.Place
	asset  *asset
	max    *big.Int
	window time.Duration
	per    string
	nonce  bool // replaces: nonce
	used   bool
}

// Options configures [Load] and [Parse]. With the zero value the file is read on its
// own.
type Options struct {
	// Names are the users and keys of the organization; names in the file must be
	// among them. If nil, names are not checked: a misspelled one matches no one, so that
	// a deny denies nothing, and a user is found by id or name.
	Names *Names

	// Folder has the transactions that tests name. The default is the folder of
	// the file.
	Folder string

	// Limits are the bounds that hazards of tests' transactions depend on.
	Limits all.Limits

	// SkipTests skips the file's own tests.
	SkipTests bool

	// Previous is what [Load] returns if nothing has changed from which it was loaded: the
	// file, the transactions that its tests name, and these options. May be nil.
	Previous *File
}

// Load reads and checks a file and runs its tests. Its error is an [*Error], or one of
// the file system.
func Load(path string, options Options) (*File, error) {
	content, err := trust.ReadFile(path, source.MaxFileBytes)
	if err != nil {
		return nil, err
	}
	if options.Folder == "" {
		options.Folder = filepath.Dir(path)
	}
	if options.Previous.loadedFrom(path, content, options) {
		return options.Previous, nil
	}
	return Parse(path, content, options)
}

// maxTestFile bounds a file with the transaction of a test, in bytes.
const maxTestFile = 4 << 20

// input is a file with a transaction of a test.
type input struct {
	path   string
	digest [32]byte
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
	c := &compiler{
		file:    &File{options: options, name: name, digest: sha256.Sum256(content), limits: map[string]*limit{}, lines: strings.Split(string(content), "\n")},
		options: options, problems: new(source.Report), lists: map[string]*list{}, assets: map[string]*asset{}, assetNames: map[string]string{},
	}
	c.read(content)
	c.finish()
	if c.problems.Failed() {
		return nil, c.failure()
	}
	if !options.SkipTests {
		c.runTests()
	}
	if c.problems.Failed() {
		return nil, c.failure()
	}
	for _, name := range sortedKeys(c.assets) {
		c.file.assets = append(c.file.assets, c.assets[name])
	}
	c.file.warnings, c.file.tests, c.file.names = c.problems.Sorted(), len(c.tests), options.Names
	return c.file, nil
}

// compiler reads one file.
type compiler struct {
	file       *File
	options    Options
	problems   *source.Report
	env        *cel.Env
	lists      map[string]*list
	assets     map[string]*asset
	assetNames map[string]string // by chain and token
	skeletons  map[string]string // names by what they look like
	misnamed   bool              // a list or an asset has an invalid name
	tests      []*fileTest
}

func (c *compiler) failure() error { return c.problems.Failure(c.file.name, c.file.lines) }

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
func (f *File) Rules() []string {
	names := make([]string, len(f.rules))
	for i, rule := range f.rules {
		names[i] = rule.name
	}
	return names
}

// Cost returns an upper bound for evaluating all conditions for one effect, in steps
// of 20 to 50 ns.
func (f *File) Cost() uint64 { return f.cost }

// Tests returns the number of the file's own tests.
func (f *File) Tests() int { return f.tests }

// User returns a user of [Options.Names], by id or name. An id has precedence.
func (f *File) User(name string) (access.User, bool) { return f.names.user(name) }

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
