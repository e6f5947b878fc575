package countersign

import (
	"bytes"
	"context"
	"errors"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// LogPolicy appends a leaf to the log of an organization that says from when on a
// policy, given by its SHA-256, is in force. Without Config.Log it does nothing.
func (e *Engine) LogPolicy(ctx context.Context, organizationID string, digest [32]byte) error {
	if !e.config.Log {
		return nil
	}
	leaf := translog.NewPolicyLeaf(organizationID, digest, e.config.Now())
	encoded, err := leaf.Encode()
	if err != nil {
		return err
	}
	_, err = e.config.Store.(store.Log).AppendLeaves(ctx, organizationID, store.AnySize, []store.LogEntry{{ID: leaf.ID, Leaf: encoded}})
	return err
}

// AdoptRecords puts the records of an organization into its log that are older than the
// log, in one batch, if the log is empty, and returns how many. It is for the start
// after an upgrade, before requests come and on one node alone. Without Config.Log it
// does nothing.
func (e *Engine) AdoptRecords(ctx context.Context, organizationID string) (int, error) {
	if !e.config.Log {
		return 0, nil
	}
	adopted, err := store.Adopt(ctx, e.config.Store, e.config.Store.(store.Log), organizationID, leafOf)
	if err == nil && adopted > 0 {
		e.config.Logger.InfoContext(ctx, "records from before the log are in it now", "organization", organizationID, "records", adopted)
	}
	return adopted, err
}

// leafOf encodes the leaf of a record.
func leafOf(recorded *store.Activity) ([]byte, error) {
	leaf := translog.NewLeaf(recorded.OrganizationID, recorded.ID, recorded.Fingerprint, recorded.Data)
	return leaf.Encode()
}

// proveLogged adds the proof of the log to an answer whose request asked for proofs.
func (e *Engine) proveLogged(ctx context.Context, record *activity.Record) error {
	if record == nil || !record.Request.GenerateAppProofs {
		return nil
	}
	return e.ProveLogged(ctx, record)
}

// ProveLogged adds to a record, as Submit or GetActivity returned it, the proof that
// it is in the log, which its answer then carries, whether or not its request asked for
// proofs. It is the same whenever it is made. Without Config.LogSigner, and to a record
// that waits or is older than the log, it adds nothing. The error is an *activity.Error.
func (e *Engine) ProveLogged(ctx context.Context, record *activity.Record) error {
	if e.config.LogSigner == nil || record.Status.Waits() {
		return nil
	}
	proof, err := store.ProveRecorded(ctx, e.config.Store.(store.Log), e.config.LogSigner, record.Request.OrganizationID, record.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return activity.NewError(activity.ReasonUnavailable, "", err, "the activity is recorded, and the proof that it is in the log could not be made: send the same body again")
	}
	lines, checkpoint, _ := bytes.Cut(proof.Encode(), []byte("\n\n"))
	record.Log = &activity.LogProof{Index: proof.Index, Checkpoint: string(checkpoint), Proof: string(lines) + "\n"}
	return nil
}

// LogAdvance signs the log of an organization as it is now, and proves that it extends
// that of the first old leaves: what a witness that has seen those takes. The error is
// translog.ErrShorter if there are fewer, and an *activity.Error if there is no log, or
// no Config.LogSigner.
func (e *Engine) LogAdvance(ctx context.Context, organizationID string, old int64) (*translog.Advance, error) {
	if err := e.signsLogOf(ctx, organizationID); err != nil {
		return nil, err
	}
	return store.Advance(ctx, e.config.Store.(store.Log), e.config.LogSigner, organizationID, old)
}

// LogProof proves that the activity of an id is in the log of an organization, as it is
// now. The error is an *activity.Error of the reason RESOURCE_NOT_FOUND if there is no
// such leaf, no log, or no Config.LogSigner.
func (e *Engine) LogProof(ctx context.Context, organizationID, id string) (*translog.Proof, error) {
	if err := e.signsLogOf(ctx, organizationID); err != nil {
		return nil, err
	}
	proof, err := store.Prove(ctx, e.config.Store.(store.Log), e.config.LogSigner, organizationID, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, activity.NewError(activity.ReasonNotFound, "", err, "organization %s has no leaf of the id %q", organizationID, shorten(id))
	}
	return proof, err
}

// signsLogOf returns an error unless there is a log of an organization and a key for it.
func (e *Engine) signsLogOf(ctx context.Context, organizationID string) error {
	if e.config.LogSigner == nil {
		return activity.NewError(activity.ReasonNotFound, "", nil, "no log is kept and signed here: the configuration names no key for it")
	}
	if _, err := e.config.Directory.Organization(ctx, organizationID); err != nil {
		return activity.NewError(activity.ReasonNotFound, "", err, "there is no organization %q", shorten(organizationID))
	}
	return nil
}
