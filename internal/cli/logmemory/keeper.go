package logmemory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// How often a running node writes its memory at most, and checks all logs.
const (
	WriteInterval = time.Second
	CheckInterval = time.Minute
)

// maxMoved bounds how many logs that moved are followed in one WriteInterval. The rest come
// in the next.
const maxMoved = 64

// Options configure a Keeper.
type Options struct {
	Path     string // of the file
	Log      store.Log
	Each     Each          // of several stores that Log is; may be nil
	Skew     time.Duration // how far the time of a request may be ahead of the clock
	Logger   *slog.Logger
	Now      func() time.Time
	Accepted func(ctx context.Context, organization string) // called after an acceptance; may be nil
}

// Each calls a function for each of several stores, with what says whether an organization is in it.
type Each func(do func(one store.Log, has func(organization string) bool))

// Keeper keeps a memory, and compares a store with it. A nil Keeper does nothing.
type Keeper struct {
	Options
	failures atomic.Uint64

	mu     sync.Mutex // of checks and writes, one at a time
	memory Memory
	behind bool // the file is behind the memory
	failed bool // the last write failed

	found  atomic.Pointer[[]string] // organizations that have a conflict, sorted
	halted atomic.Pointer[[]string] // organizations in which something is halted, sorted

	movedMu sync.Mutex
	moved   map[string]struct{}
}

// New returns a keeper with the memory in the file. It writes nothing.
func New(options Options) (*Keeper, error) {
	memory, err := Read(options.Path)
	if err != nil {
		return nil, err
	}
	k := &Keeper{Options: options, memory: memory, moved: map[string]struct{}{}}
	if k.Each == nil {
		k.Each = func(do func(one store.Log, has func(organization string) bool)) {
			do(k.Log, func(string) bool { return true })
		}
	}
	k.found.Store(new([]string))
	k.halted.Store(new([]string))
	k.noteConflicts()
	return k, nil
}

// Moved notes that the log of an organization has grown. It is called while a request waits.
func (k *Keeper) Moved(organization string) {
	k.movedMu.Lock()
	defer k.movedMu.Unlock()
	k.moved[organization] = struct{}{}
}

// takeMoved returns up to maxMoved logs that have grown.
func (k *Keeper) takeMoved() []string {
	k.movedMu.Lock()
	defer k.movedMu.Unlock()
	var taken []string
	for organization := range k.moved {
		if len(taken) == maxMoved {
			break
		}
		taken = append(taken, organization)
		delete(k.moved, organization)
	}
	return taken
}

// Conflicts returns the organizations that have a conflict, sorted.
func (k *Keeper) Conflicts() []string {
	if k == nil {
		return nil
	}
	return *k.found.Load()
}

// Halted returns the organizations in which something is halted, sorted, as last read.
func (k *Keeper) Halted() []string {
	if k == nil {
		return nil
	}
	return *k.halted.Load()
}

// Conflict returns the conflict of an organization, or nil.
func (k *Keeper) Conflict(organization string) *Conflict {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.memory[organization].Conflict
}

// Failures returns how often the memory could not be written.
func (k *Keeper) Failures() uint64 {
	if k == nil {
		return 0
	}
	return k.failures.Load()
}

// Check compares all logs of the store with the memory, and marks those that do not extend it. It
// accepts the conflicts that were confirmed. An error is of a store: nothing is known of it then.
func (k *Keeper) Check(ctx context.Context) (failed error) {
	if k == nil {
		return nil
	}
	k.Each(func(one store.Log, has func(organization string) bool) {
		failed = errors.Join(failed, k.CheckIn(ctx, one, has))
	})
	return failed
}

// CheckIn is Check for the organizations that one of several stores has.
func (k *Keeper) CheckIn(ctx context.Context, one store.Log, has func(organization string) bool) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	known := slices.DeleteFunc(slices.Collect(maps.Keys(k.memory)), func(id string) bool { return !has(id) })
	heads, err := one.LogHeads(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(heads, func(organization string, _ translog.Head) bool { return !has(organization) })
	for _, organization := range known { // what has moved here meanwhile is not missing
		if _, ok := heads[organization]; !ok && has(organization) {
			heads[organization] = translog.Head{}
		}
	}
	return k.compareAll(ctx, heads)
}

