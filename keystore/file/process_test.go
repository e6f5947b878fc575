package file_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
)

const writerVariable = "FILE_KEYSTORE_WRITER"

// TestMain turns the test program into a writer if a test starts it as one: it adds keys
// endlessly and prints each acknowledged one.
func TestMain(m *testing.M) {
	dir := os.Getenv(writerVariable)
	if dir == "" {
		os.Exit(m.Run())
	}
	store, err := file.Open(context.Background(), dir, passphrase, fast)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	from, _ := strconv.Atoi(os.Getenv(writerVariable + "_FROM"))
	for ; ; from += batch {
		infos, errs := store.AddBatch(context.Background(), "org", secp256k1Keys(from, from+batch))
		for i, info := range infos {
			fmt.Println("added", info.ID, info.PublicKey, errs[i])
		}
	}
}

// TestWriterKilled kills a writer at random instants. The keystore must open with every
// acknowledged key.
func TestWriterKilled(t *testing.T) {
	testenv.Slow(t)
	dir := filepath.Join(t.TempDir(), "keys")
	created, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	testenv.Must(t, created.Close())
	acknowledged := map[string]string{}
	for round := range 12 {
		killWriter(t, dir, round*100_000, acknowledged)
		store, err := file.Open(t.Context(), dir, passphrase, fast)
		if err != nil {
			t.Fatalf("after killing writer %d: %v", round, err)
		}
		for id, public := range acknowledged {
			key, err := store.Find(t.Context(), "org", keystore.ByID(id))
			if err != nil || key.PublicKey().String() != public {
				t.Fatalf("after killing writer %d: acknowledged key %s: %v", round, id, err)
			}
		}
		testenv.Must(t, store.Close())
		if left, _ := filepath.Glob(filepath.Join(dir, "keys", ".new-*")); len(left) > 0 {
			t.Errorf("not swept: %v", left)
		}
	}
	t.Logf("%d keys acknowledged", len(acknowledged))
}

// batch is the number of keys that a writer adds at a time.
const batch = 16

// killWriter starts a writer, kills it at some instant after its first batch,
// and collects what it acknowledged.
func killWriter(t *testing.T, dir string, from int, acknowledged map[string]string) {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), writerVariable+"="+dir, fmt.Sprintf("%s_FROM=%d", writerVariable, from))
	output, err := command.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, command.Start())
	lines := bufio.NewScanner(output)
	added := 0
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) != 4 || fields[0] != "added" || fields[3] != "<nil>" {
			continue // truncated by the kill, or not a key
		}
		acknowledged[fields[1]] = fields[2]
		if added++; added == batch {
			time.AfterFunc(rand.N(60*time.Millisecond), func() { _ = command.Process.Kill() })
		}
	}
	if err := command.Wait(); err == nil || added < batch {
		t.Fatalf("the writer exited by itself: %v", err)
	}
}

// TestTwoWriters adds keys from two Stores at once, some of them equal.
func TestTwoWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	created, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	testenv.Must(t, created.Close())
	one, two := reopen(t, dir), reopen(t, dir)
	done := make(chan []error)
	add := func(store *file.Store, from int) {
		var all []error
		for i := from; i < from+20; i += 5 {
			_, errs := store.AddBatch(t.Context(), "org", secp256k1Keys(i, i+5))
			all = append(all, errs...)
		}
		done <- all
	}
	go add(one, 0)
	go add(two, 10)
	exist := 0
	for _, err := range append(<-done, <-done...) {
		if errors.Is(err, keystore.ErrKeyExists) {
			exist++
			continue
		}
		testenv.Must(t, err)
	}
	if exist != 10 {
		t.Errorf("%d keys existed already, want the 10 that both add", exist)
	}
	for _, store := range []*file.Store{one, two, reopen(t, dir)} {
		if listed := ids(t, store, "org"); len(listed) != 30 {
			t.Errorf("%d keys, want 30", len(listed))
		}
	}
}

// TestKeyOfAnotherProcess finds keys that another Store has added, by look-up and by listing,
// at once and after the directory has settled.
func TestKeyOfAnotherProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	writer, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	defer writer.Close()
	reader := reopen(t, dir)
	for round := range 3 {
		if round == 2 {
			testenv.Must(t, settle(dir))
		}
		if _, err := reader.Find(t.Context(), "org", keystore.ByID(stranger)); !errors.Is(err, keystore.ErrKeyNotFound) {
			t.Fatal(err)
		}
		if settled := reader.Settled(); settled != (round == 2) {
			t.Errorf("round %d: settled: %v, want it an hour after the last change", round, settled)
		}
		for i := range 10 {
			info, err := writer.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveSecp256k1, Secret: secret(100*round + i)})
			testenv.Must(t, err)
			if _, err := reader.Find(t.Context(), "org", keystore.ByKeccak(info.PublicKey.KeccakAddress())); err != nil {
				t.Fatalf("round %d, key %d: %v", round, i, err)
			}
		}
		info, err := writer.Generate(t.Context(), "org", "", keystore.CurveEd25519)
		testenv.Must(t, err)
		if !slices.Contains(ids(t, reader, "org"), info.ID) {
			t.Errorf("round %d: not listed", round)
		}
	}
}

