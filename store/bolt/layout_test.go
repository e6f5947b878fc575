package bolt_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// layout4 writes the file of testdata, which version 4 of the layout wrote: twelve activities
// "old 00" to "old 11" of two types, of which every fourth waited, each with an entry of the
// ledger and, unless it still waits, a leaf.
func layout4(t *testing.T) (path string) {
	t.Helper()
	packed, err := os.ReadFile("testdata/layout4.db.gz")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func oldName(n int) string { return fmt.Sprintf("old %02d", n) }

// oldClaim is the claim of a body of before, which names a time: version 4 did not keep it.
func oldClaim(name string) store.Claim {
	claim := claimOf(name)
	claim.At = 1_795_000_000_000
	return claim
}

// TestLayout4 opens a file of version 4: all of it is found, by id, by body, by fingerprint,
// in lists and in the log. What waits is carried out, and what is new goes elsewhere: the
// bucket of before stays as it is.
func TestLayout4(t *testing.T) {
	path := layout4(t)
	before := entriesOf(t, path, "fingerprints")
	for range 2 {
		s := open(t, path)
		checkOld(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, path)
	waiting, err := s.Find(t.Context(), "org", fingerprint(oldName(1)))
	if err != nil {
		t.Fatal(err)
	}
	waiting.Status, waiting.At = "STILL", oldClaim("").At
	if err := s.Replace(t.Context(), waiting, time.Now(), nil); err != nil {
		t.Fatal(err)
	}
	claim := oldClaim(oldName(1))
	claim.Revision = waiting.Revision + 1
	begun, err := s.Begin(t.Context(), claim, nil)
	if err != nil || begun.Lease == nil {
		t.Fatalf("%+v, %v: want the lease on what waits", begun, err)
	}
	done := activityOf(oldName(1))
	done.Type, done.Status, done.Leaf = "TYPE_1", "DONE", []byte("leaf of "+oldName(1))
	if err := s.Complete(t.Context(), *begun.Lease, done, nil); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := completeOne(t.Context(), s, fmt.Sprint("new ", n)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{oldName(0), oldName(1)} {
		found, err := store.Recorded(t.Context(), s, oldClaim(name))
		if err != nil || found == nil || found.ID != name || found.Waiting {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	listed, err := s.List(t.Context(), "org", store.Filter{Statuses: []string{"STILL", "WAITS"}, Limit: 10})
	if err != nil || len(listed) != 1 || listed[0].ID != oldName(9) {
		t.Errorf("waiting by status: %+v, %v", listed, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if after := entriesOf(t, path, "fingerprints"); !slices.Equal(before, after) || len(after) != 12 {
		t.Errorf("the bucket of version 4 has %d entries, had %d: it is never written", len(after), len(before))
	}
	if requests := entriesOf(t, path, "requests"); len(requests) != 3 {
		t.Errorf("%d new requests", len(requests))
	}
}

// checkOld reads everything that is in the file of testdata.
func checkOld(t *testing.T, s *bolt.Store) {
	t.Helper()
	byType := map[string]int{}
	for n := range 12 {
		name := oldName(n)
		found, err := store.Recorded(t.Context(), s, oldClaim(name))
		if err != nil || found == nil || found.ID != name || string(found.Data) != "record of "+name {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
		got, err := s.Get(t.Context(), "org", name)
		if err != nil || got.Fingerprint != fingerprint(name) || got.SubmittedBy != "key" || got.User != "user" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		byType[got.Type]++
		if _, err := s.Find(t.Context(), "org", fingerprint(name)); (n%4 == 1) != (err == nil) || err != nil && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s is found with %v: only those that waited are", name, err)
		}
		if _, err := s.LogIndex(t.Context(), "org", name); (n == 1 || n == 9) != errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: leaf %v", name, err)
		}
		if err := s.Change(t.Context(), "org", store.ChangeFunc(func(l store.Ledger) (refusal, err error) {
			entry, err := l.Read(store.Key{Kind: store.KindMeter, ID: fingerprint(name)})
			if string(entry.Value) != "entry of "+name {
				t.Errorf("%s: entry %q", name, entry.Value)
			}
			return nil, err
		})); err != nil {
			t.Error(err)
		}
	}
	for kind, want := range byType {
		listed, err := s.List(t.Context(), "org", store.Filter{Types: []string{kind}, Limit: 100})
		if err != nil || len(listed) != want || want == 0 {
			t.Errorf("%s: %d listed, want %d: %v", kind, len(listed), want, err)
		}
	}
	if rows, err := s.LogRows(t.Context(), "org", []int64{0, 9}); err != nil || string(rows[0].Leaf) != "leaf of old 00" {
		t.Errorf("%q, %v", rows, err)
	}
	if waiting, err := s.Waiting(t.Context()); err != nil || len(waiting) != 2 {
		t.Errorf("%d wait, %v", len(waiting), err)
	}
}

// entriesOf lists the entries of a bucket.
func entriesOf(t *testing.T, path, bucket string) (entries []string) {
	t.Helper()
	inFile(t, path, func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(bucket)).ForEach(func(key, value []byte) error {
			entries = append(entries, fmt.Sprintf("%x=%x", key, value))
			return nil
		})
	})
	return entries
}

func inFile(t *testing.T, path string, do func(tx *bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(do), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// wideLayout4 adds activities to a file of version 4, as that version wrote them.
func wideLayout4(t *testing.T, count int) (path string) {
	t.Helper()
	path = layout4(t)
	inFile(t, path, func(tx *bbolt.Tx) error {
		for n := range count {
			name := fmt.Sprintf("wide %05d", n)
			sum := fingerprint(name)
			value := slices.Concat([]byte{2}, sum[:], binary.BigEndian.AppendUint64(nil, 1), binary.BigEndian.AppendUint64(nil, 1), []byte{0, 0, 0})
			value = append(append(value, "\x04WIDE\x04DONErecord of "...), name...)
			if err := errors.Join(
				tx.Bucket([]byte("activities")).Put([]byte(inOrg(name)), value),
				tx.Bucket([]byte("fingerprints")).Put([]byte(inOrg(string(sum[:]))), []byte(name))); err != nil {
				return err
			}
		}
		return nil
	})
	return path
}

// stepsVariable makes this binary die after so many steps of bringing a file up to date.
const stepsVariable = "COUNTERSIGN_TEST_STEPS"

func dieAfter(steps string) {
	left, err := strconv.Atoi(steps)
	if err != nil {
		panic(err)
	}
	bolt.SetListingStep(100, func() {
		if left--; left == 0 {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {}
		}
	})
}

// TestLayout4Killed kills a process after each step of bringing a file up to date, and while
// it works on afterwards. Nothing is lost, and nothing is listed twice.
func TestLayout4Killed(t *testing.T) {
	const wide = 1000
	path := wideLayout4(t, wide)
	for steps := 1; steps <= 3; steps++ {
		command := exec.CommandContext(t.Context(), os.Args[0])
		command.Env = append(os.Environ(), victimVariable+"="+path, stepsVariable+"="+strconv.Itoa(steps))
		if out, err := command.CombinedOutput(); err == nil || len(out) > 0 {
			t.Fatalf("it ended with %v and said %q", err, out)
		}
	}
	completed := killAfterSome(t, path)
	s := open(t, path)
	checkOld(t, s)
	for n := range wide {
		name := fmt.Sprintf("wide %05d", n)
		if found, err := store.Recorded(t.Context(), s, oldClaim(name)); err != nil || found == nil || found.ID != name {
			t.Fatalf("%s: %+v, %v", name, found, err)
		}
	}
	for _, name := range completed {
		if found, err := store.Recorded(t.Context(), s, claimOf(name)); err != nil || found == nil {
			t.Fatalf("%s: %+v, %v", name, found, err)
		}
	}
	listed, err := s.List(t.Context(), "org", store.Filter{Types: []string{"WIDE"}, Limit: store.MaxList})
	if err != nil || len(listed) != wide {
		t.Errorf("%d listed, %v", len(listed), err)
	}
	old, err := s.List(t.Context(), "org", store.Filter{Types: []string{"TYPE_0", "TYPE_1"}, Limit: store.MaxList})
	if err != nil || len(old) != 12 {
		t.Errorf("%d of before listed, %v", len(old), err)
	}
}

// TestLayout4Damaged does not open a file of version 4 that lacks a bucket, or one that has
// the buckets of a later version.
func TestLayout4Damaged(t *testing.T) {
	for name, change := range map[string]func(tx *bbolt.Tx) error{
		"half of the log": func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("log leaves")) },
		"no activities":   func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("activities")) },
		"a later bucket": func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("requests"))
			return err
		},
	} {
		path := layout4(t)
		inFile(t, path, change)
		if _, err := bolt.Open(path); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("%s: opened with %v", name, err)
		}
	}
	path := layout4(t)
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	inFile(t, path, func(tx *bbolt.Tx) error { return tx.Bucket([]byte("meta")).Put([]byte("version"), []byte{4}) })
	if _, err := bolt.Open(path); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("the version set back: opened with %v", err)
	}
}