// follow is Check for the logs that have grown on this node and those with a conflict.
func (k *Keeper) follow(ctx context.Context) (failed error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	asked := slices.Concat(k.takeMoved(), k.Conflicts(), k.Halted())
	k.Each(func(one store.Log, has func(organization string) bool) {
		own := slices.DeleteFunc(slices.Clone(asked), func(organization string) bool { return !has(organization) })
		if len(own) == 0 {
			return
		}
		heads, err := one.LogHeads(ctx, own...)
		if err == nil {
			err = k.compareAll(ctx, heads)
		} else {
			for _, organization := range own {
				k.Moved(organization)
			}
		}
		failed = errors.Join(failed, err)
	})
	return failed
}

func (k *Keeper) compareAll(ctx context.Context, heads map[string]translog.Head) (failed error) {
	halted := slices.DeleteFunc(slices.Clone(k.Halted()), func(id string) bool { _, read := heads[id]; return read })
	defer func() { slices.Sort(halted); k.halted.Store(&halted) }()
	for _, organization := range slices.Sorted(maps.Keys(heads)) {
		head := heads[organization]
		if slices.ContainsFunc(head.Stops, translog.Stop.Halts) {
			halted = append(halted, organization)
		}
		if err := k.compare(ctx, organization, &head); err != nil {
			failed = errors.Join(failed, fmt.Errorf("log of organization %s: %w", organization, err))
		}
	}
	k.noteConflicts()
	return failed
}

func (k *Keeper) compare(ctx context.Context, organization string, head *translog.Head) error {
	state := k.memory[organization]
	if head.Moved {
		return nil // it goes on in another store
	}
	if head.Conflict != nil {
		return k.conflicting(ctx, organization, head)
	}
	if state.Tree == head.Tree() || state.Tree.N == 0 && head.Size == 0 {
		if state.Conflict != nil {
			k.set(organization, Log{Tree: state.Tree, Seen: k.now()})
		}
		return nil
	}
	err := k.extends(ctx, organization, head, state.Tree)
	if translog.Denies(err) && k.acceptedSince(ctx, organization, head, state.Conflict) {
		k.Logger.WarnContext(ctx, "the conflict of the log was accepted", "organization", organization, "leaves",
			head.Size, "until", head.Accepted)
		err = nil
	}
	switch {
	case err == nil:
		k.set(organization, Log{Tree: head.Tree(), Seen: k.now()})
		return nil
	case !translog.Denies(err):
		return err
	}
	marked, err := k.Log.MarkConflict(ctx, organization, translog.Conflict{Remembered: state.Tree, Seen: state.Seen, Found: k.now()})
	if err != nil {
		return err
	}
	return k.conflicting(ctx, organization, &marked)
}

func (k *Keeper) extends(ctx context.Context, organization string, head *translog.Head, old tlog.Tree) error {
	return translog.Extends(ctx, store.LogOf(k.Log, organization), head, old)
}

// acceptedSince reports whether a conflict that this node knows was accepted: the log goes
// on from what was found, with a later acceptance than it had.
func (k *Keeper) acceptedSince(ctx context.Context, organization string, head *translog.Head, known *Conflict) bool {
	return known != nil && head.Accepted.After(known.Accepted) && k.extends(ctx, organization, head, known.Log) == nil
}

// conflicting remembers the conflict that a log has in the store, and accepts it if an
// operator confirmed it.
func (k *Keeper) conflicting(ctx context.Context, organization string, head *translog.Head) error {
	state := k.memory[organization]
	if state.Tree.N > head.Conflict.Remembered.N {
		marked, err := k.Log.MarkConflict(ctx, organization, translog.Conflict{Remembered: state.Tree, Seen: state.Seen, Found: k.now()})
		if err != nil {
			return err
		}
		head = &marked
	}
	if head.Conflict == nil {
		return nil // accepted meanwhile: the next check sees it
	}
	conflict := &Conflict{Conflict: *head.Conflict, Log: head.Tree(), Accepted: head.Accepted}
	if state.Conflict == nil || *state.Conflict != *conflict {
		state.Conflict = conflict
		k.set(organization, state)
		k.Logger.ErrorContext(ctx,
			"the log conflicts with what was seen: this organization takes no requests until 'countersign log accept'",
			"organization", organization, "cause", conflict.Describe())
	}
	if Unconfirmed(k.Path, organization) {
		return nil
	}
	return k.accept(ctx, organization, conflict)
}

