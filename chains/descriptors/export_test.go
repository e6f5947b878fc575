package descriptors

import (
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// With returns the folder with other names, and with pins instead of its own.
func (f *Folder) With(t testing.TB, names chains.Names, pins *Pins) *Folder {
	t.Helper()
	with := &Folder{names: names, byTarget: map[target][]*File{}}
	for t, files := range f.byTarget {
		for _, file := range files {
			trusted := *file
			if _, pinned := pins.digests[file.Digest]; pinned {
				trusted.Problem, trusted.Trust = "", "pinned"
			}
			with.byTarget[t] = append(with.byTarget[t], &trusted)
		}
	}
	return with
}

// ParseTree parses JSON like a file, and returns its canonical form.
func ParseTree(file []byte) ([]byte, error) {
	root, err := parse(file)
	if err != nil {
		return nil, err
	}
	return canonical(root), nil
}
