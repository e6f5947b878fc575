package file

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// settleTime is the age at which the modification time of a directory is certain to differ after
// any later change. The coarsest file system clock in use, FAT's, ticks every two seconds.
const settleTime = 2 * time.Second

func (c *contents) unchanged() bool {
	settled := c.settled.Load()
	if settled == 0 {
		return false
	}
	now, err := c.keysRoot.Stat()
	return err == nil && now.ModTime().UnixNano() == settled
}

// takeIn reads the key files that are not known yet. The caller holds s.mu.
func (c *contents) takeIn(ctx context.Context) error {
	start := time.Now()
	info, err := c.keysRoot.Stat()
	if err != nil {
		return err
	}
	present, err := names(c.keysRoot, ".")
	if err != nil {
		return err
	}
	files, err := c.readAll(ctx, c.unknown(present))
	if err != nil {
		return err
	}
	c.insertAll(files)
	c.settled.Store(0)
	if start.Sub(info.ModTime()) > settleTime && c.unread() == nil {
		c.settled.Store(info.ModTime().UnixNano())
	}
	return nil
}

// unread returns the error of the first key file that could not be read at all, as
// opposed to one that was read and refused. The caller holds s.mu.
func (c *contents) unread() error {
	for _, name := range slices.Sorted(maps.Keys(c.bad)) {
		if bad := c.bad[name]; !bad.isFinal() {
			return bad.err
		}
	}
	return nil
}

// unknown returns the names of the key files to be read, and forgets bad files that are
// gone or have changed.
func (c *contents) unknown(present []string) (unknown []string) {
	before := c.bad
	c.bad = map[string]badFile{}
	for _, name := range present {
		id, isKey := strings.CutSuffix(name, keySuffix)
		if !isKey {
			continue
		}
		if bad, wasBad := before[name]; wasBad && c.unchangedBad(name, bad) {
			c.bad[name] = bad
			continue
		}
		if _, known := c.owners[id]; !known || c.walletChanged(id) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func (c *contents) unchangedBad(name string, bad badFile) bool {
	now, err := c.keysRoot.Lstat(name)
	return err == nil && bad.isFinal() && versionOf(now) == bad.version && now.Mode() == bad.mode
}

// readAll reads key files on all processors.
func (c *contents) readAll(ctx context.Context, names []string) ([]loaded, error) {
	files := make([]loaded, len(names))
	report, read := c.options.OnRead, 0
	var counting sync.Mutex
	inParallel(len(names), runtime.GOMAXPROCS(0), func(i int) {
		if ctx.Err() != nil {
			return
		}
		files[i] = c.read(names[i])
		if report != nil && len(names) >= progressStep {
			counting.Lock()
			defer counting.Unlock()
			if read++; read%progressStep == 0 || read == len(names) {
				report(read, len(names))
			}
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

func (f *folder) read(name string) loaded {
	// The version comes first: a file that is replaced meanwhile is read once too often
	// rather than once too seldom.
	info, err := f.keysRoot.Lstat(name)
	if err != nil {
		return loaded{name: name, err: err}
	}
	file := loaded{name: name, version: versionOf(info)}
	bytes, err := readChecked(f.keysRoot, name, info, maxKeyFileSize)
	if err == nil {
		file.content, err = f.sealer.open(bytes)
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

// progressStep is the number of key files read between two calls of Options.OnRead. Reading fewer is
// not reported.
const progressStep = 256

// walletChanged reports whether a file that was read is a wallet to which another process
// may have added accounts since. The caller holds s.mu.
func (c *contents) walletChanged(id string) bool {
	wallet := c.wallets[id]
	if wallet == nil {
		return false
	}
	info, err := c.keysRoot.Lstat(id + keySuffix)
	return err != nil || wallet.version != versionOf(info)
}