// accept takes up a confirmation.
func (k *Keeper) accept(ctx context.Context, organization string, conflict *Conflict) error {
	lost := Lost(k.memory[organization]) // as it was confirmed before the store was created
	isLost := conflict.Log == empty && conflict.Remembered == lost.Remembered && Confirmed(k.Path, organization, lost)
	if !isLost && !Confirmed(k.Path, organization, conflict) {
		k.Logger.WarnContext(ctx, "another conflict was confirmed than the log has", "organization", organization)
		return takenUp(k.Path, organization)
	}
	now := k.now()
	leaf := translog.NewAcceptLeaf(organization, conflict.Remembered, conflict.Log, now)
	encoded, err := leaf.Encode()
	if err != nil {
		return err
	}
	head, err := k.Log.AcceptConflict(ctx, organization, store.Acceptance{
		Remembered: conflict.Remembered, Found: conflict.Log, Now: now, Skew: k.Skew, Leaf: store.LogEntry{ID: leaf.ID, Leaf: encoded},
	})
	if errors.Is(err, store.ErrChanged) {
		return nil // by another node: the next check sees it
	}
	if err != nil {
		return err
	}
	k.set(organization, Log{Tree: head.Tree(), Seen: now})
	k.Logger.WarnContext(ctx, "accepted the conflict of the log", "organization", organization, "cause",
		conflict.Describe(), "until", head.Accepted)
	if k.Accepted != nil {
		k.Accepted(ctx, organization)
	}
	return takenUp(k.Path, organization)
}

// now returns the time as the memory and the store keep it.
func (k *Keeper) now() time.Time { return k.Now().UTC().Truncate(time.Millisecond) }

func (k *Keeper) set(organization string, state Log) {
	k.memory[organization], k.behind = state, true
}

// noteConflicts publishes which organizations have a conflict.
func (k *Keeper) noteConflicts() {
	var conflicts []string
	for organization, state := range k.memory {
		if state.Conflict != nil {
			conflicts = append(conflicts, organization)
		}
	}
	slices.Sort(conflicts)
	k.found.Store(&conflicts)
}

// Write writes the file if it is behind. An error is counted, and logged once until the
// file can be written again.
func (k *Keeper) Write() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.behind {
		return nil
	}
	err := write(k.Path, k.memory.Encode())
	if err == nil {
		k.behind, k.failed = false, false
		return nil
	}
	k.failures.Add(1)
	if !k.failed {
		k.Logger.Warn("the memory of the logs cannot be written: a store that is put back may go unnoticed", "cause", err)
	}
	k.failed = true
	return err
}

// Run follows the logs until the context ends: what this node's requests moved once per
// WriteInterval, all of them once per CheckInterval.
func (k *Keeper) Run(ctx context.Context) {
	follow, check := time.NewTicker(WriteInterval), time.NewTicker(CheckInterval)
	defer follow.Stop()
	defer check.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-check.C:
			err = k.Check(ctx)
		case <-follow.C:
			err = k.follow(ctx)
		}
		if err != nil && ctx.Err() == nil {
			k.Logger.WarnContext(ctx, "the logs could not be compared with the memory", "cause", err)
		}
		_ = k.Write() // which logs and counts its error
	}
}

// closeTimeout bounds the last look at the store.
const closeTimeout = 5 * time.Second

// Close follows what has moved, and writes the file.
func (k *Keeper) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := k.follow(ctx); err != nil {
		k.Logger.WarnContext(ctx, "the logs could not be compared with the memory", "cause", err)
	}
	_ = k.Write() // which logs and counts its error
}
