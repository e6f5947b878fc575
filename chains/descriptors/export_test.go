package descriptors

import (
	"testing"

	"github.com/countersign-dev/countersign/chains"
)

// With returns the folder with every file of pins trusted, and with other names.
func (f *Folder) With(t testing.TB, names chains.Names, pins *Pins) *Folder {
	t.Helper()
	with := &Folder{names: names, now: f.now, byTarget: map[target][]*File{}}
	for at, files := range f.byTarget {
		for _, file := range files {
			trusted := *file
			if pins.has(file.Digest) {
				trusted.Problem, trusted.Trust = "", "pinned"
			}
			with.byTarget[at] = append(with.byTarget[at], &trusted)
		}
	}
	return with
}
