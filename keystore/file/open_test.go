package file_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/internal/software"
)

func TestWrongPassphrase(t *testing.T) {
	x := newAttacked(t)
	for _, wrong := range []string{"Correct horse battery staple", "correct horse battery staple\n", "x"} {
		_, err := file.Open(t.Context(), x.dir, []byte(wrong), fast)
		if !errors.Is(err, file.ErrPassphrase) || !strings.Contains(err.Error(), "identity.age") {
			t.Errorf("opened with %v, want ErrPassphrase", err)
		}
		if err != nil && strings.Contains(err.Error(), wrong) && wrong != "x" {
			t.Errorf("the error quotes the passphrase: %v", err)
		}
	}
	if _, err := file.Open(t.Context(), x.dir, nil, fast); err == nil || !strings.Contains(err.Error(), "passphrase can't be empty") {
		t.Errorf("opened without passphrase: %v", err)
	}
	if _, err := file.Create(filepath.Join(t.TempDir(), "new"), nil, fast); err == nil {
		t.Error("created without passphrase")
	}
}

func TestOpenMissing(t *testing.T) {
	empty := t.TempDir()
	testenv.Must(t, os.Chmod(empty, 0o700))
	for _, dir := range []string{empty, filepath.Join(empty, "missing")} {
		if _, err := file.Open(t.Context(), dir, passphrase, fast); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: opened with %v, want fs.ErrNotExist", dir, err)
		}
	}
	plain := filepath.Join(empty, "plain")
	testenv.Write(t, plain, nil)
	if _, err := file.Open(t.Context(), plain, passphrase, fast); err == nil {
		t.Error("opened a file")
	}
}

func TestCreateExisting(t *testing.T) {
	x := newAttacked(t)
	if _, err := file.Create(x.dir, passphrase, fast); !errors.Is(err, fs.ErrExist) {
		t.Errorf("created with %v, want fs.ErrExist", err)
	}
	testenv.Must(t, os.Remove(filepath.Join(x.dir, "identity.age")))
	if _, err := file.Create(x.dir, passphrase, fast); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "backup") {
		t.Errorf("created over old key files with %v, want fs.ErrExist", err)
	}
}

// TestCreateAfterCrash: the remains of a killed Create do not prevent another one.
func TestCreateAfterCrash(t *testing.T) {
	dir := t.TempDir()
	testenv.Must(t, os.Chmod(dir, 0o700), os.Mkdir(filepath.Join(dir, "keys"), 0o700),
		os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600), os.WriteFile(filepath.Join(dir, ".new-X"), nil, 0o600))
	store, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	testenv.Must(t, store.Close())
	reopen(t, dir)
	if _, err := os.Stat(filepath.Join(dir, ".new-X")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not swept: %v", err)
	}
}

func TestCreatePermissions(t *testing.T) {
	dir := t.TempDir()
	testenv.Must(t, os.Chmod(dir, 0o755))
	if _, err := file.Create(dir, passphrase, fast); !errors.Is(err, file.ErrPermissions) {
		t.Errorf("created with %v, want ErrPermissions", err)
	}
}

func TestOptions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	for _, options := range []file.Options{
		{WorkFactor: 31}, {WorkFactor: -1}, {WorkFactor: 4, MaxWorkFactor: 31}, {WorkFactor: 4, MaxWorkFactor: -1},
	} {
		if _, err := file.Create(dir, passphrase, options); err == nil {
			t.Errorf("created with %+v", options)
		}
		if _, err := file.Open(t.Context(), dir, passphrase, options); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("opened with %+v: %v, want the option refused", options, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
}

func TestOpenCancelled(t *testing.T) {
	x := newAttacked(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := file.Open(ctx, x.dir, passphrase, fast); !errors.Is(err, context.Canceled) {
		t.Errorf("opened with %v, want context.Canceled", err)
	}
}

func TestChangePassphrase(t *testing.T) {
	x := newAttacked(t)
	testenv.Must(t, reopen(t, x.dir).ChangePassphrase([]byte("another")))
	if _, err := file.Open(t.Context(), x.dir, passphrase, fast); !errors.Is(err, file.ErrPassphrase) {
		t.Errorf("with the old one: %v, want ErrPassphrase", err)
	}
	store, err := file.Open(t.Context(), x.dir, []byte("another"), fast)
	testenv.Must(t, err)
	defer store.Close()
	if listed := ids(t, store, "org"); len(listed) != 2 {
		t.Errorf("%d keys, want 2", len(listed))
	}
}

// TestReadOnly opens a keystore without write permission.
func TestReadOnly(t *testing.T) {
	x := newAttacked(t)
	testenv.Must(t, os.Chmod(filepath.Join(x.dir, "keys"), 0o500), os.Chmod(filepath.Join(x.dir, "lock"), 0o400), os.Chmod(x.dir, 0o500))
	t.Cleanup(func() { testenv.Must(t, os.Chmod(x.dir, 0o700), os.Chmod(filepath.Join(x.dir, "keys"), 0o700)) })
	if listed := ids(t, reopen(t, x.dir), "org"); len(listed) != 2 {
		t.Errorf("%d keys, want 2", len(listed))
	}
}

// TestClosedStore makes the calls on a closed store that the contract suite does not cover.
func TestClosedStore(t *testing.T) {
	store := create(t)
	testenv.Must(t, store.Close(), store.Close())
	if _, err := store.Generate(t.Context(), "org", "", keystore.CurveEd25519); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("Generate: %v, want ErrClosed", err)
	}
}

// TestCreateImpossible: the error names the directory, and nothing is left behind.
func TestCreateImpossible(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	testenv.Write(t, plain, nil)
	for _, dir := range []string{plain, filepath.Join(plain, "below")} {
		if _, err := file.Create(dir, passphrase, fast); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("created with %v, want an error with %s", err, dir)
		}
	}
	dir := t.TempDir()
	testenv.Must(t, os.Chmod(dir, 0o700), os.WriteFile(filepath.Join(dir, "keys"), nil, 0o600))
	if _, err := file.Create(dir, passphrase, fast); err == nil || !strings.Contains(err.Error(), "keys") {
		t.Errorf("created over a file named keys with %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "identity.age")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an identity was left behind: %v", err)
	}
}

