package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/descriptors"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/cmd/countersign/internal/config"
)

// knowledge is what a configuration knows beside the bytes of transactions: names
// of tokens and addresses, and descriptors of calls. Nil knows what is built in.
type knowledge struct {
	book   *names.Book
	folder *descriptors.Folder // nil: none is configured
}

// knowledgeOf reads what the configuration in a file knows; none without one.
func knowledgeOf(configFile string) (*knowledge, error) {
	if configFile == "" {
		return nil, nil
	}
	configured, err := config.Read(configFile)
	if err != nil {
		return nil, err
	}
	return readKnowledge(configured)
}

// readKnowledge reads what a configuration knows; nil if there is none.
func readKnowledge(configured *config.Config) (*knowledge, error) {
	if configured == nil {
		return nil, nil
	}
	known := &knowledge{book: names.New()}
	for _, path := range configured.Tokens {
		file, err := os.ReadFile(path)
		if err == nil {
			err = known.book.AddTokenList(file)
		}
		if err != nil {
			return nil, fmt.Errorf("tokens: %s: %w", path, err)
		}
	}
	for i, label := range configured.Labels {
		if err := known.book.AddLabel(label.Chain, label.Address, label.Label); err != nil {
			return nil, fmt.Errorf("labels[%d]: %w", i, err)
		}
	}
	var err error
	if configured.Descriptors != nil {
		known.folder, err = openDescriptors(configured.Descriptors, known.book)
	}
	return known, err
}

// openDescriptors reads a folder. A symbolic link cannot lead out of it.
func openDescriptors(at *config.Descriptors, known chains.Names) (*descriptors.Folder, error) {
	if err := at.Check(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(at.Folder)
	if err != nil {
		return nil, fmt.Errorf("descriptors.folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	pins, err := readPins(at.Pins)
	if err != nil {
		return nil, err
	}
	return descriptors.Open(root.FS(), descriptors.Options{Pins: pins, Auditors: at.Auditors, Names: known})
}

// readPins reads a manifest; one that is not there yet pins nothing.
func readPins(path string) (*descriptors.Pins, error) {
	if path == "" {
		return &descriptors.Pins{}, nil
	}
	file, err := os.ReadFile(path)
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

// reader reads calls; nil if no descriptors are configured.
func (k *knowledge) reader() chains.Reader {
	if k == nil || k.folder == nil {
		return nil
	}
	return k.folder
}

// names are those to show: what is built in, without a configuration.
func (k *knowledge) names() chains.Names {
	if k == nil {
		return tokens()
	}
	return k.book
}
