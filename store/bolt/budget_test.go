package bolt_test

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// budgetShare is how many activities share a commit in the budgets: as many as under load.
const budgetShare = 28

// recordMany records activities of 2 kB, the next in order, and returns the bytes of pages that
// each took.
func recordMany(t *testing.T, s *bolt.Store, from, count int) (each int64) {
	t.Helper()
	before := s.Allocated()
	start := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	for i := from; i < from+count; i += budgetShare {
		var together []store.Activity
		for n := i; n < i+budgetShare; n++ {
			at := start.Add(time.Duration(n) * time.Millisecond)
			together = append(together, store.Activity{
				OrganizationID: "org", ID: fmt.Sprintf("%032d", n), Fingerprint: sha256.Sum256(fmt.Append(nil, n)), At: at.UnixMilli(),
				SubmittedBy: "ci", Type: "SIGN", Status: "DONE", Data: make([]byte, 2000), KeepUntil: at.Add(time.Hour),
			})
		}
		testenv.Must(t, s.RecordTogether(together))
	}
	return (s.Allocated() - before) / int64(count)
}

// TestBytesOfActivity bounds the bytes of pages that an activity takes, and compares a file that
// has many with a small one: keys begin with times, so that new entries share pages.
func TestBytesOfActivity(t *testing.T) {
	const most = 6800
	const measured, filled = 100 * budgetShare, 1000 * budgetShare
	s := open(t, filepath.Join(t.TempDir(), "store"))
	s.WithoutSync()
	recordMany(t, s, 0, measured) // so that the trees have their height
	first := recordMany(t, s, measured, measured)
	recordMany(t, s, 2*measured, filled)
	last := recordMany(t, s, 2*measured+filled, measured)
	t.Logf("%d bytes an activity, and %d after %d activities", first, last, 2*measured+filled)
	if first > most || last > most {
		t.Errorf("an activity takes %d and %d bytes, at most %d are in the budget", first, last, most)
	}
	if last > first*21/20 {
		t.Errorf("an activity takes %d bytes in a small file and %d in one of %d activities", first, last, 2*measured+filled)
	}
}

// TestLookups bounds what Begin and Complete look up: buckets and entries, each a walk from the
// root of its tree.
func TestLookups(t *testing.T) {
	const mostOfBegin, mostOfComplete = 4, 18
	s := open(t, filepath.Join(t.TempDir(), "store"))
	recordMany(t, s, 0, 10*budgetShare)
	before := s.Cursors()
	begun, err := s.Begin(t.Context(), claimOf("new"), nil)
	testenv.Must(t, err)
	ofBegin := s.Cursors() - before
	activity := activityOf("new")
	testenv.Must(t, s.Complete(t.Context(), *begun.Lease, activity, nil))
	ofComplete := s.Cursors() - before - ofBegin
	t.Logf("%d look-ups in Begin, %d in Complete", ofBegin, ofComplete)
	if ofBegin == 0 || ofBegin > mostOfBegin || ofComplete == 0 || ofComplete > mostOfComplete {
		t.Errorf("%d look-ups in Begin and %d in Complete, at most %d and %d are in the budget", ofBegin, ofComplete, mostOfBegin, mostOfComplete)
	}
}
