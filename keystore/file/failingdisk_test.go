package file_test

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

// onDisk is a call that is repeated while the disk fails at each of its operations in turn.
type onDisk struct {
	name string

	// prepare prepares the directory, on a disk that does not fail yet, and returns the
	// call. The call returns nil only if it has done or found everything it should.
	prepare func(t *testing.T, x *trial) (call func() error)

	// harmless lists the operations that may fail without failing the call. One without a
	// number stands for all operations of that name.
	harmless []string

	wallet bool // the keystore has a wallet

	// inPart: the call may write some keys and not others, each as a whole.
	inPart bool

	endOfTurn []string // operations that record how a writer leaves the directory
}

func (call onDisk) isHarmless(operation string) bool {
	name, _, _ := strings.Cut(operation, " #")
	harmless := slices.Concat(call.harmless, call.endOfTurn, alwaysHarmless)
	return slices.Contains(harmless, operation) || slices.Contains(harmless, name)
}

// fault is a way to fail.
type fault struct {
	name  string
	err   syscall.Errno
	after bool // the operation is done, but reported as failed
	stays bool // all later operations fail too
}

// alwaysHarmless lists the operations on the time of the lock file, which serves waiting
// writers and the next one, and the closing of files that were only read, listed or locked.
var alwaysHarmless = []string{
	"chtimes lock", "stat lock", "lstat lock", "close lock", "close .", "close keys", "close identity.age",
	"close keys/first.age", "close keys/wallet.age", "close keys/other.age",
}

// changes matches the operations that change the disk, for which it matters whether they
// were done and whether later operations fail.
var changes = regexp.MustCompile(`^(mkdir|open .*\.new-|write|sync|close synced|rename|remove)`)

var faults = []fault{
	{name: "fails", err: syscall.EIO},
	{name: "succeeds but reports failure", err: syscall.EIO, after: true},
	{name: "fails, and all later ones", err: syscall.ENOSPC, stays: true},
}

// TestFailingDisk runs each call once on a healthy disk to record its operations, and then
// once for each operation with that operation failing. Every fault must be reported.
// Existing keys must survive. What was to be written must be there whole or not at all,
// without partial files. Once the disk works again, the call must succeed on the same
// Store.
func TestFailingDisk(t *testing.T) {
	testenv.Slow(t)
	without, with := newTemplate(t, false), newTemplate(t, true)
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			base := without
			if call.wallet {
				base = with
			}
			operations, before, after := call.onHealthyDisk(t, base)
			for i, operation := range operations {
				if i > 0 && strings.HasPrefix(operations[i-1], "lstat lock ") {
					call.endOfTurn = append(call.endOfTurn, operation)
				}
			}
			for _, operation := range operations {
				for _, kind := range faults {
					if kind != faults[0] && !changes.MatchString(operation) {
						continue
					}
					t.Run(operation+" "+kind.name, func(t *testing.T) {
						x := base.trial(t)
						x.makeFail(t, call, operation, kind)
						x.check(t, before, after)
					})
				}
			}
			for _, name := range call.harmless {
				if !slices.ContainsFunc(operations, func(operation string) bool { return strings.HasPrefix(operation+" ", name+" ") }) {
					t.Errorf("%s: no such operation", name)
				}
			}
		})
	}
}

// onHealthyDisk runs the call on a healthy disk and returns its operations, and the state
// before and after.
func (call onDisk) onHealthyDisk(t *testing.T, base *template) (operations []string, before, after []string) {
	t.Helper()
	x := base.trial(t)
	x.call, x.again = call, call.prepare(t, x)
	before = x.state(t)
	var mu sync.Mutex
	x.disk.Arm(func(operation string) file.Fault {
		mu.Lock()
		defer mu.Unlock()
		operations = append(operations, operation)
		return file.Fault{}
	})
	if x.err = x.again(); x.err != nil || len(operations) == 0 {
		t.Fatalf("on a healthy disk: %d operations, %v", len(operations), x.err)
	}
	x.disk.Arm(nil)
	return operations, before, x.state(t)
}

