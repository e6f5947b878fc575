package countersign

import (
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/translog"
)

// log checks that the activity is in the log.
func (v *verification) log() (string, error) {
	carried := v.activity.Log
	if carried == nil {
		return "", errors.New("there is no proof of it: ask for one with generateAppProofs, of a server that keeps a log")
	}
	encoded := []byte(carried.Proof + "\n" + carried.Checkpoint)
	leaf, err := translog.VerifyProof(encoded, v.trust.LogKey)
	if err != nil {
		return "", err
	}
	proof, err := translog.ParseProof(encoded)
	switch {
	case err != nil:
		return "", err
	case proof.Index != carried.Index:
		return "", fmt.Errorf("the proof is of leaf %d, and not of %d", proof.Index, carried.Index)
	case leaf.Fingerprint != v.request.Fingerprint:
		return "", errors.New("the leaf is of the answer to another body")
	case leaf.ID != v.activity.ID, leaf.Organization != v.request.OrganizationID:
		return "", fmt.Errorf("the leaf is of another activity, %s", shorten(leaf.ID))
	}
	return "", nil
}
