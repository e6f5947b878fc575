package countersign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/approvals"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/records"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/internal/signing"
	"github.com/countersign-dev/countersign/store"
)

// Engine validates intents and carries them out. It is safe for concurrent use. Its errors about
// calls and requests are of type *activity.Error; those of Close and Operator are for the operator.
type Engine struct {
	config     Config             // with its defaults set
	can        store.Capabilities // of the store
	operations signing.Operations
	judge      judge
	preparer   signing.Preparer
	records    records.Keeper
	approvals  approvals.Approvals

	sweeping  sync.WaitGroup
	lastSweep atomic.Int64      // UnixNano
	calls     request.CallTimes // of calls without a stamp
}

// New returns an engine, or an error that names the invalid setting. If it fails, the
// caller still has to close the keystore and the store.
func New(config Config) (*Engine, error) {
	if config.Keystore == nil {
		return nil, errors.New("countersign: Config.Keystore is missing: use keystore/memory or keystore/file")
	}
	if len(config.Chains) == 0 {
		return nil, errors.New("countersign: Config.Chains is missing: list the chains that the engine signs for, " +
			"such as ethereum.New(ethereum.Limits{}), or all.Chains(all.Limits{}) of package chains/all")
	}
	table, err := intents.New(config.Chains)
	if err != nil {
		return nil, fmt.Errorf("countersign: Config.Chains: %w", err)
	}
	served, err := signing.NewOperations(config.Operations, config.Store != nil)
	if err != nil {
		return nil, err
	}
	if err := config.setDefaults(); err != nil {
		return nil, err
	}
	allowed, err := newAllowance(config.AllowHazards, append(table.HazardNames(), served.HazardNames()...))
	if err != nil {
		return nil, err
	}
	e := &Engine{config: config, operations: served, can: store.CapabilitiesOf(config.Store)}
	if err := e.config.checkStore(&e.can); err != nil {
		return nil, err
	}
	if config.Log {
		halts := signing.Halts{Log: e.can.Log, Keystore: config.Keystore, Directory: config.Directory}
		maps.Copy(e.operations, halts.Operations())
	}
	e.furnish(table, allowed)
	e.lastSweep.Store(config.Now().UnixNano())
	return e, nil
}

// furnish sets up what the engine leaves to other packages.
func (e *Engine) furnish(table intents.Table, allowed allowance) {
	c := &e.config
	e.preparer = signing.Preparer{
		Chains: table, Operations: e.operations, Keystore: c.Keystore, Wallets: c.Wallets, Descriptors: c.Descriptors,
		Unverified: c.ReleaseUnverifiedSignatures, Now: c.Now,
	}
	e.records = records.Keeper{
		Store: c.Store, Waiter: e.can.Waiter, ProofSigner: c.ProofSigner, Logger: c.Logger, Now: c.Now,
		Window: c.MaxRequestAge + c.MaxRequestSkew, AnyTime: c.AnyRequestTime,
		MaxWaiting: c.MaxWaiting, LeaseTTL: c.LeaseTTL,
		Events: c.Events, Names: c.Names,
	}
	if c.Log {
		e.records.Log = e.can.Log
	}
	e.judge = judge{policy: c.Policy, allowed: allowed, records: &e.records, now: c.Now}
	e.approvals = approvals.Approvals{Prepare: e.prepareTask, Ask: e.judge.ask, Records: &e.records,
		Directory: c.Directory, Names: c.Names}
}

// Close closes the keystore, which overwrites its secrets, and the store. It waits for
// signatures in progress.
func (e *Engine) Close() error {
	err := e.config.Keystore.Close()
	if e.config.Store != nil {
		err = errors.Join(err, e.config.Store.Close())
	}
	e.sweeping.Wait()
	return err
}

// SweepInterval is how often the engine makes the store remove expired entries, as long
// as requests come.
const SweepInterval = time.Minute

// sweep starts a sweep of the store and of the activities that wait, in the background,
// if the last one was SweepInterval ago.
func (e *Engine) sweep() {
	now, last := e.config.Now(), e.lastSweep.Load()
	if now.UnixNano()-last < int64(SweepInterval) || !e.lastSweep.CompareAndSwap(last, now.UnixNano()) {
		return
	}
	e.sweeping.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), SweepInterval)
		defer cancel()
		if e.can.Sweeper != nil {
			if _, err := e.can.Sweeper.Sweep(ctx, now); err != nil {
				e.config.Logger.Error("sweeping the store failed", "cause", err)
			}
		}
		if e.config.Directory == nil {
			return
		}
		if err := e.approvals.ResumeAll(ctx); err != nil {
			e.config.Logger.Error("resuming activities that wait failed", "cause", err)
		}
	})
}

// observed reports a request that has ended to the observer and the log.
func (e *Engine) observed(ctx context.Context, s *request.Submission, err error) {
	s.Duration = time.Since(s.Started)
	observation := Observation{
		OrganizationID: s.OrganizationID, Operation: s.Operation, Repeated: s.Repeated,
		Waits:    err == nil && s.Record != nil && s.Record.Status.Waits(),
		Duration: s.Duration, Performed: s.Performed,
	}
	if s.Caller != nil {
		observation.UserID = s.Caller.Member.User.ID
	}
	if refused, ok := errors.AsType[*activity.Error](err); ok {
		observation.Reason = refused.Reason
	}
	if ruled, ok := errors.AsType[access.Ruled](err); ok {
		observation.Rule = ruled.RefusedBy()
	}
	if e.config.Observer != nil {
		e.config.Observer.Observe(observation)
	}
	s.Log(ctx, e.config.Logger, err)
}
