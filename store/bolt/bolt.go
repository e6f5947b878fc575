// Package bolt keeps activities and ledgers in one file of go.etcd.io/bbolt, for one
// process on one machine. Anything it has confirmed survives kill -9 and the loss of
// power. It keeps every activity forever.
//
// Changes that arrive while another is being written to disk, or within 2 ms while other
// requests are in flight, are committed together and share the fsyncs of one commit;
// [Store.Stats] says how many did.
//
// Leases are not in the file. The file belongs to one process, whose leases end with it:
// after a restart, the work can be taken up immediately.
//
//	buckets
//	  meta          "version"             → 6
//	                "counts"              → number of entries 8, of each bucket below
//	  activities    organization ‖ id     → version 3 ‖ at 8 ‖ fingerprint 32 ‖ keepUntil 8 ‖ revision 8 ‖ waiting 1 ‖
//	                                        submittedBy ‖ user ‖ type ‖ status (each with its length) ‖ data
//	  requests      organization ‖ at 8 ‖ fingerprint 32 → id
//	  waited        organization ‖ fingerprint 32 → id; of activities that wait or have waited
//	  waiting       organization ‖ id     → empty
//	  listing       organization ‖ type ‖ status ‖ id → empty
//	  outbox        organization ‖ class 1 ‖ place 8 → time 8 ‖ id ‖ activity ‖ data
//	  ledgers       organization ‖ key 33 → keepUntil 8 ‖ value
//	  expiry        time 8 ‖ key of a ledger entry → empty
//	  log heads     organization          → translog.Head
//	  log leaves    organization ‖ index 8 → number of hashes 1 ‖ hashes ‖ leaf
//	  log indexes   organization ‖ id     → index 8
//
// An organization in a key is preceded by its length as a uvarint, and so are types and
// statuses. Times are milliseconds since the epoch; integers are big-endian. Values have a
// checksum before them: see seal.go.
package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/internal/batch"
	"github.com/countersign-dev/countersign/store/internal/leases"
)

// OpenTimeout is how long Open waits for another process to close the file.
const OpenTimeout = time.Second

// Store is a store.Store. Use Open to create one.
type Store struct {
	file    *file
	checked bool // as a whole, when it was opened
	leases  *leases.Table
	writer  *writer
	close   sync.Once
	closed  chan struct{}
}

var _ store.Full = (*Store)(nil)

// Missing returns store.ErrNone if there is no file, or an empty one. It opens nothing.
func Missing(path string) error {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s does not exist", store.ErrNone, path)
	case err != nil:
		return fmt.Errorf("%w: open %s: %w", store.ErrUnavailable, path, err)
	case info.Size() == 0:
		return fmt.Errorf("%w: %s is empty", store.ErrNone, path)
	}
	return nil
}

// OpenExisting is Open for a file that exists and has been laid out. Otherwise it writes
// nothing and returns store.ErrNone: an absent file, an empty one, and one that was cut off
// while it was created.
func OpenExisting(path string) (*Store, error) {
	if err := Missing(path); err != nil {
		return nil, err
	}
	return open(path, false)
}

// Open opens the file, or creates it with mode 0600 if it does not exist. It returns
// store.ErrInUse if another process keeps it open for longer than OpenTimeout. A file of up to
// CheckedSize is checked as a whole; see [Store.Check].
func Open(path string) (*Store, error) { return open(path, true) }

func open(path string, create bool) (*Store, error) {
	file, err := openMapped(path, bbolt.Options{Timeout: OpenTimeout, FreelistType: bbolt.FreelistMapType})
	switch {
	case errors.Is(err, bbolterrors.ErrTimeout):
		return nil, fmt.Errorf("%w: %s", store.ErrInUse, path)
	case errors.Is(err, store.ErrUnavailable):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: open %s: %w", store.ErrUnavailable, path, err)
	}
	if err := layOut(file, create); err != nil {
		if !errors.Is(err, store.ErrNone) {
			err = fmt.Errorf("%w: %s: %w", store.ErrUnavailable, path, err)
		}
		return nil, errors.Join(err, file.close())
	}
	size, err := file.size()
	if err == nil && size <= CheckedSize {
		err = file.check(context.Background())
	}
	if err != nil {
		return nil, errors.Join(err, file.close())
	}
	s := &Store{file: file, checked: size <= CheckedSize, leases: leases.New(), closed: make(chan struct{})}
	s.writer = &writer{file: file}
	s.writer.batches = batch.New(batch.Options{Max: maxBatch, Gather: gather, Expected: s.leases.Held}, s.writer.commit)
	return s, nil
}

func (s *Store) Begin(ctx context.Context, claim store.Claim, change store.Change) (store.BeginResult, error) {
	if recorded, err := s.recorded(ctx, claim); recorded != nil || err != nil {
		return store.BeginResult{Recorded: recorded}, err
	}
	if claim.Stale() {
		return s.leases.Waiting(claim)
	}
	begun, err := s.leases.Take(claim)
	if err != nil || begun.Lease == nil {
		return begun, err
	}
	// Look again: until the lease was taken, another call could complete it.
	recorded, err := s.recorded(ctx, claim)
	if err == nil && recorded == nil && change != nil {
		err = s.Change(ctx, claim.OrganizationID, change)
	}
	if recorded != nil || err != nil {
		s.leases.End(*begun.Lease)
		return store.BeginResult{Recorded: recorded}, err
	}
	return begun, nil
}

