package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
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

const (
	activityID = "01999999-0000-7000-8000-000000000000"
	codeID     = "0fcd14f5-dae7-4331-82ca-ebaddd849534"
)

// Kinds of entries.
var (
	meters = "ledgers " + string(rune(store.KindMeter))
	codes  = "ledgers " + string(rune(store.KindCode))
)

var claim = store.Claim{OrganizationID: "org", LeaseTTL: time.Minute}

// without makes a change that never refuses.
func without(change func(ledger otpledger.Ledger) error) changeFunc {
	return func(ledger otpledger.Ledger) (refusal, err error) { return nil, change(ledger) }
}

// filled returns the path of a file with an activity, a code and a meter.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	begun, err := s.Begin(t.Context(), claim, nil)
	testenv.Must(t, err)
	activity := store.Activity{ID: activityID, SubmittedBy: "credential", Data: []byte("the record"), KeepUntil: time.Now().Add(time.Hour)}
	later := time.Now().Add(time.Hour)
	write := without(func(ledger otpledger.Ledger) error {
		_, err := ledger.Meters(otpledger.MeterKey{})
		meter := otpledger.Meter{Live: []otpledger.LiveCode{{ID: codeID, ExpiresAt: later.UnixMilli()}}}
		return errors.Join(
			err, ledger.Insert(otpledger.Code{ID: codeID, State: otpledger.StateLive, ExpiresAt: later}),
			ledger.SetMeter(otpledger.MeterKey{}, meter))
	})
	testenv.Must(t, s.Complete(t.Context(), *begun.Lease, activity, write))
	testenv.Must(t, s.Close())
	return path
}

// sealed returns a value as the file has it, with its checksum.
func sealed(bucket string, key, value []byte) []byte {
	sum := crc32.Checksum(slices.Concat([]byte(bucket), key, value), crc32.MakeTable(crc32.Castagnoli))
	return append(binary.BigEndian.AppendUint32([]byte{0xC5}, sum), value...)
}

// damage changes every value of a bucket, and its checksum; of the ledgers, those of a kind.
func damage(t *testing.T, path, bucket string, change func(value []byte) []byte) {
	t.Helper()
	file, err := bbolt.Open(path, 0o600, nil)
	testenv.Must(t, err)
	defer file.Close()
	bucket, kind, _ := strings.Cut(bucket, " ")
	count := 0
	if err := file.Update(func(tx *bbolt.Tx) error {
		changed := map[string][]byte{}
		_ = tx.Bucket([]byte(bucket)).ForEach(func(key, value []byte) error {
			if strings.HasPrefix(string(key), inOrg(kind)) || kind == "" {
				if bucket == "meta" {
					if string(key) == "version" {
						changed[string(key)] = change(slices.Clone(value))
					}
				} else {
					changed[string(key)] = sealed(bucket, key, change(slices.Clone(value[5:])))
				}
			}
			return nil
		})
		count = len(changed)
		var errs []error
		for key, value := range changed {
			errs = append(errs, tx.Bucket([]byte(bucket)).Put([]byte(key), value))
		}
		return errors.Join(errs...)
	}); err != nil || count != 1 {
		t.Fatalf("%d values in %s, %v", count, bucket, err)
	}
}

// TestDamagedActivity: a record that cannot be read is never taken for one that
// is not there: the work is not done again.
func TestDamagedActivity(t *testing.T) {
	const submittedBy = 1 + 8 + 32 + 8 + 8 + 1 // offset of its length
	for name, test := range map[string]struct {
		change  func(value []byte) []byte
		problem string
	}{
		"another version":         {func(value []byte) []byte { value[0] = 1; return value }, "the record has version 1; this program reads 3"},
		"cut off":                 {func(value []byte) []byte { return value[:submittedBy-1] }, "its head is not whole"},
		"a length too long":       {func(value []byte) []byte { value[submittedBy] = 0x7f; return value }, "its lengths do not fit"},
		"neither waiting nor not": {func(value []byte) []byte { value[submittedBy-1] = 2; return value }, "its head is not whole"},
		"a length cut off":        {func(value []byte) []byte { return append(value[:submittedBy], 0x80) }, "its lengths do not fit"},
		"a length of 10 ff …":     {func(value []byte) []byte { return append(value[:submittedBy], []byte(strings.Repeat("\xff", 11))...) }, "its lengths do not fit"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filled(t)
			damage(t, path, "activities", test.change)
			s := open(t, path)
			if _, err := s.Get(t.Context(), "org", activityID); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), test.problem) {
				t.Errorf("got with %v, want ErrUnavailable: %s", err, test.problem)
			}
			begun, err := s.Begin(t.Context(), claim, nil)
			if !errors.Is(err, store.ErrUnavailable) || begun.Lease != nil || begun.Recorded != nil {
				t.Errorf("begun with %+v, %v, want ErrUnavailable", begun, err)
			}
		})
	}
}

// TestDamagedCodes: a code or a meter that cannot be read stops the change.
func TestDamagedCodes(t *testing.T) {
	cut := func(value []byte) []byte { return value[:len(value)-1] }
	retyped := func(value []byte) []byte {
		return bytes.Replace(value, []byte(`"tried":null`), []byte(`"tried":true`), 1)
	}
	asked := func(ask func(ledger otpledger.Ledger) error) func(t *testing.T, bucket string) {
		return func(t *testing.T, bucket string) {
			path := filled(t)
			testenv.Must(t, open(t, path).Change(t.Context(), "org", without(ask)))
			damages := []func(value []byte) []byte{cut}
			if bucket == codes {
				damages = append(damages, retyped)
			}
			for _, change := range damages {
				path := filled(t)
				damage(t, path, bucket, change)
				if err := open(t, path).Change(t.Context(), "org", without(ask)); !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("%v, want ErrUnavailable", err)
				}
			}
		}
	}
	asked(func(ledger otpledger.Ledger) error { _, err := ledger.Meters(otpledger.MeterKey{}); return err })(t, meters)
	asked(func(ledger otpledger.Ledger) error { _, err := ledger.Code(codeID); return err })(t, codes)
	asked(func(ledger otpledger.Ledger) error {
		_, _, err := ledger.Try(codeID, store.Fingerprint{}, 3, time.Now())
		return err
	})(t, codes)
	asked(func(ledger otpledger.Ledger) error {
		_, err := ledger.Move(codeID, otpledger.StateLive, otpledger.StateDead)
		return err
	})(t, codes)
}

// TestFileOfAnotherVersion is not opened, nor changed, whether it is older or
// newer.
func TestFileOfAnotherVersion(t *testing.T) {
	for _, version := range []byte{1, 4, 5, 7} {
		path := filled(t)
		damage(t, path, "meta", func([]byte) []byte { return []byte{version} })
		want := fmt.Sprintf("layout version %02x; this program knows 6: use the program that wrote it", version)
		if s, err := bolt.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("opened with %v, %v", s, err)
		}
		damage(t, path, "meta", func(now []byte) []byte {
			if now[0] != version {
				t.Errorf("the version was changed to %x", now)
			}
			return now
		})
	}
}
