package activity

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// storedSchema is the version of what Encode writes.
const storedSchema = "countersign.activity/1"

// stored is a record in a store: the body once, the result once, and where in
// the body the parameters are.
type stored struct {
	Schema     string          `json:"schema"`
	ID         string          `json:"id"`
	Body       string          `json:"body"`
	Result     json.RawMessage `json:"result"`
	Voter      Voter           `json:"voter"`
	AppProofs  []AppProof      `json:"appProofs"`
	CreatedAt  time.Time       `json:"createdAt"`
	UpdatedAt  time.Time       `json:"updatedAt"`
	Type       Type            `json:"type"`
	Time       int64           `json:"timestampMs"`
	Org        string          `json:"organizationId"`
	Proofs     bool            `json:"generateAppProofs"`
	Hash       []byte          `json:"fingerprint"`
	Parameters [2]int          `json:"parameters"`
}

// Encode returns the record for a store, in the form of stored.
func (r *Record) Encode() []byte {
	request := r.Request
	dst := make([]byte, 0, len(request.Body)+len(request.Body)/4+encodedOverhead)
	dst = append(dst, '{')
	dst = appendTextMember(dst, "schema", storedSchema)
	dst = appendTextMember(dst, "id", r.ID)
	dst = appendText(appendMember(dst, "body"), request.Body)
	dst = AppendResult(appendMember(dst, "result"), r.Result)
	dst = r.Voter.appendStored(appendMember(dst, "voter"))
	dst = r.appendAppProofs(dst)
	dst = appendRFC3339(appendMember(dst, "createdAt"), r.CreatedAt)
	dst = appendRFC3339(appendMember(dst, "updatedAt"), r.UpdatedAt)
	dst = appendTextMember(dst, "type", string(request.Type))
	dst = strconv.AppendInt(appendMember(dst, "timestampMs"), request.TimestampMs, 10)
	dst = appendTextMember(dst, "organizationId", request.OrganizationID)
	dst = strconv.AppendBool(appendMember(dst, "generateAppProofs"), request.GenerateAppProofs)
	dst = append(appendMember(dst, "fingerprint"), '"')
	dst = base64.StdEncoding.AppendEncode(dst, request.Fingerprint[:])
	dst = append(dst, '"')
	dst = append(appendMember(dst, "parameters"), '[')
	dst = strconv.AppendInt(dst, int64(request.parameters.Start), 10)
	dst = strconv.AppendInt(append(dst, ','), int64(request.parameters.End), 10)
	return append(dst, "]}"...)
}

// encodedOverhead is about how long the encoding is beside the body.
const encodedOverhead = 1536

func (v *Voter) appendStored(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendTextMember(dst, "voteId", v.VoteID)
	dst = appendTextMember(dst, "userId", v.UserID)
	dst = appendTextMember(dst, "userName", v.UserName)
	dst = appendRFC3339(appendMember(dst, "userSince"), v.UserSince)
	dst = appendTextMember(dst, "credential", v.Credential)
	dst = appendTextMember(dst, "publicKey", v.PublicKey)
	dst = appendTextMember(dst, "signature", v.Signature)
	dst = appendTextMember(dst, "scheme", v.Scheme)
	return append(dst, '}')
}

// DecodeRecord reads what Encode returned. The body is not read again: what was
// taken once stays readable when Decode has become stricter. The request of the
// record has no Intent.
func DecodeRecord(encoded []byte) (*Record, error) {
	var form stored
	if err := json.Unmarshal(encoded, &form); err != nil {
		return nil, fmt.Errorf("stored activity: %w", err)
	}
	span := strictjson.Span{Start: form.Parameters[0], End: form.Parameters[1]}
	switch {
	case form.Schema != storedSchema:
		return nil, fmt.Errorf("stored activity: schema %q, this version reads %q", form.Schema, storedSchema)
	case len(form.Hash) != len(Fingerprint{}):
		return nil, errors.New("stored activity: fingerprint is not 32 bytes")
	case span.Start < 0 || span.Start > span.End || span.End > len(form.Body):
		return nil, errors.New("stored activity: the parameters are not inside the body")
	}
	result, err := decodeResult(form.Type, form.Result)
	if err != nil {
		return nil, err
	}
	return &Record{
		ID: form.ID, Result: result, Voter: form.Voter, AppProofs: form.AppProofs,
		CreatedAt: form.CreatedAt, UpdatedAt: form.UpdatedAt,
		Request: &Request{
			Type: form.Type, TimestampMs: form.Time, OrganizationID: form.Org,
			GenerateAppProofs: form.Proofs, Body: []byte(form.Body),
			Fingerprint: Fingerprint(form.Hash), parameters: span,
		},
	}, nil
}

func decodeResult(kind Type, encoded []byte) (Result, error) {
	var err error
	switch kind {
	case TypeSignTransaction:
		var result SignTransactionResult
		err = json.Unmarshal(encoded, &result)
		return result, err
	case TypeInitOTPAuth:
		var result InitOTPAuthResult
		err = json.Unmarshal(encoded, &result)
		return result, err
	case TypeVerifyOTP:
		var result VerifyOTPResult
		err = json.Unmarshal(encoded, &result)
		return result, err
	case TypeSignRawPayload:
		var result SignRawPayloadResult
		err = json.Unmarshal(encoded, &result)
		return result, err
	case TypeSignRawPayloads:
		var result SignRawPayloadsResult
		err = json.Unmarshal(encoded, &result)
		return result, err
	}
	return nil, fmt.Errorf("stored activity: unknown type %q", kind)
}
