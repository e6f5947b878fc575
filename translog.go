package countersign

import (
	"bytes"
	"context"
	"errors"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// LogPolicy appends a leaf to the log of an organization that says that the policy with
// the given SHA-256 is in force from now on. Without Config.Log it does nothing.
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

// AdoptRecords appends the records of an organization that are older than its log to
// the log, in one batch, if the log is empty, and returns how many. Call it on one node
// only, at the first start with a log, before requests are served. Without Config.Log it
// does nothing.
func (e *Engine) AdoptRecords(ctx context.Context, organizationID string) (int, error) {
	if !e.config.Log {
		return 0, nil
	}
	adopted, err := store.Adopt(ctx, e.config.Store, e.config.Store.(store.Log), organizationID, leafOf)
	if err == nil && adopted > 0 {
		e.config.Logger.InfoContext(ctx, "added records older than the log to it", "organization", organizationID, "records", adopted)
	}
	return adopted, err
}

// leafOf returns the encoded leaf of a record: it commits to the bytes that are stored.
func leafOf(recorded *store.Activity) ([]byte, error) {
	leaf := translog.NewLeaf(recorded.OrganizationID, recorded.ID, recorded.Fingerprint, recorded.Data)
	return leaf.Encode()
}

// proveLogged adds the log proof to an answer if its request asked for proofs.
func (e *Engine) proveLogged(ctx context.Context, record *activity.Record) error {
	if record == nil || !record.Request.GenerateAppProofs {
		return nil
	}
	return e.ProveLogged(ctx, record)
}

// ProveLogged adds the proof that it is in the log to a record that Submit or
// GetActivity returned, whether or not its request asked for proofs. The answer then
// carries the proof. The proof of a record is always the same. Without
// Config.LogSigner, or if the record waits or is older than the log, ProveLogged adds
// nothing. The error is an *activity.Error.
func (e *Engine) ProveLogged(ctx context.Context, record *activity.Record) error {
	if e.config.LogSigner == nil || record.Status.Waits() {
		return nil
	}
	proof, err := store.ProveRecorded(ctx, e.config.Store.(store.Log), e.config.LogSigner, record.Request.OrganizationID, record.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return activity.NewError(activity.ReasonUnavailable, "", err, "the activity is recorded, but the proof that it is in the log could not be created: send the same body again")
	}
	lines, checkpoint, _ := bytes.Cut(proof.Encode(), []byte("\n\n"))
	record.Log = &activity.LogProof{Index: proof.Index, Checkpoint: string(checkpoint), Proof: string(lines) + "\n"}
	return nil
}

// LogAdvance signs the current log of an organization, and proves that it extends the
// log of the first old leaves. It is for a witness that has seen those. The error wraps
// translog.ErrShorter if there are fewer leaves, and otherwise is an *activity.Error:
// RESOURCE_NOT_FOUND if there is no such organization, or no Config.LogSigner.
func (e *Engine) LogAdvance(ctx context.Context, organizationID string, old int64) (*translog.Advance, error) {
	if err := e.signsLogOf(ctx, organizationID); err != nil {
		return nil, err
	}
	advance, err := store.Advance(ctx, e.config.Store.(store.Log), e.config.LogSigner, organizationID, old)
	if err != nil && !errors.Is(err, translog.ErrShorter) {
		err = refuseStore(err)
	}
	return advance, err
}

// LogProof proves that the activity with an id is in the current log of an organization.
// The error is an *activity.Error: RESOURCE_NOT_FOUND if there is no such leaf or
// organization, or no Config.LogSigner.
func (e *Engine) LogProof(ctx context.Context, organizationID, id string) (*translog.Proof, error) {
	if err := e.signsLogOf(ctx, organizationID); err != nil {
		return nil, err
	}
	proof, err := store.Prove(ctx, e.config.Store.(store.Log), e.config.LogSigner, organizationID, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, activity.NewError(activity.ReasonNotFound, "", err, "organization %s has no leaf with the id %q", organizationID, shorten(id))
	}
	if err != nil {
		return nil, refuseStore(err)
	}
	return proof, nil
}

// signsLogOf refuses an organization that is not in the directory, if there is one, and
// all if no log is signed.
func (e *Engine) signsLogOf(ctx context.Context, organizationID string) error {
	if e.config.LogSigner == nil {
		return activity.NewError(activity.ReasonNotFound, "", nil, "this server signs no log: its configuration names no key for it")
	}
	organization, err := e.organizationOf(ctx, organizationID)
	if err == nil && organization == nil && e.config.Directory != nil {
		err = activity.NewError(activity.ReasonNotFound, "", access.ErrOrganizationNotFound, "there is no organization %q", shorten(organizationID))
	}
	return err
}
