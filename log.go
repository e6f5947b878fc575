package countersign

import (
	"bytes"
	"context"
	"errors"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// Log proves what is in the transparency logs of an engine with a Config.LogSigner.
type Log struct{ engine *Engine }

// Log returns the logs of the engine's organizations.
func (e *Engine) Log() Log { return Log{e} }

// proveLogged adds the log proof to an answer if its request asked for proofs.
func (e *Engine) proveLogged(ctx context.Context, record *activity.Record) error {
	if record == nil || !record.Request.GenerateAppProofs {
		return nil
	}
	return e.Log().Prove(ctx, record)
}

// Prove adds the proof that it is in the log to a record that Submit or GetActivity returned,
// whether or not its request asked for proofs. The answer then carries the proof. The proof of a
// record is always the same. Without Config.LogSigner, or if the record waits or is older than the
// log, Prove adds nothing. The error is an *activity.Error.
func (l Log) Prove(ctx context.Context, record *activity.Record) error {
	if l.engine.config.LogSigner == nil || record.Status.Waits() {
		return nil
	}
	proof, err := store.ProveRecorded(ctx, l.engine.can.Log, l.engine.config.LogSigner, record.Request.OrganizationID,
		record.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return activity.NewError(activity.ReasonUnavailable, "", err,
			"the activity is recorded, but the proof that it is in the log could not be created: send the same body again")
	}
	lines, checkpoint, _ := bytes.Cut(proof.Encode(), []byte("\n\n"))
	record.Log = &activity.LogProof{Index: proof.Index, Checkpoint: string(checkpoint), Proof: string(lines) + "\n"}
	return nil
}

// Advance signs the current log of an organization, and proves that it extends the
// log of the first old leaves. It is for a witness that has seen those. The error wraps
// translog.ErrShorter if there are fewer leaves, and otherwise is an *activity.Error:
// RESOURCE_NOT_FOUND if there is no such organization, or no Config.LogSigner.
func (l Log) Advance(ctx context.Context, organizationID string, old int64) (*translog.Advance, error) {
	if err := l.signs(ctx, organizationID); err != nil {
		return nil, err
	}
	advance, err := store.Advance(ctx, l.engine.can.Log, l.engine.config.LogSigner, organizationID, old)
	if err != nil && !errors.Is(err, translog.ErrShorter) {
		err = refuse.Store(err)
	}
	return advance, err
}

// Proof proves that the activity with an id is in the current log of an organization.
// The error is an *activity.Error: RESOURCE_NOT_FOUND if there is no such leaf or
// organization, or no Config.LogSigner.
func (l Log) Proof(ctx context.Context, organizationID, id string) (*translog.Proof, error) {
	if err := l.signs(ctx, organizationID); err != nil {
		return nil, err
	}
	proof, err := store.Prove(ctx, l.engine.can.Log, l.engine.config.LogSigner, organizationID, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, activity.NewError(activity.ReasonNotFound, "", err, "organization %s has no leaf with the id %q",
			organizationID, refuse.Shorten(id))
	}
	if err != nil {
		return nil, refuse.Store(err)
	}
	return proof, nil
}

// signs refuses an organization that is not in the directory, if there is one, and
// all if no log is signed.
func (l Log) signs(ctx context.Context, organizationID string) error {
	if l.engine.config.LogSigner == nil {
		return activity.NewError(activity.ReasonNotFound, "", nil,
			"this server signs no log: its configuration names no key for it")
	}
	organization, err := request.OrganizationOf(ctx, l.engine.config.Directory, organizationID)
	if err == nil && organization == nil && l.engine.config.Directory != nil {
		err = activity.NewError(activity.ReasonNotFound, "", access.ErrOrganizationNotFound,
			"there is no organization %q", refuse.Shorten(organizationID))
	}
	return err
}