// makeFail runs the call while an operation fails.
func (x *trial) makeFail(t *testing.T, call onDisk, operation string, kind fault) {
	t.Helper()
	x.call, x.again = call, call.prepare(t, x)
	var mu sync.Mutex
	failed := false
	x.disk.Arm(func(next string) file.Fault {
		mu.Lock()
		defer mu.Unlock()
		if next == operation || failed && kind.stays {
			failed = true
			return file.Fault{Err: kind.err, After: kind.after}
		}
		return file.Fault{}
	})
	x.err = x.again()
	x.disk.Arm(nil)
	switch harmless := call.isHarmless(operation); {
	case !failed:
		t.Fatal("the operation was not repeated")
	case x.err == nil && !harmless:
		t.Error("the fault is not reported")
	case x.err != nil && harmless && !kind.stays:
		t.Errorf("not harmless: %v", x.err)
	case x.err != nil:
		x.checkError(t, kind)
	}
}

// checkError expects the error to name the cause and the directory, and no secret.
func (x *trial) checkError(t *testing.T, kind fault) {
	t.Helper()
	if !errors.Is(x.err, kind.err) && !errors.Is(x.err, syscall.EBADF) {
		t.Errorf("%v: the error does not wrap %v", x.err, kind.err)
	}
	text := x.err.Error()
	if !strings.Contains(text, x.dir) {
		t.Errorf("%v: the error does not name the directory", x.err)
	}
	secrets := []string{string(passphrase), string(newPassphrase), "junk", hex.EncodeToString(secret(newSecret))}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("%v: the error has a secret", x.err)
		}
	}
}

// check checks the state that the call has left, and repeats the call.
func (x *trial) check(t *testing.T, before, after []string) {
	t.Helper()
	now := x.state(t)
	isAfter := slices.Equal(now, after)
	isBetween := x.call.inPart && contains(now, before) && contains(after, now)
	switch {
	case x.err == nil && !isAfter:
		t.Errorf("the call succeeds and leaves\n\t%q, want\n\t%q", now, after)
	case !isAfter && !isBetween && !slices.Equal(now, before):
		t.Errorf("the call leaves\n\t%q, neither the state before,\n\t%q, nor the one after,\n\t%q", now, before, after)
	case !contains(now, x.acknowledged):
		t.Errorf("the call leaves\n\t%q, without some of the acknowledged\n\t%q", now, x.acknowledged)
	}
	err := x.again()
	exists := errors.Is(err, keystore.ErrKeyExists) || errors.Is(err, fs.ErrExist)
	if isDone := exists && (isAfter || isBetween); err != nil && !isDone {
		t.Errorf("once the disk works again: %v", err)
	}
	if x.store != nil {
		testenv.Must(t, x.store.Close())
	}
	if open := x.disk.Open(); open > 0 {
		t.Errorf("%d files stay open", open)
	}
	if !slices.Equal(before, after) {
		x.checkWritten(t, after)
	}
}

// checkWritten expects the state after, and no temporary files.
func (x *trial) checkWritten(t *testing.T, after []string) {
	t.Helper()
	if now := x.state(t); !slices.Equal(now, after) {
		t.Errorf("once the disk works again:\n\t%q, want\n\t%q", now, after)
	}
	for _, folder := range []string{".", "keys"} {
		if left, _ := filepath.Glob(filepath.Join(x.dir, folder, ".new-*")); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}

func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// TestCreateSyncsNames: a keystore survives a power cut only if the names of all directories
// on the way to it do.
func TestCreateSyncsNames(t *testing.T) {
	synced := func(below string) (count int) {
		disk := new(file.FaultyDisk)
		disk.Arm(func(operation string) file.Fault {
			if strings.HasPrefix(operation, "sync . ") {
				count++
			}
			return file.Fault{}
		})
		store, err := file.CreateOn(disk, filepath.Join(t.TempDir(), below), passphrase, fast)
		testenv.Must(t, err)
		testenv.Must(t, store.Close())
		return count
	}
	if one, three := synced("a"), synced("a/b/c"); three != one+2 {
		t.Errorf("%d directories synced for one new name, %d for three", one, three)
	}
}
