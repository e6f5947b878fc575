package policy

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/source"
	"github.com/countersign-dev/countersign/internal/trust"
)

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

	// Folder has the transactions that tests name. The default is the folder of
	// the file.
	Folder string

	// SkipTests skips the file's own tests.
	SkipTests bool

	// Previous is what [Load] returns if nothing has changed from which it was loaded: the
	// file, the transactions that its tests name, and these options. May be nil.
	Previous *File
}

// Load reads and checks a file and runs its tests. Its error is an [*Error], one of
// the file system, or one of Options.Chains.
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
	words, err := newVocabulary(options.Chains)
	if err != nil {
		return nil, fmt.Errorf("policy: Options.Chains: %w", err)
	}
	draft := &draft{
		language: newLanguage(words), problems: new(source.Report), names: options.Names, limits: map[string]*limit{},
		hazards: append(words.table.HazardNames(), options.Hazards...),
	}
	reader := reader{definitions{draft: draft, assetNames: map[string]string{}}, fileTests{draft: draft, folder: options.Folder}}
	reader.read(content)
	file := &File{name: name, digest: sha256.Sum256(content), lines: strings.Split(string(content), "\n"), options: options}
	file.cost = checks{draft}.whole()
	file.judge = newJudge(words, draft.rules)
	if !options.SkipTests && !draft.problems.Failed() {
		reader.tests.run(file.judge)
	}
	if draft.problems.Failed() {
		return nil, draft.problems.Failure(name, file.lines)
	}
	for _, name := range sortedKeys(draft.assets) {
		file.assets = append(file.assets, draft.assets[name])
	}
	file.limits, file.tests, file.inputs = draft.limits, len(reader.tests.list), reader.tests.inputs
	file.warnings = draft.problems.Sorted()
	return file, nil
}
