package activity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// AppProof is the engine's statement of what it did, signed by its proof key.
// [VerifyAppProof] checks it offline.
type AppProof struct {
	Scheme       string `json:"scheme"`       // AppProofScheme
	PublicKey    string `json:"publicKey"`    // hex of 130 bytes: the uncompressed point twice
	ProofPayload string `json:"proofPayload"` // JSON text, see AppProofPayload
	Signature    string `json:"signature"`    // hex of r ‖ s, 32 bytes each, big-endian, over SHA-256(ProofPayload)
}

// AppProofScheme is the scheme of all app proofs.
const AppProofScheme = "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256"

// ErrAppProof is wrapped by the errors of app proofs that do not verify under the trusted key.
var ErrAppProof = errors.New("app proof does not verify")

// NewAppProof signs a payload with the proof key, which must be an ECDSA key on P-256.
func NewAppProof(proofKey crypto.Signer, payload AppProofPayload) (AppProof, error) {
	pub, ok := proofKey.Public().(*ecdsa.PublicKey)
	if !ok || pub.Curve != elliptic.P256() {
		return AppProof{}, errors.New("proof key: expected an ECDSA key on P-256")
	}
	point, err := pub.Bytes()
	if err != nil {
		return AppProof{}, fmt.Errorf("proof key: %w", err)
	}
	text := payload.appendJSON(nil)
	digest := sha256.Sum256(text)
	der, err := proofKey.Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		return AppProof{}, fmt.Errorf("proof key: %w", err)
	}
	var signature struct{ R, S *big.Int }
	rest, err := asn1.Unmarshal(der, &signature)
	if err != nil || len(rest) > 0 || signature.R.Sign() <= 0 || signature.S.Sign() <= 0 ||
		signature.R.BitLen() > 256 || signature.S.BitLen() > 256 {
		return AppProof{}, errors.New("proof key: the signer returned something other than a P-256 signature")
	}
	return AppProof{
		Scheme:       AppProofScheme,
		PublicKey:    hex.EncodeToString(point) + hex.EncodeToString(point),
		ProofPayload: string(text),
		Signature:    fmt.Sprintf("%064x%064x", signature.R, signature.S),
	}, nil
}

// VerifyAppProof verifies a proof under a key that the caller trusts, not the one in the proof, and
// returns what it proves. The error of a proof that does not verify wraps [ErrAppProof].
func VerifyAppProof(proof AppProof, trusted *ecdsa.PublicKey) (AppProofPayload, error) {
	if err := checkProofKey(proof, trusted); err != nil {
		return AppProofPayload{}, err
	}
	signature, err := hex.DecodeString(proof.Signature)
	if err != nil || len(signature) != 64 || hex.EncodeToString(signature) != proof.Signature {
		return AppProofPayload{}, fmt.Errorf("%w: signature: expected 128 lower-case hex digits", ErrAppProof)
	}
	digest := sha256.Sum256([]byte(proof.ProofPayload))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(trusted, digest[:], r, s) {
		return AppProofPayload{}, fmt.Errorf("%w: wrong signature", ErrAppProof)
	}
	payload, err := parseAppProofPayload([]byte(proof.ProofPayload))
	if err != nil {
		return AppProofPayload{}, fmt.Errorf("%w: %w", ErrAppProof, err)
	}
	return payload, nil
}

func checkProofKey(proof AppProof, trusted *ecdsa.PublicKey) error {
	if trusted == nil || trusted.Curve != elliptic.P256() {
		return errors.New("trusted key: expected an ECDSA key on P-256")
	}
	point, err := trusted.Bytes()
	if err != nil {
		return fmt.Errorf("trusted key: %w", err)
	}
	if proof.Scheme != AppProofScheme {
		return fmt.Errorf("%w: unknown scheme %s", ErrAppProof, quoted(proof.Scheme))
	}
	want := hex.EncodeToString(point) + hex.EncodeToString(point)
	if subtle.ConstantTimeCompare([]byte(proof.PublicKey), []byte(want)) != 1 {
		return fmt.Errorf("%w: signed by a key other than the trusted one", ErrAppProof)
	}
	return nil
}

func (p *AppProof) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendTextMembers(dst, "scheme", p.Scheme, "publicKey", p.PublicKey, "proofPayload", p.ProofPayload,
		"signature", p.Signature)
	return append(dst, '}')
}

const appProofType = "APP_PROOF_TYPE_ACTIVITY_OUTCOME"

// AppProofPayload is what an app proof states: the outcome of a request.
type AppProofPayload struct {
	TimestampMs    int64 // by the engine's clock
	OrganizationID string
	ActivityID     string
	ActivityType   Type
	Fingerprint    string // of the request's body, as in the activity
	Outcome        Status
	ResultDigest   string // lower-case hex SHA-256 of the result as AppendResult encodes it, such as {"signedTransaction":"…"}
	SummaryDigest  string // lower-case hex SHA-256 of the transaction's summary; empty for one-time passwords
	PolicyDigest   string // lower-case hex SHA-256 of the policy file that decided; empty without one
}

// appendJSON appends the payload's only encoding:
//
//	{"type":…,"timestampMs":"…","activityOutcomeProof":{…}}
func (p *AppProofPayload) appendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendTextMembers(dst, "type", appProofType, "timestampMs", strconv.FormatInt(p.TimestampMs, 10))
	dst = appendMember(dst, "activityOutcomeProof")
	dst = append(dst, '{')
	dst = appendTextMembers(dst, "organizationId", p.OrganizationID, "activityId", p.ActivityID,
		"activityType", string(p.ActivityType), "fingerprint", p.Fingerprint, "outcome", string(p.Outcome),
		"resultDigest", p.ResultDigest)
	if p.SummaryDigest != "" {
		dst = appendTextMember(dst, "summaryDigest", p.SummaryDigest)
	}
	if p.PolicyDigest != "" {
		dst = appendTextMember(dst, "policyDigest", p.PolicyDigest)
	}
	return append(dst, "}}"...)
}

func parseAppProofPayload(text []byte) (payload AppProofPayload, err error) {
	var kind, timestamp string
	err = strictjson.Read(text, "proofPayload",
		strictjson.Required("type", &kind),
		strictjson.Required("timestampMs", &timestamp),
		strictjson.Required("activityOutcomeProof", payload.readOutcome),
	)
	if err != nil {
		return payload, err
	}
	if kind != appProofType {
		return payload, fmt.Errorf("proofPayload: unknown type %s", quoted(kind))
	}
	payload.TimestampMs, err = parseTimestamp(timestamp)
	return payload, err
}

func (p *AppProofPayload) readOutcome(reader *strictjson.Reader) error {
	return reader.Object(
		strictjson.Required("organizationId", &p.OrganizationID),
		strictjson.Required("activityId", &p.ActivityID),
		strictjson.Required("activityType", (*string)(&p.ActivityType)),
		strictjson.Required("fingerprint", &p.Fingerprint),
		strictjson.Required("outcome", (*string)(&p.Outcome)),
		strictjson.Required("resultDigest", &p.ResultDigest),
		strictjson.Optional("summaryDigest", &p.SummaryDigest),
		strictjson.Optional("policyDigest", &p.PolicyDigest),
	)
}
