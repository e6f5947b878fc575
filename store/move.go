package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Mover is implemented by stores between which [Move] can move an organization.
type Mover interface {
	Full

	// Hold sets Head.Moved of an organization's log to moved, and makes a change in the same transaction.
	// When it returns, what was recorded or changed before is committed.
	Hold(ctx context.Context, organizationID string, moved bool, change Change) error

	// Drain returns when the leases that an organization has when it is called have ended.
	Drain(ctx context.Context, organizationID string) error

	// CopyTo makes what another store of the same kind has of an organization what this one has, except
	// for leases and the mark of [Sharded], compares the two, and takes the events out of this store.
	// leave is a change in this store, arrive one in the other: each makes all of it in one transaction,
	// and the other one commits first.
	CopyTo(ctx context.Context, organizationID string, other Mover, leave, arrive Change) error
}

// home is the mark of an organization in its store.
var home = Key{Kind: KindHome}

// A mark is a state, the number of moves before in 8 bytes, by which an old mark is known, and the name of
// the store that the organization moves to or has moved to, or astray where one that was taken back was to arrive.
const (
	markHome, markMoved byte = 1, 2
	astray                   = "\x00"
)

func newMark(state byte, moves uint64, name string) []byte {
	return append(binary.BigEndian.AppendUint64([]byte{state}, moves), name...)
}

func isHome(mark []byte) bool   { return len(mark) > 0 && mark[0] == markHome }
func hasMoved(mark []byte) bool { return len(mark) > 0 && !isHome(mark) }

// movesOf returns the number in a mark, 0 in one from before there were moves.
func movesOf(mark []byte) uint64 {
	if len(mark) < 9 {
		return 0
	}
	return binary.BigEndian.Uint64(mark[1:])
}

// forever is until when a mark is kept.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// shareMark reads the mark of an organization, which stays until the transaction ends. Where others can
// write what was read, Share keeps them from it.
func shareMark(ledger Ledger) ([]byte, error) {
	read := ledger.Read
	if shared, ok := ledger.(interface{ Share(key Key) (Entry, error) }); ok {
		read = shared.Share
	}
	entry, err := read(home)
	return entry.Value, err
}

// atHome makes a change, unless the organization has moved: then nothing is written. The mark comes
// last, as its kind does. A nil change stays so: a lease alone is of no use, Complete refuses it.
func atHome(change Change) Change {
	if change == nil {
		return nil
	}
	return ChangeFunc(func(ledger Ledger) (refusal, err error) {
		if refusal, err = change.Apply(ledger); err != nil {
			return nil, err
		}
		mark, err := shareMark(ledger)
		if err == nil && hasMoved(mark) {
			err = ErrMoved
		}
		return refusal, err
	})
}

// remark is the change of a mark, of which may says whether it may be changed.
func remark(mark []byte, may func(now []byte) bool) Change {
	return ChangeFunc(func(ledger Ledger) (refusal, err error) {
		now, err := ledger.Lock(home)
		switch {
		case err != nil:
			return nil, err
		case !may(now[0].Value):
			return nil, errMoves
		}
		return nil, ledger.Write(home, Entry{mark, forever})
	})
}

var errMoves = fmt.Errorf("%w: another process is moving the organization, too: run this one again", ErrUnavailable)

// markOf returns the mark of an organization in a store, as last committed.
func markOf(ctx context.Context, in Full, organization string) (mark []byte, err error) {
	err = in.Change(ctx, organization, ChangeFunc(func(ledger Ledger) (refusal, err error) {
		entry, err := ledger.Read(home)
		mark = entry.Value
		return nil, err
	}))
	return mark, err
}

// ErrElsewhere says that an organization has begun in another store than the one that the table names.
var ErrElsewhere = errors.New("store: an organization stays in the store in which it has begun")

func described(name string) string {
	if name == "" {
		return "the store without a name"
	}
	return fmt.Sprintf("the store %q", name)
}

// begun reports whether a store has a log or an activity of an organization.
func begun(ctx context.Context, in Full, organization string) (bool, error) {
	head, err := in.LogHead(ctx, organization)
	if err != nil || head.Size > 0 || head.Marked() {
		return err == nil, err
	}
	activities, err := in.List(ctx, organization, Filter{Limit: 1})
	return len(activities) > 0, err
}

// Move moves an organization from one store of a [Sharded] to another, each with its name, while nodes serve.
// First it is held: nothing of it is recorded or charged in the first store any more, and its requests
// fail with ErrMoved. Then it is copied. Cut off at any moment, it stays held, or has moved: call Move
// again, or the other way round, which takes back what has not arrived. told is told the steps. A node
// that has one of the stores without a Sharded is refused by the head of the log only, so it must keep one.
func Move(ctx context.Context, organization string, from, to Mover, left, name string, told func(step string)) error {
	source, err := markOf(ctx, from, organization)
	if err != nil {
		return err
	}
	target, err := markOf(ctx, to, organization)
	begins := isHome(target)
	if err == nil && len(target) == 0 {
		begins, err = begun(ctx, to, organization)
	}
	moves := movesOf(source)
	if isHome(source) {
		moves++
	}
	moved, arrived := newMark(markMoved, moves, name), newMark(markHome, moves, "")
	hasLeft := func(mark []byte) bool { return bytes.Equal(mark, moved) }
	switch {
	case err != nil:
		return err
	case hasMoved(source) && bytes.Equal(target, arrived):
		return nil
	case !isHome(source) && hasMoved(target) && string(target[9:]) == left && movesOf(source) <= movesOf(target):
		held := func(now []byte) bool { return bytes.Equal(now, target) }
		off := func(now []byte) bool { return !isHome(now) && movesOf(now) <= movesOf(target) }
		away := remark(newMark(markMoved, movesOf(target), astray), off)
		if err := from.Hold(ctx, organization, true, away); err != nil {
			return err
		}
		return to.Hold(ctx, organization, false, remark(newMark(markHome, movesOf(target), ""), held))
	case !isHome(source) && !hasLeft(source) || movesOf(target) >= moves:
		return fmt.Errorf("%w: %q is not in the store that it is to leave", ErrElsewhere, organization)
	case begins:
		return fmt.Errorf("%w: %q has begun in %s, too", ErrElsewhere, organization, described(name))
	}
	told("holding its requests; if this does not finish, run it again, or take it back as --help says")
	mayLeave := func(now []byte) bool { return isHome(now) && movesOf(now)+1 == moves || hasLeft(now) }
	if err := from.Hold(ctx, organization, true, remark(moved, mayLeave)); err != nil {
		return err
	}
	told("waiting for the requests that had begun")
	if err := from.Drain(ctx, organization); err != nil {
		return err
	}
	told("copying")
	leave := ChangeFunc(func(ledger Ledger) (refusal, err error) {
		mark, err := shareMark(ledger)
		if err == nil && !hasLeft(mark) {
			err = errMoves
		}
		return nil, err
	})
	mayArrive := func(now []byte) bool { return !isHome(now) && movesOf(now) < moves }
	return from.CopyTo(ctx, organization, to, leave, remark(arrived, mayArrive))
}
