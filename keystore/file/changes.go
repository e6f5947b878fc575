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

// changesName is the file that lists the key files that were replaced or removed, so that
// processes which have the keystore open read them again. Each record has changeSize
// bytes: a UUID and a newline. Records are in the order of the changes. The file only
// grows, unless a backup is restored over it; then all of it counts as new. Its content
// need not be trusted: the key files it leads to are verified as always.
const (
	changesName = "changes"
	changeSize  = 37
)

// announce announces to all processes, including this one, that the file of a key or
// wallet has changed. The caller holds the lock.
func (c *contents) announce(ctx context.Context, id string) error {
	if err := c.appendChange(id); err != nil {
		return c.fileError(err, changesName)
	}
	return c.follow(context.WithoutCancel(ctx))
}

// appendChange appends a record to the file and syncs it.
func (f *folder) appendChange(id string) error {
	file, err := f.root.OpenFile(changesName, os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil {
		missing := (changeSize - info.Size()%changeSize) % changeSize // of a writer that crashed
		_, err = file.Write(append(append(bytes.Repeat([]byte{'\n'}, int(missing)), id...), '\n'))
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = f.root.Sync()
	}
	return err
}

// changesVersion returns the current version of the file, the zero version if it does not
// exist yet.
func (f *folder) changesVersion() (version, error) {
	info, err := f.root.Lstat(changesName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return version{}, nil
	case errors.Is(err, fs.ErrClosed):
		return version{}, keystore.ErrClosed
	case err != nil:
		return version{}, f.errorf("look for changes", fmt.Errorf("%w: %w", keystore.ErrUnavailable, err))
	}
	return versionOf(info), nil
}

// follow is followChanges for a caller that holds s.mu. It fails, and with it every
// look-up, while the file cannot be read.
func (c *contents) follow(ctx context.Context) error {
	records, now, err := c.newChanges()
	if err != nil {
		return c.errorf("read changes", fmt.Errorf("%w: %w", keystore.ErrUnavailable, err))
	}
	done := map[uuid.UUID]bool{}
	for len(records) >= changeSize {
		if err := ctx.Err(); err != nil {
			return err
		}
		if id, err := uuid.ParseBytes(records[:changeSize-1]); err == nil && !done[id] {
			done[id] = true
			c.reload(id.String())
		}
		records = records[changeSize:]
	}
	c.followed.Store(&now)
	return nil
}

// newChanges returns the records added since the followed version, or all records if the
// file was replaced by one that is not longer.
func (c *contents) newChanges() (records []byte, now version, err error) {
	now, err = c.changesVersion()
	if err != nil || now.size == 0 {
		return nil, now, err
	}
	from := c.followed.Load().size / changeSize * changeSize
	if now.size <= c.followed.Load().size {
		from = 0
	}
	file, err := c.root.OpenFile(changesName, os.O_RDONLY, 0)
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

// reload rereads a key file that was replaced or removed. If the file cannot be read, its
// keys are forgotten and it is set aside, as on opening. The caller holds s.mu.
func (c *contents) reload(id string) {
	name := id + keySuffix
	delete(c.bad, name)
	file := c.read(name)
	if file.err == nil && file.key != nil && c.renamed(file) {
		file.destroy()
		return
	}
	if file.err != nil || file.wallet == nil {
		c.forget(id)
	}
	if file.err == nil {
		file.err = c.insert(file)
	}
	if file.err != nil && !errors.Is(file.err, fs.ErrNotExist) {
		c.forget(id)
		c.setAside(file)
	}
}

// renamed applies the file's name to a key of which nothing else has changed, and reports
// whether it did. Handles to the key stay valid.
func (c *contents) renamed(file loaded) bool {
	key, err := c.index.Key(context.Background(), file.organizationID, keystore.ByID(file.id))
	if err != nil || file.disabled {
		return false
	}
	now, before := file.key.Info(), key.Info()
	before.Name = now.Name
	if now != before {
		return false
	}
	clear(c.names)
	key.Rename(now.Name)
	return true
}
