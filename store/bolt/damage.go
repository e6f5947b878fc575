package bolt

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/countersign-dev/countersign/store"
)

// file is a bbolt file whose damage is an error. bbolt reads the file where it is mapped,
// and panics if a page is not what it should be; reading a page that the disk cannot read,
// or that is behind the end of the file, is a fault. After the first of these every call
// fails: nothing is known of the pages that were not read.
type file struct {
	db     *bbolt.DB
	path   string
	damage atomic.Pointer[error]
	stuck  atomic.Bool // bbolt's lock of writers is held for good
}

// openFile opens a file, or creates it.
func openFile(path string, options bbolt.Options) (f *file, err error) {
	f = &file{path: path}
	var opened *os.File
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		opened, err = os.OpenFile(name, flag, mode)
		return opened, err
	}
	err = f.guard(func() (err error) {
		f.db, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	if f.failed() != nil {
		unlock(opened)
		_ = opened.Close()
		return nil, err
	}
	switch {
	case isInvalid(err):
		return nil, f.damaged(err)
	case err != nil:
		return nil, err
	}
	if err := f.view(func(t *transaction) error {
		size, err := f.size()
		if err == nil && size < t.tx.Size() { // reading behind its end is a fault
			return f.damaged(fmt.Errorf("it is cut off: it has %d bytes of %d", size, t.tx.Size()))
		}
		return err
	}); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// isInvalid reports whether bbolt could read a file but not open it: it is not one of its own, or
// cut off.
func isInvalid(err error) bool {
	var system syscall.Errno
	return err != nil && !errors.Is(err, bbolterrors.ErrTimeout) && !errors.As(err, &system)
}

// size returns the length of the file in bytes.
func (f *file) size() (int64, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return 0, unavailable(err)
	}
	return info.Size(), nil
}

// guard calls do. It returns damage that do meets, and lets other panics pass.
func (f *file) guard(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			if !isDamage(cause) {
				panic(cause)
			}
			err = f.damaged(cause)
		}
	}()
	return do()
}

// isFound reports whether a panic is that of a read that found damage.
func isFound(cause any) bool {
	err, ok := cause.(error)
	return ok && (errors.Is(err, errOutOfOrder) || errors.Is(err, errCount) || errors.Is(err, errChecksum))
}

// isDamage reports whether a panic comes from reading the file: it is a fault at an
// address, or bbolt itself panicked. It is called by the deferred function that recovered.
func isDamage(cause any) bool {
	if _, ok := cause.(interface{ Addr() uintptr }); ok || isFound(cause) {
		return true
	}
	var callers [32]uintptr
	const skip = 3 // runtime.Callers, isDamage, the deferred function
	frames := runtime.CallersFrames(callers[:runtime.Callers(skip, callers[:])])
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		if !strings.HasPrefix(frame.Function, "runtime.") {
			return strings.HasPrefix(frame.Function, "go.etcd.io/bbolt")
		}
	}
	return false
}

// damaged keeps and returns the error of a damaged file.
func (f *file) damaged(cause any) error {
	err := fmt.Errorf("%w: %s is damaged: restore a backup (docs/operations.md#restore): %v", store.ErrUnavailable,
		f.path, cause)
	f.damage.CompareAndSwap(nil, &err)
	return err
}

// failed returns the error of the damage that was found, or nil.
func (f *file) failed() error {
	if err := f.damage.Load(); err != nil {
		return *err
	}
	return nil
}

// view reads from the file.
func (f *file) view(read func(*transaction) error) error {
	if err := f.failed(); err != nil {
		return err
	}
	err := f.guard(func() error { return f.db.View(func(tx *bbolt.Tx) error { return read(&transaction{tx: tx}) }) })
	if errors.Is(err, bbolterrors.ErrDatabaseNotOpen) {
		return store.ErrClosed
	}
	return err
}

// update writes to the file. If damage is found, nothing is written.
func (f *file) update(write func(*transaction) error) error {
	if err := f.failed(); err != nil {
		return err
	}
	var tx *bbolt.Tx
	err := f.guard(func() (err error) {
		tx, err = f.db.Begin(true)
		return err
	})
	if err != nil {
		f.stuck.Store(f.failed() != nil)
		return err
	}
	err = f.guard(func() error {
		t := &transaction{tx: tx}
		if err := write(t); err != nil {
			return err
		}
		if t.change != (counts{}) {
			total := t.counts()
			for i := range total {
				total[i] += t.change[i]
			}
			if err := t.setCounts(total); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
	if err != nil {
		f.rollBack(tx)
	}
	return err
}

func (f *file) rollBack(tx *bbolt.Tx) {
	ended := false
	_ = f.guard(func() error {
		_ = tx.Rollback() // fails only if bbolt has done so
		ended = true
		return nil
	})
	if !ended {
		f.stuck.Store(true)
	}
}

// close closes the file. If bbolt is stuck, the file stays open until the process ends.
func (f *file) close() error {
	if f.stuck.Load() {
		return nil
	}
	return f.db.Close()
}
