package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
)

// settleTime is how old the modification time of a directory must be for any
// later change to give it another one: the coarsest clock of a file system in
// use, FAT's, ticks every two seconds.
const settleTime = 2 * time.Second

// badFile is a key file that is not loaded. It is read again when it changes, or
// each time if it may not be the file's fault.
type badFile struct {
	err      *Error
	size     int64
	modified time.Time
	mode     fs.FileMode
}

// isFinal reports whether the file is to blame: it was read, and refused.
func (b badFile) isFinal() bool {
	for _, final := range []error{ErrNotAuthentic, ErrMalformed, ErrPermissions, keystore.ErrKeyExists} {
		if errors.Is(b.err, final) {
			return true
		}
	}
	return false
}

// loaded is a file that was read: what it holds, or why nothing.
type loaded struct {
	name string
	content
	version version
	err     error
}

// version tells one version of a file from the next.
type version struct {
	size     int64
	modified time.Time
}

// lookAgain takes in the files that were added since the last time. If nothing
// has changed it costs one stat.
func (s *Store) lookAgain(ctx context.Context) error {
	if err := s.followChanges(ctx); err != nil {
		return err
	}
	if s.unchanged() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	if s.unchanged() { // another goroutine has just done it
		return nil
	}
	if err := s.takeIn(ctx); err != nil {
		return s.errorf("look for new keys", err)
	}
	return nil
}

func (s *Store) unchanged() bool {
	settled := s.settled.Load()
	if settled == 0 {
		return false
	}
	now, err := s.keysRoot.Lstat(".")
	return err == nil && now.ModTime().UnixNano() == settled
}

// takeIn reads the key files that are not known yet. s.mu is held.
func (s *Store) takeIn(ctx context.Context) error {
	start := time.Now()
	info, err := s.keysRoot.Lstat(".")
	if err != nil {
		return err
	}
	all, err := names(s.keysRoot, ".")
	if err != nil {
		return err
	}
	files, err := s.readAll(ctx, s.unknown(all))
	if err != nil {
		return err
	}
	s.insertAll(files)
	s.settled.Store(0)
	if start.Sub(info.ModTime()) > settleTime && s.unread() == nil {
		s.settled.Store(info.ModTime().UnixNano())
	}
	return nil
}

// unread returns why one of the key files could not be read, if it may not be
// the file's fault. s.mu is held.
func (s *Store) unread() error {
	for _, name := range slices.Sorted(maps.Keys(s.bad)) {
		if bad := s.bad[name]; !bad.isFinal() {
			return bad.err
		}
	}
	return nil
}

// unknown returns which of the names are of key files to be read, and forgets
// bad files that are gone or have changed.
func (s *Store) unknown(all []string) (unknown []string) {
	before := s.bad
	s.bad = map[string]badFile{}
	for _, name := range all {
		stem, isKey := strings.CutSuffix(name, keySuffix)
		if !isKey {
			continue
		}
		if bad, was := before[name]; was && s.same(name, bad) {
			s.bad[name] = bad
			continue
		}
		if !s.isKnown(stem) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

// isKnown reports whether the file of this name, less its suffix, was read, and
// has not changed since.
func (s *Store) isKnown(stem string) bool {
	id, err := uuid.Parse(stem)
	if err != nil || len(stem) != len("00000000-0000-0000-0000-000000000000") || strings.ContainsAny(stem, "ABCDEF") {
		return false
	}
	_, known := s.known[id]
	return known && !s.walletChanged(stem)
}

func (s *Store) same(name string, bad badFile) bool {
	now, err := s.keysRoot.Lstat(name)
	return err == nil && bad.isFinal() && now.Size() == bad.size && now.Mode() == bad.mode && now.ModTime().Equal(bad.modified)
}

// readAll reads key files on all processors.
func (s *Store) readAll(ctx context.Context, names []string) ([]loaded, error) {
	files := make([]loaded, len(names))
	counted := reading{total: len(names), tell: s.options.OnRead}
	inParallel(len(names), runtime.GOMAXPROCS(0), func(i int) {
		if ctx.Err() == nil {
			files[i] = s.read(names[i])
			counted.one()
		}
	})
	if err := ctx.Err(); err != nil {
		for _, file := range files {
			file.destroy()
		}
		return nil, err
	}
	return files, nil
}

// inParallel calls do(0) … do(n-1) from a number of goroutines.
func inParallel(n, goroutines int, do func(i int)) {
	var next atomic.Int64
	var done sync.WaitGroup
	for range min(n, goroutines) {
		done.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				do(int(i))
			}
		})
	}
	done.Wait()
}

func (s *Store) read(name string) loaded {
	file := loaded{name: name}
	// Its version comes first: if the file is replaced meanwhile, it is read
	// once more than needed, not once less.
	info, err := s.keysRoot.Lstat(name)
	if err != nil {
		return loaded{name: name, err: err}
	}
	file.version = version{info.Size(), info.ModTime()}
	bytes, err := readSeen(s.keysRoot, name, info, maxKeyFileSize)
	if err == nil {
		file.content, err = s.sealer.open(bytes)
	}
	if err == nil && file.id+keySuffix != name {
		file.destroy()
		err = fmt.Errorf("%w: renamed: it is the file of %s", ErrNotAuthentic, file.id)
	}
	if err != nil {
		return loaded{name: name, err: err}
	}
	return file
}

func (s *Store) setAside(file loaded) {
	bad := badFile{err: s.fileError(file.err, keysName, file.name)}
	if info, err := s.keysRoot.Lstat(file.name); err == nil {
		bad.size, bad.modified, bad.mode = info.Size(), info.ModTime(), info.Mode()
	}
	s.bad[file.name] = bad
	s.options.Logger.Warn("key file left out", "file", bad.err.Path, "error", file.err)
}

func (s *Store) badFiles() []*Error {
	files := make([]*Error, 0, len(s.bad))
	for _, bad := range s.bad {
		files = append(files, bad.err)
	}
	slices.SortFunc(files, func(a, b *Error) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// ReadStep is how many key files are read between two calls of Options.OnRead.
const ReadStep = 256

// reading counts key files while they are read.
type reading struct {
	mu          sync.Mutex
	read, total int
	tell        func(read, total int)
}

// one counts a file. Few files are not worth telling of.
func (r *reading) one() {
	if r.tell == nil || r.total < ReadStep {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read++
	if r.read%ReadStep == 0 || r.read == r.total {
		r.tell(r.read, r.total)
	}
}
