package activity

import (
	"fmt"
	"strconv"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

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
