package activity

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// storedSchema is the version of the stored form.
const storedSchema = "countersign.activity/2"

// storedRecord is the form of a record in a store. It has the body once, and the parameters as a
// range of it.
type storedRecord struct {
	Schema     string          `json:"schema"`
	ID         string          `json:"id"`
	Type       Type            `json:"type"`
	Status     Status          `json:"status"`
	Org        string          `json:"organizationId"`
	Time       int64           `json:"timestampMs"`
	Proofs     bool            `json:"generateAppProofs,omitempty"`
	Hash       []byte          `json:"fingerprint"` // base64
	Body       string          `json:"body"`
	Parameters [2]int          `json:"parameters"` // offsets of the parameters in the body
	Result     json.RawMessage `json:"result,omitempty"`
	Failure    *Failure        `json:"failure,omitempty"`
	Votes      []Vote          `json:"votes"`
	Decision   Decision        `json:"decision"`
	Reading    *Reading        `json:"reading,omitempty"`
	Did        *Did            `json:"did,omitempty"`
	AppProofs  []AppProof      `json:"appProofs,omitempty"`
	CreatedAt  time.Time       `json:"createdAt"`
	UpdatedAt  time.Time       `json:"updatedAt"`
}

// DecodeRecord parses what [Record.Encode] returned. It does not parse the body again, so
// that recorded activities stay readable if [Decode] becomes stricter. The record's Request
// has no Intent.
func DecodeRecord(encoded []byte) (*Record, error) {
	var form storedRecord
	if err := json.Unmarshal(encoded, &form); err != nil {
		return nil, fmt.Errorf("stored activity: %w", err)
	}
	if err := form.check(); err != nil {
		return nil, err
	}
	record := &Record{
		ID: form.ID, Status: form.Status, Failure: form.Failure, Votes: form.Votes, Decision: form.Decision,
		Reading: form.Reading, Did: form.Did, AppProofs: form.AppProofs,
		CreatedAt: form.CreatedAt, UpdatedAt: form.UpdatedAt,
		Request: &Request{
			Type: form.Type, TimestampMs: form.Time, OrganizationID: form.Org,
			GenerateAppProofs: form.Proofs, Body: []byte(form.Body), Fingerprint: Fingerprint(form.Hash),
			parameters: strictjson.Span{Start: form.Parameters[0], End: form.Parameters[1]},
		},
	}
	operation, err := operationOf(form.Type)
	if err != nil || operation.result == "" {
		return nil, fmt.Errorf("stored activity: unknown type %q", form.Type)
	}
	if form.Result == nil {
		return record, nil
	}
	if record.Result, err = operation.decodeResult(form.Result); err != nil {
		return nil, fmt.Errorf("stored activity: result: %w", err)
	}
	return record, nil
}

func (s *storedRecord) check() error {
	start, end := s.Parameters[0], s.Parameters[1]
	switch {
	case s.Schema != storedSchema:
		return fmt.Errorf("stored activity: schema %q, this version reads %q", s.Schema, storedSchema)
	case len(s.Hash) != len(Fingerprint{}):
		return errors.New("stored activity: fingerprint is not 32 bytes")
	case start < 0 || start > end || end > len(s.Body):
		return errors.New("stored activity: the parameters are not inside the body")
	case len(s.Votes) == 0:
		return errors.New("stored activity: the submitter's vote is missing")
	case s.Status != StatusCompleted && s.Result != nil, s.Status == StatusCompleted && s.Result == nil:
		return fmt.Errorf("stored activity: status %q does not match the result", s.Status)
	case s.Status.Waits() && s.Reading == nil:
		return errors.New("stored activity: it waits for votes, but what voters are shown is missing")
	}
	return nil
}

// resultOf parses a stored result of one type.
func resultOf[T Result](encoded []byte) (Result, error) {
	var result T
	err := json.Unmarshal(encoded, &result)
	return result, err
}
