package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/chains"
)

// Schema is the version of the file's form.
const Schema = "countersign.policy/1"

// File is a policy that was read from a file: who may have what signed. It is
// safe for concurrent use, and does not change.
type File struct {
	name     string
	digest   [32]byte
	rules    []*rule
	limits   map[string]*limit
	warnings []Problem
	lines    []string
	groups   groups
	tests    int
	names    *Names
	total    uint64 // of all conditions: cost at most, for one effect
}

// rule is one rule of a file.
type rule struct {
	index     int
	name      string
	at        place
	deny      bool
	request   bool // judges the whole activity
	kinds     []chains.Kind
	on        []string // chains; none: all
	who       *who
	keys      []string // ids of keys and wallets or, with byName, names
	byName    bool     // the keys were not known when the file was read
	when      *expression
	limits    []*limit
	hazards   []string
	approvals []countersign.Approval
	others    bool
}

// limit is the most of an asset that may be spent within a window.
type limit struct {
	name   string
	at     place
	asset  *asset
	max    *big.Int
	window time.Duration
	per    string
	used   bool
}

// Options are what a file is read with. The zero value reads it by itself.
type Options struct {
	// Names are the users and keys of the organization: names in the file must
	// be among them. Nil: they are not known, and names are taken as they are.
	Names *Names

	// Folder is where the transactions of tests lie. Default: that of the file.
	Folder string

	// Limits are the bounds of the engine's hazards, for tests.
	Limits countersign.Limits

	// SkipTests leaves the file's own tests out.
	SkipTests bool
}

// Names are the users and keys that a file can name.
type Names struct {
	Users       []countersign.User
	Credentials []string                 // ids
	Keys        []countersign.SigningKey // nil: not known, and taken as they are
}

// Load reads a file, checks all of it and runs its tests. Its error is an
// *Error, or one of the file system.
func Load(path string, options Options) (*File, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > MaxFileBytes {
		return nil, fmt.Errorf("%s: %d bytes, a policy has at most %d", path, info.Size(), MaxFileBytes)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if options.Folder == "" {
		options.Folder = filepath.Dir(path)
	}
	return Parse(path, content, options)
}

// Parse is Load for bytes; name is what errors call them.
func Parse(name string, content []byte, options Options) (*File, error) {
	c := &compiler{
		file:    &File{name: name, digest: sha256.Sum256(content), limits: map[string]*limit{}, lines: strings.Split(string(content), "\n")},
		options: options, problems: new(problems), lists: map[string]*list{}, assets: map[string]*asset{}, assetAt: map[string]place{},
		usedAssets: map[string]bool{}, assetNames: map[string]string{},
	}
	c.read(content)
	c.finish()
	if c.problems.failed() {
		return nil, c.failure()
	}
	if !options.SkipTests {
		c.runTests()
	}
	if c.problems.failed() {
		return nil, c.failure()
	}
	c.file.warnings, c.file.tests, c.file.names = c.sorted(), len(c.tests), options.Names
	return c.file, nil
}

// compiler reads one file.
type compiler struct {
	file       *File
	options    Options
	problems   *problems
	env        *cel.Env
	lists      map[string]*list
	assets     map[string]*asset
	assetAt    map[string]place
	usedAssets map[string]bool
	assetNames map[string]string // by what they are of
	seen       map[string]string // names by what they look like
	misnamed   bool              // a list or an asset has a name that it cannot have
	tests      []*fileTest
}

func (c *compiler) failure() *Error {
	return &Error{Name: c.file.name, Problems: c.sorted(), lines: c.file.lines}
}

// sorted returns the problems in the order of their places, errors first.
func (c *compiler) sorted() []Problem {
	slices.SortStableFunc(c.problems.list, func(a, b Problem) int {
		if a.Warning != b.Warning {
			if a.Warning {
				return 1
			}
			return -1
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return c.problems.list
}

// Name returns what the file is called.
func (f *File) Name() string { return f.name }

// Digest returns the SHA-256 of the file's bytes.
func (f *File) Digest() [32]byte { return f.digest }

// DigestText returns the digest in hex.
func (f *File) DigestText() string { return hex.EncodeToString(f.digest[:]) }

// Warnings returns what is likely not meant, though the file can be used.
func (f *File) Warnings() []Problem { return slices.Clone(f.warnings) }

// RenderProblem writes a problem of the file with its place, the line and a caret.
func (f *File) RenderProblem(problem Problem) string { return render(f.name, f.lines, &problem) }

// Rules returns the names of the rules, in file order.
func (f *File) Rules() []string {
	names := make([]string, len(f.rules))
	for i, rule := range f.rules {
		names[i] = rule.name
	}
	return names
}

// Cost returns what the conditions of the file cost at most for one effect, in
// steps of 20 to 50 ns.
func (f *File) Cost() uint64 { return f.total }

// HasLimits reports whether the file needs a ledger.
func (f *File) HasLimits() bool { return len(f.limits) > 0 }

// Tests returns how many tests of its own the file has.
func (f *File) Tests() int { return f.tests }

// User returns a user that the file may name, by name or id.
func (f *File) User(name string) (countersign.User, bool) {
	if f.names == nil {
		return countersign.User{}, false
	}
	for _, user := range f.names.Users {
		if user.ID == name || user.Name == name {
			return user, true
		}
	}
	return countersign.User{}, false
}

// LimitsSince says which limits count otherwise than in an earlier file. A limit
// is known by its name: one that is renamed starts at zero.
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
			changes = append(changes, fmt.Sprintf("%s counts %s, and goes on from what it counted of %s: rename it", name, now.asset, before.asset))
		}
	}
	for _, name := range sortedKeys(old.limits) {
		if f.limits[name] == nil {
			changes = append(changes, name+" is gone: what it counted is counted no more")
		}
	}
	return changes
}
