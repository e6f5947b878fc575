package activity_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
)

func proofKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	testenv.Must(t, err)
	return key
}

var somePayload = activity.AppProofPayload{
	TimestampMs: 1763650000000, OrganizationID: "org <1>", ActivityID: "a", ActivityType: activity.TypeSignTransaction,
	Fingerprint: "sha256:00", Outcome: activity.StatusCompleted, ResultDigest: "11", SummaryDigest: "22",
}

func TestAppProof(t *testing.T) {
	key := proofKey(t)
	for range 64 { // enough for r and s with leading zeros
		proof, err := activity.NewAppProof(key, somePayload)
		testenv.Must(t, err)
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
	testenv.Must(t, err)
	want := `{"type":"APP_PROOF_TYPE_ACTIVITY_OUTCOME","timestampMs":"1763650000000","activityOutcomeProof":{"organizationId":"org <1>","activityId":"a","activityType":"ACTIVITY_TYPE_SIGN_TRANSACTION_V2","fingerprint":"sha256:00","outcome":"ACTIVITY_STATUS_COMPLETED","resultDigest":"11"}}`
	if proof.ProofPayload != want {
		t.Errorf("%s\nwant\n%s", proof.ProofPayload, want)
	}
}

func TestAppProofOfAnotherKey(t *testing.T) {
	trusted, other := proofKey(t), proofKey(t)
	proof, err := activity.NewAppProof(other, somePayload)
	testenv.Must(t, err)
	if _, err := activity.VerifyAppProof(proof, &trusted.PublicKey); !errors.Is(err, activity.ErrAppProof) {
		t.Errorf("a well-formed proof by another key: %v", err)
	}
	// The same proof with the trusted key written into it.
	own, err := activity.NewAppProof(trusted, somePayload)
	testenv.Must(t, err)
	proof.PublicKey = own.PublicKey
	if _, err := activity.VerifyAppProof(proof, &trusted.PublicKey); !errors.Is(err, activity.ErrAppProof) {
		t.Errorf("another key's signature under the trusted key's name: %v", err)
	}
}

// TestAppProofMutations changes every character of every member.
func TestAppProofMutations(t *testing.T) {
	key := proofKey(t)
	proof, err := activity.NewAppProof(key, somePayload)
	testenv.Must(t, err)
	for _, member := range []func(*activity.AppProof) *string{
		func(p *activity.AppProof) *string { return &p.Scheme },
		func(p *activity.AppProof) *string { return &p.PublicKey },
		func(p *activity.AppProof) *string { return &p.ProofPayload },
		func(p *activity.AppProof) *string { return &p.Signature },
	} {
		text := *member(&proof)
		for i := range len(text) {
			for _, changed := range []string{
				text[:i] + string([]byte{text[i] ^ 1}) + text[i+1:],
				text[:i] + string([]byte{text[i] ^ 0x20}) + text[i+1:],
				text[:i] + text[i+1:],
				text[:i],
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
	testenv.Must(t, err)
	if _, err := activity.NewAppProof(wrong, somePayload); err == nil || !strings.Contains(err.Error(), "expected an ECDSA key on P-256") {
		t.Errorf("error %v", err)
	}
	proof, err := activity.NewAppProof(proofKey(t), somePayload)
	testenv.Must(t, err)
	for _, trusted := range []*ecdsa.PublicKey{nil, &wrong.PublicKey, offCurve} {
		if _, err := activity.VerifyAppProof(proof, trusted); err == nil || !strings.Contains(err.Error(), "trusted key: ") {
			t.Errorf("under %v: %v", trusted, err)
		}
	}
}

// offCurve is not a point on P-256.
var offCurve = func() *ecdsa.PublicKey {
	other, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		panic(err)
	}
	other.Curve = elliptic.P256()
	return &other.PublicKey
}()

// brokenSigner is a proof key, such as one in an HSM, that returns something other than a
// signature.
type brokenSigner struct {
	public *ecdsa.PublicKey
	answer string // hex
	err    error
}

func (s brokenSigner) Public() crypto.PublicKey { return s.public }

func (s brokenSigner) Sign(io.Reader, []byte, crypto.SignerOpts) ([]byte, error) {
	answer, _ := hex.DecodeString(s.answer)
	return answer, s.err
}

// TestBrokenProofKey: only a P-256 signature in DER becomes a proof.
func TestBrokenProofKey(t *testing.T) {
	public := &proofKey(t).PublicKey
	absent := errors.New("the token is absent")
	if _, err := activity.NewAppProof(brokenSigner{public, "3006020101020101", absent}, somePayload); !errors.Is(err, absent) {
		t.Errorf("error %v, want that of the signer", err)
	}
	if _, err := activity.NewAppProof(brokenSigner{offCurve, "3006020101020101", nil}, somePayload); err == nil || !strings.HasPrefix(err.Error(), "proof key: ") {
		t.Errorf("a point that is not on the curve: %v", err)
	}
	wide := "022101" + strings.Repeat("00", 32)
	for name, answer := range map[string]string{
		"nothing": "", "raw": strings.Repeat("11", 64), "bytes behind it": "300602010102010100",
		"r is 0": "3006020100020101", "s is 0": "3006020101020100", "r below 0": "30060201ff020101", "s below 0": "30060201010201ff",
		"r too long": "3026" + wide + "020101", "s too long": "3026020101" + wide,
	} {
		_, err := activity.NewAppProof(brokenSigner{public, answer, nil}, somePayload)
		if err == nil || !strings.Contains(err.Error(), "something other than a P-256 signature") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestAppProofOfAnotherPayload: a text signed by the trusted key that is not the payload of
// an app proof is refused.
func TestAppProofOfAnotherPayload(t *testing.T) {
	key := proofKey(t)
	proof, err := activity.NewAppProof(key, somePayload)
	testenv.Must(t, err)
	for text, problem := range map[string]string{
		"{}": "type",
		strings.Replace(proof.ProofPayload, "APP_PROOF_TYPE_ACTIVITY_OUTCOME", "APP_PROOF_TYPE_ADDRESS_DERIVATION", 1): "unknown type",
		strings.Replace(proof.ProofPayload, "1763650000000", "-1", 1):                                                  "timestampMs",
		strings.Replace(proof.ProofPayload, `"outcome"`, `"result"`, 1):                                                "unknown member",
	} {
		digest := sha256.Sum256([]byte(text))
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		testenv.Must(t, err)
		raw := make([]byte, 64)
		r.FillBytes(raw[:32])
		s.FillBytes(raw[32:])
		proof.ProofPayload, proof.Signature = text, hex.EncodeToString(raw)
		if _, err := activity.VerifyAppProof(proof, &key.PublicKey); !errors.Is(err, activity.ErrAppProof) || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: error %v, want one about %s", text, err, problem)
		}
	}
}