func (s *Store) Renew(ctx context.Context, lease store.Lease, ttl time.Duration, now time.Time) (store.Lease, error) {
	if err := s.usable(ctx); err != nil {
		return store.Lease{}, err
	}
	return s.leases.Renew(lease, ttl, now)
}

func (s *Store) Complete(ctx context.Context, lease store.Lease, activity store.Activity, change store.Change) error {
	activity.OrganizationID, activity.Fingerprint, activity.At = lease.OrganizationID, lease.Fingerprint, lease.At
	return s.end(ctx, lease, func(tx *transaction) error {
		if !activity.Sent.IsZero() {
			if err := tx.admit(lease.OrganizationID, activity.Sent, activity.Of); err != nil {
				return err
			}
		}
		if err := tx.admitWaiting(&activity); err != nil {
			return err
		}
		if err := tx.applyWhole(lease.OrganizationID, change); err != nil {
			return err
		}
		return tx.record(&activity)
	}, &s.writer.completed)
}

func (s *Store) Release(ctx context.Context, lease store.Lease, change store.Change) error {
	if change == nil {
		return s.end(ctx, lease, nil, nil)
	}
	return s.end(ctx, lease, func(tx *transaction) error {
		return tx.applyWhole(lease.OrganizationID, change)
	}, nil)
}

// end ends a lease as write, which may be nil, is committed. Meanwhile the lease cannot
// be taken over.
func (s *Store) end(ctx context.Context, lease store.Lease, write func(*transaction) error, count *counter) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	if err := s.leases.Pin(lease); err != nil {
		return err
	}
	if write != nil {
		if err := s.writer.write(write, count); err != nil {
			s.leases.Unpin(lease)
			return err
		}
	}
	s.leases.End(lease)
	return nil
}

func (s *Store) Get(ctx context.Context, organizationID, id string) (activity store.Activity, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		activity, err = tx.activity(organizationID, id)
		return err
	})
	return activity, err
}

// recorded returns the recorded activity of a request, or nil if there is none or it is
// the waiting one that the claim is for.
func (s *Store) recorded(ctx context.Context, claim store.Claim) (recorded *store.Activity, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		recorded, err = tx.recorded(claim.OrganizationID, claim.At, claim.Fingerprint)
		if err != nil || claim.Sent.IsZero() {
			return err
		}
		err = tx.admit(claim.OrganizationID, claim.Sent, claim.Of)
		refused := errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrStopped)
		if refused && recorded != nil && !claim.Takes(recorded) {
			err = nil
		}
		return err
	})
	switch {
	case err != nil:
	case recorded == nil && claim.Revision != 0:
		err = store.ErrChanged
	case recorded != nil && claim.Takes(recorded):
		recorded = nil
	}
	return recorded, err
}

func (s *Store) Change(ctx context.Context, organizationID string, change store.Change) error {
	var refusal error
	err := s.write(ctx, func(tx *transaction) (err error) {
		refusal, err = change.Apply(tx.ledger(organizationID))
		return err
	})
	return cmp.Or(err, refusal)
}

// Forgets implements store.Retention: it does not.
func (s *Store) Forgets() bool { return false }

// probe is what Ping writes to find out whether a full disk has room again: as much as a
// typical record.
var probe = make([]byte, 16<<10)

// Ping implements store.Pinger. It reads; after a failed commit it also writes, so that it
// fails for as long as the disk is full.
func (s *Store) Ping(ctx context.Context) error {
	if s.writer.failed.Load() {
		return s.write(ctx, func(tx *transaction) error { tx.put(bucketMeta, keyProbe, probe); return nil })
	}
	return s.view(ctx, func(*transaction) error { return nil })
}

// Stats returns counts since Open.
func (s *Store) Stats() Stats {
	return Stats{s.writer.commits.Load(), s.writer.changes.Load(), s.writer.completed.Load()}
}

// Close implements store.Store. It waits for writes in progress.
func (s *Store) Close() (err error) {
	s.close.Do(func() {
		close(s.closed)
		s.leases.Close()
		s.writer.batches.Stop()
		err = s.file.close()
	})
	return err
}

func (s *Store) usable(ctx context.Context) error {
	select {
	case <-s.closed:
		return store.ErrClosed
	default:
	}
	if err := s.file.failed(); err != nil {
		return err
	}
	return ctx.Err()
}

// view reads from the file, if the store is usable.
func (s *Store) view(ctx context.Context, read func(*transaction) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.file.view(read)
}

// write makes a change, if the store is usable. See writer.write.
func (s *Store) write(ctx context.Context, do func(*transaction) error) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	return s.writer.write(do, nil)
}

// Check reads the whole file: every entry has its checksum, no bucket has more or fewer than were
// written, and bbolt's own check finds its pages and the list of free ones in order. Nothing is
// written meanwhile. It does nothing if Open has done it. The error is store.ErrUnavailable if the
// file is damaged, and every later call then fails.
func (s *Store) Check(ctx context.Context) error {
	if err := s.usable(ctx); err != nil || s.checked {
		return err
	}
	return s.file.check(ctx)
}

// Snapshot calls to with a consistent copy of the file, which Open can open, and its size
// in bytes. Requests are carried out meanwhile; until the copy is complete, the file
// grows by what they change. Every entry is read before, and counted: a damaged file is no backup.
func (s *Store) Snapshot(ctx context.Context, to func(size int64, copy io.WriterTo) error) error {
	return s.view(ctx, func(t *transaction) error {
		if err := t.verify(ctx); err != nil {
			return err
		}
		return to(t.tx.Size(), t.tx)
	})
}
