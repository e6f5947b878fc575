package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/translog"
)

// Log is implemented by stores that keep a log for each organization: an append-only
// sequence of the leaves of package translog. Nodes that share a store share the logs.
type Log interface {
	// AppendLeaves appends all leaves or none, and returns the index of the first. It
	// is for leaves that do not come with an activity, whose leaf is appended by
	// Complete. If size is not AnySize and the log does not have that many leaves, it
	// returns ErrChanged; while the log has a conflict, ErrConflict.
	AppendLeaves(ctx context.Context, organizationID string, size int64, leaves []LogEntry) (index int64, err error)

	// LogHead returns the head of an organization's log.
	LogHead(ctx context.Context, organizationID string) (translog.Head, error)

	// LogHeads returns the heads of the logs of these organizations as last committed, or of all if
	// there are none, in one query. A log without leaves and marks may be left out.
	LogHeads(ctx context.Context, organizationIDs ...string) (map[string]translog.Head, error)

	// MarkConflict gives a log a conflict, unless it has one in which as much was
	// remembered. From then on every node that shares the store refuses to extend the
	// log. It returns the head as it is then.
	MarkConflict(ctx context.Context, organizationID string, conflict translog.Conflict) (translog.Head, error)

	// AcceptConflict ends the conflict of a log, provided that it is the given one and
	// that the log is the one found, appends the leaf, and sets Head.Accepted as
	// Acceptance.Apply does, with the store's clock; otherwise it returns ErrChanged.
	AcceptConflict(ctx context.Context, organizationID string, accepted Acceptance) (translog.Head, error)

	// LogRows returns the rows with the given indexes, which must be ascending. If one
	// does not exist, the error is translog.ErrMissing.
	LogRows(ctx context.Context, organizationID string, indexes []int64) ([]translog.Row, error)

	// LogIndex returns the index of the leaf with an id, or ErrNotFound.
	LogIndex(ctx context.Context, organizationID, id string) (index int64, err error)
}

// LogEntry is a leaf to append, and the id under which LogIndex finds it.
type LogEntry struct {
	ID   string
	Leaf []byte
}

// Acceptance ends a conflict between the log and a tree that was remembered of it: it accepts
// the log as it was found.
type Acceptance struct {
	Remembered, Found tlog.Tree
	Now               time.Time
	Skew              time.Duration // how far the time of a request may be ahead of the clock
	Leaf              LogEntry
}

// MaxClockError bounds how far a clock may have been set back between the last leaf that was
// seen and the acceptance of its loss.
const MaxClockError = 24 * time.Hour

// Apply ends the conflict in a head, and appends the leaf. now is the latest of the clocks of those
// who share the store. What was answered before is superseded even if the clock has been set back
// since, up to MaxClockError. It returns ErrChanged if the head is not in that conflict.
func (a *Acceptance) Apply(head *translog.Head, now time.Time) (translog.Row, error) {
	if head.Moved {
		return translog.Row{}, ErrMoved
	}
	if head.Conflict == nil || head.Conflict.Remembered != a.Remembered || head.Tree() != a.Found {
		return translog.Row{}, ErrChanged
	}
	if now.Before(a.Now) {
		now = a.Now
	}
	latest := now
	for _, seen := range []time.Time{head.Conflict.Seen, head.Conflict.Found} {
		if seen.After(latest) && seen.Sub(now) <= MaxClockError {
			latest = seen
		}
	}
	head.Conflict = nil
	// Up to the end of the millisecond, which is as exact as a request's time is.
	if until := latest.Add(a.Skew).Truncate(time.Millisecond).Add(time.Millisecond); until.After(head.Accepted) {
		head.Accepted = until.UTC()
	}
	return head.Append(a.Leaf.Leaf), nil
}

// Mark gives a head a conflict, unless it has one in which as much was remembered, and
// reports whether it did.
func Mark(head *translog.Head, conflict translog.Conflict) bool {
	if head.Conflict != nil && head.Conflict.Remembered.N >= conflict.Remembered.N {
		return false
	}
	head.Conflict = &conflict
	return true
}

// Stoppable is what a stop may apply to.
type Stoppable interface {
	// Concerns reports whether the subject of a translog.Stop has a part in it.
	Concerns(subject string) bool
}

// Admit refuses what may not be recorded under the head of a log: anything if it has moved or while
// it has a conflict, a request that was sent before an acceptance, and one that a stop applies to.
// sent is zero and of nil if they do not matter. The error is ErrMoved, ErrConflict, a
// *SupersededError or a *StoppedError.
func Admit(head *translog.Head, sent time.Time, of Stoppable) error {
	switch {
	case head.Moved:
		return ErrMoved
	case head.Conflict != nil:
		return ErrConflict
	case !sent.IsZero() && !sent.After(head.Accepted):
		return &SupersededError{head.Accepted}
	case of == nil:
		return nil
	}
	for i := range head.Stops {
		if stop := &head.Stops[i]; of.Concerns(stop.Subject) {
			return &StoppedError{*stop}
		}
	}
	return nil
}

// Restop makes the change of the stops that an activity comes with, if it does.
func (a *Activity) Restop(head *translog.Head) error {
	if a.Stops == nil {
		return nil
	}
	stops, err := a.Stops(slices.Clone(head.Stops))
	if err == nil {
		head.Stops = stops
	}
	return err
}

