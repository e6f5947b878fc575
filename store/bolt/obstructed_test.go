package bolt_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/countersign-dev/countersign/internal/otpledger"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// edit changes a file beneath the store.
func edit(t *testing.T, path string, change func(tx *bbolt.Tx) error) {
	t.Helper()
	file, err := bbolt.Open(path, 0o600, nil)
	testenv.Must(t, err)
	testenv.Must(t, errors.Join(file.Update(change), file.Close()))
}

// obstruct puts a bucket where a value stands, or would stand: bbolt refuses to
// write and to remove a value there.
func obstruct(bucket, key string) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		in := tx.Bucket([]byte(bucket))
		if err := in.Delete([]byte(key)); err != nil {
			return err
		}
		_, err := in.CreateBucket([]byte(key))
		return err
	}
}

// inOrg is the key of something of the organization "org".
func inOrg(rest string) string { return "\x03org" + rest }

func expiryOf(at time.Time, key string) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(at.UnixMilli()))) + key
}

// codeAt and meterAt are keys of entries of the organization "org".
func codeAt(id string) string {
	hash := sha256.Sum256([]byte(id))
	return inOrg(string(rune(store.KindCode)) + string(hash[:]))
}

func meterAt(key otpledger.MeterKey) string {
	return inOrg(string(rune(store.KindMeter)) + string(key[:]))
}

// TestObstructed has single values of a file that cannot be written: whatever
// needs them says so, does nothing by halves, and works when they can be.
func TestObstructed(t *testing.T) {
	later := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	code := otpledger.Code{ID: "10000000-0000-4000-8000-000000000000", State: otpledger.StateLive, ExpiresAt: later}
	meter, meterKey := otpledger.Meter{Live: []otpledger.LiveCode{{ID: code.ID, ExpiresAt: later.UnixMilli()}}}, otpledger.MeterKey{1}
	complete := func(t *testing.T, s *bolt.Store) error {
		begun, err := s.Begin(t.Context(), claimOf("new"), nil)
		if err != nil {
			return err
		}
		return s.Complete(t.Context(), *begun.Lease, activityOf("new"), without(func(ledger otpledger.Ledger) error { return ledger.Insert(code) }))
	}
	insert := func(t *testing.T, s *bolt.Store) error {
		return s.Change(t.Context(), "org", without(func(ledger otpledger.Ledger) error { return ledger.Insert(code) }))
	}
	count := func(t *testing.T, s *bolt.Store) error {
		return s.Change(t.Context(), "org", without(func(ledger otpledger.Ledger) error { return ledger.SetMeter(meterKey, meter) }))
	}
	sweep := func(t *testing.T, s *bolt.Store) error {
		_, err := s.Sweep(t.Context(), later.Add(time.Hour))
		return err
	}
	fingerprint, at := fingerprint("new"), claimOf("new").At
	for name, c := range map[string]struct {
		bucket, key string
		do          func(t *testing.T, s *bolt.Store) error
	}{
		"complete: activity": {"activities", inOrg("new"), complete},
		"complete: request":  {"requests", inOrg(string(binary.BigEndian.AppendUint64(nil, uint64(at))) + string(fingerprint[:])), complete},
		"complete: code":     {"ledgers", codeAt(code.ID), complete},
		"insert: code":       {"ledgers", codeAt(code.ID), insert},
		"insert: expiry":     {"expiry", expiryOf(code.KeepUntil(), codeAt(code.ID)), insert},
		"count: meter":       {"ledgers", meterAt(meterKey), count},
		"count: expiry":      {"expiry", expiryOf(meter.KeepUntil(), meterAt(meterKey)), count},
		"sweep: expiry":      {"expiry", expiryOf(later, meterAt(otpledger.MeterKey{})), sweep},
		"sweep: code":        {"ledgers", codeAt(codeID), sweep},
		"sweep: meter":       {"ledgers", meterAt(otpledger.MeterKey{}), sweep},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			s := open(t, path)
			testenv.Must(t, s.Edit(obstruct(c.bucket, c.key)))
			var before []string
			testenv.Must(t, s.Edit(listInto(&before)))
			if err := c.do(t, s); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%v, want ErrUnavailable", err)
			}
			testenv.Must(t, s.Close())
			if after := contentOf(t, path); !slices.Equal(after, before) {
				t.Errorf("done by halves: there is\n%q, and there was\n%q", after, before)
			}
			if _, err := bolt.Open(path); !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("opened with %v, want ErrUnavailable", err)
			}
			if err := c.do(t, open(t, filled(t))); err != nil {
				t.Errorf("with nothing in the way: %v", err)
			}
		})
	}
}

// contentOf lists all that is in a file.
func contentOf(t *testing.T, path string) (content []string) {
	t.Helper()
	edit(t, path, listInto(&content))
	return content
}

func listInto(content *[]string) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			return bucket.ForEach(func(key, value []byte) error {
				*content = append(*content, string(name)+" "+string(key)+" "+string(value))
				return nil
			})
		})
	}
}

// TestObstructedLayout: a file in which the buckets cannot be made is not
// opened, and is not kept open.
func TestObstructedLayout(t *testing.T) {
	refused := func(name, path string) {
		for range 2 {
			if _, err := bolt.Open(path); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: opened with %v, want ErrUnavailable and the file's name", name, err)
			}
		}
	}
	for _, bucket := range []string{"meta", "activities", "requests", "ledgers", "expiry"} {
		path := filled(t)
		bucketToValue(t, path, bucket)
		refused(bucket, path)
	}
	path := filled(t)
	edit(t, path, obstruct("meta", "version"))
	refused("version", path)
}

// bucketToValue makes a plain value of a bucket, which bbolt itself does not do:
// it takes the flag from its element of each leaf page.
//
//	page     id 8 ‖ flags 2 (leaf: 2) ‖ count 2 ‖ overflow 4 ‖ elements
//	element  flags 4 (bucket: 1) ‖ position of its key, from here, 4 ‖ key size 4 ‖ value size 4
func bucketToValue(t *testing.T, path, bucket string) {
	t.Helper()
	content := testenv.Read(t, path)
	changed := 0
	for page := range slices.Chunk(content, os.Getpagesize()) {
		if binary.NativeEndian.Uint16(page[8:]) != 2 {
			continue
		}
		for i := range int(binary.NativeEndian.Uint16(page[10:])) {
			element := page[16+16*i:]
			key := element[binary.NativeEndian.Uint32(element[4:]):][:binary.NativeEndian.Uint32(element[8:])]
			if string(key) == bucket && element[0] == 1 {
				element[0] = 0
				changed++
			}
		}
	}
	if err := os.WriteFile(path, content, 0o600); err != nil || changed == 0 {
		t.Fatalf("%d elements changed, %v", changed, err)
	}
}
