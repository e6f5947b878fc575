package activity

import (
	"encoding/json"
	"errors"
	"fmt"
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
	AppProofs  []AppProof      `json:"appProofs,omitempty"`
	CreatedAt  time.Time       `json:"createdAt"`
	UpdatedAt  time.Time       `json:"updatedAt"`
	Type       Type            `json:"type"`
	Time       int64           `json:"timestampMs"`
	Org        string          `json:"organizationId"`
	Proofs     bool            `json:"generateAppProofs,omitempty"`
	Hash       []byte          `json:"fingerprint"`
	Parameters [2]int          `json:"parameters"`
}

// Encode returns the record for a store.
func (r *Record) Encode() ([]byte, error) {
	request := r.Request
	return json.Marshal(stored{
		Schema: storedSchema, ID: r.ID, Body: string(request.Body),
		Result: AppendResult(nil, r.Result), Voter: r.Voter, AppProofs: r.AppProofs,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		Type: request.Type, Time: request.TimestampMs, Org: request.OrganizationID,
		Proofs: request.GenerateAppProofs, Hash: request.Fingerprint[:],
		Parameters: [2]int{request.parameters.Start, request.parameters.End},
	})
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
	}
	return nil, fmt.Errorf("stored activity: unknown type %q", kind)
}