// TestBadFileWhileOpen: a bad file that appears does no harm, is reported, and is read again
// once it is repaired.
func TestBadFileWhileOpen(t *testing.T) {
	x := newAttacked(t)
	content := x.read(t, x.a.ID)
	testenv.Must(t, os.Remove(x.path(x.a.ID)))
	store := reopen(t, x.dir)
	x.write(t, x.a.ID, content[:100])
	if _, err := store.Find(t.Context(), "org", keystore.ByID(x.a.ID)); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("the key of a bad file: %v", err)
	}
	if _, err := store.Find(t.Context(), "org", keystore.ByID(x.b.ID)); err != nil {
		t.Errorf("another key: %v", err)
	}
	if bad := store.Skipped(); len(bad) != 1 || pathOf(bad[0]) != x.path(x.a.ID) {
		t.Errorf("skipped: %v", bad)
	}
	if _, err := store.Add(t.Context(), "org", keystore.NewKey{ID: x.a.ID, Curve: keystore.CurveEd25519, Secret: secret(1)}); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("added over a bad file: %v", err)
	}
	x.write(t, x.a.ID, content)
	if _, err := store.Find(t.Context(), "org", keystore.ByID(x.a.ID)); err != nil {
		t.Errorf("the key of the repaired file: %v", err)
	}
	if bad := store.Skipped(); len(bad) != 0 {
		t.Errorf("skipped: %v", bad)
	}
}

func TestLocked(t *testing.T) {
	x := newAttacked(t)
	impatient := fast
	impatient.LockWait = time.Millisecond
	store, err := file.Open(t.Context(), x.dir, passphrase, impatient)
	testenv.Must(t, err)
	defer store.Close()
	unlock := file.Lock(t, x.dir)
	_, err = store.Generate(t.Context(), "org", "", keystore.CurveEd25519)
	if !errors.Is(err, file.ErrLocked) || !strings.Contains(err.Error(), x.dir) {
		t.Errorf("added with %v, want ErrLocked", err)
	}
	if other, err := file.Open(t.Context(), x.dir, passphrase, impatient); err != nil {
		t.Errorf("opening while another writes: %v", err)
	} else {
		testenv.Must(t, other.Close())
	}
	unlock()
	if _, err := store.Generate(t.Context(), "org", "", keystore.CurveEd25519); err != nil {
		t.Errorf("after the lock was released: %v", err)
	}
}

// TestLockProgress: a writer that shows progress is waited for beyond LockWait.
func TestLockProgress(t *testing.T) {
	x := newAttacked(t)
	synctest.Test(t, func(t *testing.T) {
		options := fast
		options.LockWait = file.DefaultLockWait
		store, err := file.Open(t.Context(), x.dir, passphrase, options)
		testenv.Must(t, err)
		defer store.Close()
		unlock := file.Lock(t, x.dir)
		begun := time.Now()
		const busy = 10 * file.DefaultLockWait
		go func() {
			defer unlock()
			for time.Since(begun) < busy {
				time.Sleep(file.DefaultLockWait / 2)
				now := time.Now()
				_ = os.Chtimes(filepath.Join(x.dir, "lock"), now, now)
			}
		}()
		if _, err := store.Generate(t.Context(), "org", "", keystore.CurveEd25519); err != nil {
			t.Error(err)
		}
		if waited := time.Since(begun); waited < busy {
			t.Errorf("written after %v, while it was locked", waited)
		}
	})
}

// TestWritersListOnce: a writer that adds keys one after the other lists the directory only
// for the first; otherwise adding n keys would cost n². The keys of another writer are
// found nevertheless: none is added twice.
func TestWritersListOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	created, err := file.Create(dir, passphrase, fast)
	testenv.Must(t, err)
	testenv.Must(t, created.Close())
	disk := &file.FaultyDisk{}
	store, err := file.OpenOn(t.Context(), disk, dir, passphrase, fast)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	var listed atomic.Int32
	disk.Arm(func(operation string) file.Fault {
		if strings.HasPrefix(operation, "readdir keys ") {
			listed.Add(1)
		}
		return file.Fault{}
	})
	add := func(to *file.Store, number int) error {
		_, err := to.Add(t.Context(), "org", keystore.NewKey{Curve: keystore.CurveEd25519, Secret: secret(number)})
		return err
	}
	for number := range 20 {
		testenv.Must(t, add(store, number+1))
	}
	if times := listed.Load(); times == 0 || times > 2 {
		t.Errorf("the directory was listed %d times for 20 keys, want once before the turn and once in it", times)
	}
	other := reopen(t, dir)
	for number := 50; number < 90; number += 2 {
		testenv.Must(t, add(other, number))
		testenv.Must(t, add(store, number+1))
		for name, err := range map[string]error{"the first": add(store, number), "the other": add(other, number+1)} {
			if !errors.Is(err, keystore.ErrKeyExists) {
				t.Fatalf("%s adds a key a second time: %v", name, err)
			}
		}
	}
	if many := len(ids(t, reopen(t, dir), "org")); many != 60 {
		t.Errorf("%d keys, want 60", many)
	}
}
