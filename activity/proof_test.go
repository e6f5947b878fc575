package activity_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
)

func proofKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

var somePayload = activity.AppProofPayload{
	TimestampMs: 1763650000000, OrganizationID: "org <1>", ActivityID: "a", ActivityType: activity.TypeSignTransaction,
	Fingerprint: "sha256:00", Outcome: activity.StatusCompleted, ResultDigest: "11", SummaryDigest: "22",
}

func TestAppProof(t *testing.T) {
	key := proofKey(t)
	for range 64 { // until r and s with leading zeros have come along
		proof, err := activity.NewAppProof(key, somePayload)
		if err != nil {
			t.Fatal(err)
		}
		got, err := activity.VerifyAppProof(proof, &key.PublicKey)
		if err != nil || got != somePayload {
			t.Fatalf("payload %+v, error %v", got, err)
		}
	}
}

func TestAppProofPayloadForm(t *testing.T) {
	payload := somePayload
	payload.SummaryDigest = ""
	proof, err := activity.NewAppProof(proofKey(t), payload)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"APP_PROOF_TYPE_ACTIVITY_OUTCOME","timestampMs":"1763650000000","activityOutcomeProof":{"organizationId":"org <1>","activityId":"a","activityType":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","fingerprint":"sha256:00","outcome":"ACTIVITY_STATUS_COMPLETED","resultDigest":"11"}}`
	if proof.ProofPayload != want {
		t.Errorf("%s\nwant\n%s", proof.ProofPayload, want)
	}
}

func TestAppProofOfAnotherKeyIsRefused(t *testing.T) {
	trusted, other := proofKey(t), proofKey(t)
	proof, err := activity.NewAppProof(other, somePayload)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := activity.VerifyAppProof(proof, &trusted.PublicKey); !errors.Is(err, activity.ErrAppProof) {
		t.Errorf("a well-formed proof by another key: %v", err)
	}
	// The same proof with the trusted key written into it.
	own, err := activity.NewAppProof(trusted, somePayload)
	if err != nil {
		t.Fatal(err)
	}
	proof.PublicKey = own.PublicKey
	if _, err := activity.VerifyAppProof(proof, &trusted.PublicKey); !errors.Is(err, activity.ErrAppProof) {
		t.Errorf("another key's signature under the trusted key's name: %v", err)
	}
}

// TestAppProofMutations changes every character of every member.
func TestAppProofMutations(t *testing.T) {
	key := proofKey(t)
	proof, err := activity.NewAppProof(key, somePayload)
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []func(*activity.AppProof) *string{
		func(p *activity.AppProof) *string { return &p.Scheme },
		func(p *activity.AppProof) *string { return &p.PublicKey },
		func(p *activity.AppProof) *string { return &p.ProofPayload },
		func(p *activity.AppProof) *string { return &p.Signature },
	} {
		text := *member(&proof)
		for at := range len(text) {
			for _, changed := range []string{
				text[:at] + string([]byte{text[at] ^ 1}) + text[at+1:],
				text[:at] + string([]byte{text[at] ^ 0x20}) + text[at+1:],
				text[:at] + text[at+1:],
				text[:at],
			} {
				mutant := proof
				*member(&mutant) = changed
				if _, err := activity.VerifyAppProof(mutant, &key.PublicKey); !errors.Is(err, activity.ErrAppProof) {
					t.Fatalf("verifies with %q: %v", changed, err)
				}
			}
		}
	}
}

func TestProofKeyMustBeP256(t *testing.T) {
	wrong, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := activity.NewAppProof(wrong, somePayload); err == nil || !strings.Contains(err.Error(), "P-256") {
		t.Errorf("error %v", err)
	}
	proof, err := activity.NewAppProof(proofKey(t), somePayload)
	if err != nil {
		t.Fatal(err)
	}
	for _, trusted := range []*ecdsa.PublicKey{nil, &wrong.PublicKey} {
		if _, err := activity.VerifyAppProof(proof, trusted); err == nil {
			t.Errorf("verified under %v", trusted)
		}
	}
}
