package countersign

import (
	"context"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// logged returns a record with its leaf, if there is a log: of the bytes that are
// stored.
func (e *Engine) logged(recorded store.Activity) (store.Activity, error) {
	if !e.config.Log || recorded.Waiting {
		return recorded, nil
	}
	leaf := translog.NewLeaf(recorded.OrganizationID, recorded.ID, recorded.Fingerprint, recorded.Data)
	var err error
	recorded.Leaf, err = leaf.Encode()
	return recorded, err
}

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
	_, err = e.config.Store.(store.Log).AppendLeaf(ctx, organizationID, leaf.ID, encoded)
	return err
}
