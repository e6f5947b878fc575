package approvals_test

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// TestProofOfUnsigned checks the app proof of activities that waited and ended without
// a signature: it has their outcome, and the summary that their voters were shown.
func TestProofOfUnsigned(t *testing.T) {
	for name, test := range map[string]struct {
		status activity.Status
		end    func(b *ballot.Ballot, waiting *activity.Record) error
	}{
		"rejected by a vote": {activity.StatusRejected, func(b *ballot.Ballot, waiting *activity.Record) error {
			_, err := b.Vote(b.Ann, activity.TypeRejectActivity, waiting)
			return err
		}},
		"too old, by a vote": {activity.StatusRejected, func(b *ballot.Ballot, waiting *activity.Record) error {
			b.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
			_, err := b.Vote(b.Ann, activity.TypeApproveActivity, waiting)
			return err
		}},
		"too old, by a sweep": {activity.StatusRejected, func(b *ballot.Ballot, _ *activity.Record) error {
			b.Clock.Advance(countersign.DefaultMaxWaiting + time.Second)
			b.Resume()
			return nil
		}},
		"failed": {activity.StatusFailed, func(b *ballot.Ballot, waiting *activity.Record) error {
			secret, err := hex.DecodeString(enginetest.Secret)
			if err != nil {
				return err
			}
			other := memory.New()
			if _, err := other.Add(b.T.Context(), enginetest.Organization, keystore.NewKey{ID: "key-9", Curve: keystore.CurveSecp256k1, Secret: secret}); err != nil {
				return err
			}
			b.Approve(b.Ann, waiting)
			b.Config.Keystore = other // the reading names another key now
			b.Engine = b.Second(b.T)
			b.Approve(b.Ben, waiting)
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := ballot.New(t, withSharedMemory)
			waiting := enginetest.MustSubmit(t, b.Engine, b.APIKey.Sign(b.Body(enginetest.Request{Proofs: true})))
			testenv.Must(t, test.end(b, waiting))
			ended := b.Stored(waiting)
			if ended.Status != test.status || len(ended.AppProofs) != 1 {
				t.Fatalf("%s with %d proofs", ended.Status, len(ended.AppProofs))
			}
			proven, err := activity.VerifyAppProof(ended.AppProofs[0], &b.ProofKey.PublicKey)
			testenv.Must(t, err)
			shown := waiting.Reading.SummaryDigest()
			if proven.Outcome != test.status || proven.ActivityID != waiting.ID || proven.SummaryDigest != hex.EncodeToString(shown[:]) {
				t.Errorf("the proof is %+v", proven)
			}
		})
	}
}
