package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
)

// changesName is the file that says which key files were replaced or removed, so
// that processes which have the keystore open read them again: one record of
// changeSize bytes each, a UUID and a newline, in the order of the changes. It
// only grows, unless a backup is put in its place; then all of it is new. What it
// says need not be trusted: the key files it leads to are checked as always.
const (
	changesName = "changes"
	changeSize  = 37
)

// announce adds records to the file, safe on disk. The lock is held.
func (s *Store) announce(ids ...string) error {
	file, err := s.root.OpenFile(changesName, os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return s.fileError(err, changesName)
	}
	records, err := s.filler(file)
	for _, id := range ids {
		records = append(append(records, id...), '\n')
	}
	if err == nil {
		_, err = file.Write(records)
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = syncDirectory(s.root)
	}
	if err != nil {
		return s.fileError(err, changesName)
	}
	return nil
}

// filler returns what completes the record that a writer which crashed has begun.
func (s *Store) filler(file openFile) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	missing := (changeSize - info.Size()%changeSize) % changeSize
	return bytes.Repeat([]byte{'\n'}, int(missing)), nil
}

// followChanges reads again the key files that were replaced or removed since the
// last time, by this process or another. If there are none it costs one stat. It
// comes before every look-up, so that what was disabled or deleted signs no more.
func (s *Store) followChanges(ctx context.Context) error {
	now, err := s.changesNow()
	if err != nil {
		return err
	}
	if now == *s.followed.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	return s.follow(ctx)
}

// changesNow returns which version of the file there is; the zero one if there is none
// yet.
func (s *Store) changesNow() (version, error) {
	info, err := s.root.Lstat(changesName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return version{}, nil
	case errors.Is(err, fs.ErrClosed):
		return version{}, keystore.ErrClosed
	case err != nil:
		return version{}, s.errorf("look for changes", fmt.Errorf("%w: %w", keystore.ErrUnavailable, err))
	}
	return version{info.Size(), info.ModTime()}, nil
}

// follow is followChanges for who holds s.mu. While the file cannot be read,
// nothing is found.
func (s *Store) follow(ctx context.Context) error {
	records, now, err := s.newChanges()
	if err != nil {
		return s.errorf("read changes", fmt.Errorf("%w: %w", keystore.ErrUnavailable, err))
	}
	done := map[uuid.UUID]bool{}
	for len(records) >= changeSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		if id, err := uuid.ParseBytes(records[:changeSize-1]); err == nil && !done[id] {
			done[id] = true
			s.reload(id.String())
		}
		records = records[changeSize:]
	}
	s.followed.Store(&now)
	return nil
}

// newChanges returns the records that were added to the version that was followed;
// all of them if the file has not grown, but is another one.
func (s *Store) newChanges() (records []byte, now version, err error) {
	now, err = s.changesNow()
	if err != nil || now.size == 0 {
		return nil, now, err
	}
	from := s.followed.Load().size / changeSize * changeSize
	if now.size <= s.followed.Load().size {
		from = 0
	}
	file, err := s.root.OpenFile(changesName, os.O_RDONLY, 0)
	if err != nil {
		return nil, now, err
	}
	defer file.Close()
	records = make([]byte, now.size-from)
	if _, err := file.ReadAt(records, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, now, err
	}
	return records, now, nil
}

// reload makes a key file that was replaced or removed known anew. A file that
// cannot be read leaves nothing behind: it is set aside, as when opening. s.mu is
// held.
func (s *Store) reload(id string) {
	name := id + keySuffix
	delete(s.bad, name)
	file := s.read(name)
	if file.err == nil && file.key != nil && s.renamed(file) {
		file.destroy()
		return
	}
	if file.err != nil || file.wallet == nil {
		s.forget(id)
	}
	if file.err == nil {
		file.err = s.insert(file)
	}
	if file.err != nil && !errors.Is(file.err, fs.ErrNotExist) {
		s.forget(id)
		s.setAside(file)
	}
}

// renamed takes over the name of a key that is as it was but for that: handles to
// it stay good.
func (s *Store) renamed(file loaded) bool {
	known, err := s.index.Key(context.Background(), file.organizationID, keystore.ByID(file.id))
	if err != nil || file.disabled {
		return false
	}
	now, before := file.key.Info(), known.Info()
	before.Name = now.Name
	if now != before {
		return false
	}
	known.Rename(now.Name)
	return true
}
