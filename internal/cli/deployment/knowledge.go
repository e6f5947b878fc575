package deployment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/internal/cli/config"
	"github.com/countersign-dev/countersign/internal/cli/console"
	"github.com/countersign-dev/countersign/internal/cli/show"
)

// Knowledge is what a configuration adds to the bytes of transactions: names of tokens
// and addresses, and descriptors of calls. A nil knowledge has the built-in names only.
type Knowledge struct {
	book   *names.Book
	folder *descriptors.Folder // nil if none is configured
}

// KnowledgeOf reads the knowledge of the configuration in a file, nil without a file.
func KnowledgeOf(configFile string) (*Knowledge, error) {
	if configFile == "" {
		return nil, nil
	}
	configured, err := config.Read(configFile)
	if err != nil {
		return nil, err
	}
	return ReadKnowledge(configured)
}

// ReadKnowledge reads the knowledge of a configuration, nil without a configuration.
func ReadKnowledge(configured *config.Config) (*Knowledge, error) {
	if configured == nil {
		return nil, nil
	}
	known := &Knowledge{book: names.New(all.Chains(all.Limits{})...)}
	for i, path := range configured.Tokens {
		file, err := console.ReadText(path, names.MaxListBytes)
		if err == nil {
			err = known.book.AddTokenList(file)
		}
		if err != nil {
			return nil, configured.At(fmt.Sprintf("tokens[%d]", i), fmt.Errorf("tokens: %s: %w", path, err))
		}
	}
	for i, label := range configured.Labels {
		if err := known.book.AddLabel(label.Chain, label.Address, label.Label); err != nil {
			return nil, configured.At(fmt.Sprintf("labels[%d]", i), fmt.Errorf("labels[%d]: %w", i, err))
		}
	}
	if configured.Descriptors != nil {
		var err error
		if known.folder, err = OpenDescriptors(configured.Descriptors, known.book); err != nil {
			return nil, configured.At("descriptors", err)
		}
	}
	return known, nil
}

// OpenDescriptors reads a folder of descriptors. Symbolic links cannot lead out of it.
func OpenDescriptors(configured *config.Descriptors, known chains.Names) (*descriptors.Folder, error) {
	if err := configured.Check(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(configured.Folder)
	if err != nil {
		return nil, fmt.Errorf("descriptors.folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	pins, err := ReadPins(configured.Pins)
	if err != nil {
		return nil, err
	}
	return descriptors.Open(root.FS(), descriptors.Options{Pins: pins, Names: known})
}

// maxPins is the length of the longest manifest of pins, in bytes.
const maxPins = 8 << 20

// ReadPins reads a manifest of pins. A missing file pins nothing.
func ReadPins(path string) (*descriptors.Pins, error) {
	if path == "" {
		return &descriptors.Pins{}, nil
	}
	file, err := console.ReadText(path, maxPins)
	if errors.Is(err, fs.ErrNotExist) {
		return &descriptors.Pins{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("descriptors.pins: %w", err)
	}
	pins, err := descriptors.ReadPins(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return pins, nil
}

// Reader returns the reader of calls, nil if no descriptors are configured.
func (k *Knowledge) Reader() chains.Reader {
	if k == nil || k.folder == nil {
		return nil
	}
	return k.folder
}

// Names returns the names to show.
func (k *Knowledge) Names() chains.Names {
	if k == nil {
		return show.Tokens()
	}
	return k.book
}