// StoppedError refuses what a stop applies to.
type StoppedError struct{ Stop translog.Stop }

// Error says what is stopped and since when.
func (e *StoppedError) Error() string {
	return fmt.Sprintf("%v for %s since %s", ErrStopped, cmp.Or(e.Stop.Subject, "the organization"),
		e.Stop.Since.UTC().Format(time.RFC3339))
}

func (*StoppedError) Unwrap() error { return ErrStopped }

// SupersededError refuses a request that is not recorded, but may have been answered in the
// history that the log has lost.
type SupersededError struct{ Until time.Time } // requests that were sent later are carried out

// Error says from when on requests are carried out.
func (e *SupersededError) Error() string {
	return "store: the request is not later than " + e.Until.Format(time.RFC3339Nano) +
		", up to which the log has lost what was answered"
}

func (*SupersededError) Unwrap() error { return ErrStale }

// AnySize makes Log.AppendLeaves append whatever the size of the log.
const AnySize = -1

// Adopt appends the leaves of all finished activities of an organization, in the order
// of their ids, if its log is empty: those that were recorded before there was a log. It
// appends all or none, and only once: a record that appears in the store later is not
// adopted. It returns how many were appended. leafOf encodes the leaf of an activity.
func Adopt(ctx context.Context, s Lister, log Log, organizationID string,
	leafOf func(recorded *Activity) ([]byte, error)) (int, error) {
	head, err := log.LogHead(ctx, organizationID)
	if err != nil || head.Size > 0 {
		return 0, err
	}
	var leaves []LogEntry
	for filter := (Filter{Limit: MaxList}); ; {
		page, err := s.List(ctx, organizationID, filter)
		if err != nil {
			return 0, err
		}
		for i := range page {
			filter.Before = page[i].ID // the newest come first
			if page[i].Waiting {
				continue
			}
			leaf, err := leafOf(&page[i])
			if err != nil {
				return 0, err
			}
			leaves = append(leaves, LogEntry{page[i].ID, leaf})
		}
		if len(page) == 0 {
			break
		}
	}
	if len(leaves) == 0 {
		return 0, nil
	}
	slices.Reverse(leaves)
	_, err = log.AppendLeaves(ctx, organizationID, 0, leaves)
	if errors.Is(err, ErrChanged) {
		return 0, nil // another node has adopted them
	}
	return len(leaves), err
}

// Prove proves that the leaf with an id is in the current log of an organization.
func Prove(ctx context.Context, log Log, signer *translog.Signer, organizationID, id string) (*translog.Proof, error) {
	return prove(ctx, log, signer, organizationID, id, func(source translog.Source, _ int64) (tlog.Tree, error) {
		head, err := source.Head(ctx)
		return head.Tree(), err
	})
}

// ProveRecorded proves that the leaf with an id is in the log of an organization as it
// was when that leaf was its last: the proof is always the same.
func ProveRecorded(ctx context.Context, log Log, signer *translog.Signer, organizationID,
	id string) (*translog.Proof, error) {
	return prove(ctx, log, signer, organizationID, id, func(source translog.Source, index int64) (tlog.Tree, error) {
		return translog.TreeAt(ctx, source, index+1)
	})
}

// prove proves that the leaf with an id is in the tree that treeOf returns for its index, and
// signs the tree.
func prove(ctx context.Context, log Log, signer *translog.Signer, organizationID, id string,
	treeOf func(source translog.Source, index int64) (tlog.Tree, error)) (*translog.Proof, error) {
	source := LogOf(log, organizationID)
	index, err := log.LogIndex(ctx, organizationID, id)
	if err != nil {
		return nil, err
	}
	tree, err := treeOf(source, index)
	if err != nil {
		return nil, err
	}
	rows, err := log.LogRows(ctx, organizationID, []int64{index})
	if err != nil {
		return nil, err
	}
	proof := &translog.Proof{Leaf: rows[0].Leaf, Index: index}
	if proof.Hashes, err = translog.Inclusion(ctx, source, tree.N, index); err != nil {
		return nil, err
	}
	proof.Checkpoint, err = signer.Checkpoint(organizationID, tree)
	return proof, err
}

// Advance signs the head of a log, and proves to a witness that it extends the log of
// size old that the witness has seen.
func Advance(ctx context.Context, log Log, signer *translog.Signer, organizationID string,
	old int64) (*translog.Advance, error) {
	source := LogOf(log, organizationID)
	head, err := source.Head(ctx)
	if err != nil {
		return nil, err
	}
	advance := &translog.Advance{Old: old}
	if advance.Proof, err = translog.Consistency(ctx, source, head.Size, old); err != nil {
		return nil, err
	}
	advance.Checkpoint, err = signer.Checkpoint(organizationID, head.Tree())
	return advance, err
}

// LogOf returns the log of one organization.
func LogOf(log Log, organizationID string) translog.Source { return logOf{log, organizationID} }

type logOf struct {
	log          Log
	organization string
}

func (l logOf) Head(ctx context.Context) (translog.Head, error) {
	return l.log.LogHead(ctx, l.organization)
}

func (l logOf) Rows(ctx context.Context, indexes []int64) ([]translog.Row, error) {
	return l.log.LogRows(ctx, l.organization, indexes)
}
