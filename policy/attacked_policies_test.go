package policy_test

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/engines"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// attacked is a request of a thief, who holds the credential of a user, and the policy that must
// refuse it: a sample of the documentation, or its text.
type attacked struct {
	Class, Sample, Policy string
	Ours                  string // an address of the sample, of which the key's takes the place
	Key, Secret           string
	User                  string
	Tags                  []string
	Type, Payload         string
}

// TestAttackedPolicies sends requests that policies once signed without what their authors
// relied on, 20 of each in a row.
func TestAttackedPolicies(t *testing.T) {
	content := testenv.Read(t, "testdata/attacked_policies.json")
	var cases []attacked
	testenv.JSON(t, content, &cases)
	samples := testenv.SamplePolicies(t)
	for _, one := range cases {
		t.Run(one.Class, func(t *testing.T) {
			secret := testenv.Hex(t, one.Secret)
			curve := keystore.CurveSecp256k1
			if one.Type == string(activity.TransactionTypeSolana) {
				curve = keystore.CurveEd25519
			}
			text := one.Policy
			if one.Sample != "" {
				text = samples[one.Sample]
			}
			if one.Ours != "" {
				text = strings.ReplaceAll(text, one.Ours, "Bow1CGKGDB9mNxeWdw85E2aCthQ1oZX4oFEe7fYT17ew")
			}
			file := engines.Policy(t, text, nil)
			f := enginetest.New(t, func(c *countersign.Config) { c.Policy, c.AllowHazards = file, nil })
			info, err := f.Signing.Keystore.(*memory.Store).Add(t.Context(), enginetest.Organization, keystore.NewKey{ID: one.Key, Name: one.Key, Curve: curve, Secret: secret})
			testenv.Must(t, err)
			as := f.Engine.As(access.User{ID: one.User, Name: one.User, Tags: one.Tags}, "")
			for range 20 {
				if one.Type == "eip712" {
					_, err = as.SignMessage(t.Context(), enginetest.Organization, activity.SignMessageIntent{SignWith: info.ID, Payload: one.Payload, Encoding: activity.EncodingEIP712, HashFunction: activity.HashNone})
				} else {
					_, err = as.SignTransaction(t.Context(), enginetest.Organization, activity.SignTransactionIntent{SignWith: info.ID, Type: activity.TransactionType(one.Type), UnsignedTransaction: one.Payload})
				}
				enginetest.Refusal(t, err, activity.ReasonNotAuthorized, "")
			}
			f.WantSignatures(t, 0)
		})
	}
}
