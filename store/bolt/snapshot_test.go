package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/bolt"
)

// TestSnapshotIsOneMoment: what was answered before is in it, what is answered
// while it is copied is not, and is not held up.
func TestSnapshotIsOneMoment(t *testing.T) {
	s, err := bolt.Open(filepath.Join(t.TempDir(), "state.db"))
	testenv.Must(t, err)
	defer s.Close()
	complete := func(n byte) {
		t.Helper()
		now := time.Now()
		claim := store.Claim{OrganizationID: "o", Fingerprint: store.Fingerprint{n}, LeaseTTL: time.Minute, Now: now}
		begun, err := s.Begin(t.Context(), claim, nil)
		testenv.Must(t, err)
		testenv.Must(t, s.Complete(t.Context(), *begun.Lease, store.Activity{ID: fmt.Sprint(n), OrganizationID: "o", Fingerprint: claim.Fingerprint, Data: []byte{n}}, nil))
	}
	complete(1)
	var copied bytes.Buffer
	err = s.Snapshot(t.Context(), func(size int64, from io.WriterTo) error {
		complete(2)
		n, err := from.WriteTo(&copied)
		if n != size {
			t.Errorf("%d bytes, of a size of %d", n, size)
		}
		return err
	})
	testenv.Must(t, err)
	path := filepath.Join(t.TempDir(), "copy.db")
	testenv.Write(t, path, copied.Bytes())
	restored, err := bolt.Open(path)
	testenv.Must(t, err)
	defer restored.Close()
	if _, err := restored.Get(t.Context(), "o", "1"); err != nil {
		t.Error(err)
	}
	if _, err := restored.Get(t.Context(), "o", "2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what came later is in it: %v", err)
	}
	testenv.Must(t, s.Close())
	if err := s.Snapshot(context.Background(), nil); !errors.Is(err, store.ErrClosed) {
		t.Error(err)
	}
}