// TestCreateLocked: a Create that cannot get the lock leaves no partial keystore behind.
func TestCreateLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	testenv.Must(t, os.Mkdir(dir, 0o700))
	defer file.Lock(t, dir)()
	options := fast
	options.LockWait = time.Millisecond
	if _, err := file.Create(dir, passphrase, options); !errors.Is(err, file.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("created with %v, want ErrLocked for %s", err, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "lock" {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestChangePassphraseRefused: an empty passphrase, while another process writes, and after
// Close.
func TestChangePassphraseRefused(t *testing.T) {
	x := newAttacked(t)
	options := fast
	options.LockWait = time.Millisecond
	store, err := file.Open(t.Context(), x.dir, passphrase, options)
	testenv.Must(t, err)
	if err := store.ChangePassphrase(nil); err == nil || !strings.Contains(err.Error(), "change passphrase") {
		t.Errorf("changed to an empty one with %v", err)
	}
	unlock := file.Lock(t, x.dir)
	if err := store.ChangePassphrase([]byte("another")); !errors.Is(err, file.ErrLocked) {
		t.Errorf("changed with %v, want ErrLocked", err)
	}
	unlock()
	testenv.Must(t, store.Close())
	if err := store.ChangePassphrase([]byte("another")); !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("changed with %v, want ErrClosed", err)
	}
	reopen(t, x.dir)
}

// TestOnRead: opening reports its progress, in increasing order and to the end. Reading one
// added key reports nothing.
func TestOnRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	store, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	defer store.Close()
	const many = file.ProgressStep + 10
	keys := make([]keystore.NewKey, many)
	for i := range keys {
		keys[i] = keystore.NewKey{Curve: keystore.CurveEd25519, Secret: make([]byte, keystore.SecretSize)}
		binary.BigEndian.PutUint64(keys[i].Secret, uint64(i)+1)
	}
	_, errs := store.AddBatch(t.Context(), "org", keys)
	for _, err := range errs {
		testenv.Must(t, err)
	}

	var calls [][2]int
	options := fast
	options.OnRead = func(read, total int) { calls = append(calls, [2]int{read, total}) }
	opened, err := file.Open(t.Context(), dir, passphrase, options)
	testenv.Must(t, err)
	defer opened.Close()
	if want := [][2]int{{file.ProgressStep, many}, {many, many}}; !slices.Equal(calls, want) {
		t.Errorf("reported %v, want %v", calls, want)
	}
	added, err := store.Generate(t.Context(), "org", "", keystore.CurveEd25519)
	testenv.Must(t, err)
	_, err = opened.Find(t.Context(), "org", keystore.ByID(added.ID))
	testenv.Must(t, err)
	if len(calls) != 2 {
		t.Errorf("reported one key: %v", calls)
	}
}

// TestOpenAllocations: opening allocates little per key, so that a keystore of 100,000 keys
// does not take a multiple of the memory that it keeps.
func TestOpenAllocations(t *testing.T) {
	const keys, limit = 64, 24 << 10
	dir := filepath.Join(t.TempDir(), "keys")
	store, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	opened := func() uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		store, err := file.Open(t.Context(), dir, passphrase, fast)
		runtime.ReadMemStats(&after)
		testenv.Must(t, err)
		testenv.Must(t, store.Close())
		return after.TotalAlloc - before.TotalAlloc
	}
	empty := opened()
	for range keys {
		_, err := store.Add(t.Context(), "org", software.Generate("", keystore.CurveSecp256k1))
		testenv.Must(t, err)
	}
	if each := (opened() - min(empty, opened())) / keys; each > limit {
		t.Errorf("opening allocates %d bytes per key, the limit is %d", each, limit)
	}
	testenv.Must(t, store.Close())
}
