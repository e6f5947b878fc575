package activity

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
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

// usualRecord is about how many bytes a record has in addition to its body.
const usualRecord = 2 << 10

// Encode returns the record in the form for a store: the JSON of storedRecord. What each record
// has is appended; the rest is left to encoding/json.
func (r *Record) Encode() []byte {
	request := r.Request
	dst := append(make([]byte, 0, len(request.Body)+len(request.Body)/8+usualRecord), `{"schema":"`+storedSchema+`"`...)
	dst = appendTextMembers(dst, "id", r.ID, "type", string(request.Type), "status", string(r.Status),
		"organizationId", request.OrganizationID)
	dst = strconv.AppendInt(appendMember(dst, "timestampMs"), request.TimestampMs, 10)
	if request.GenerateAppProofs {
		dst = appendRawMember(dst, "generateAppProofs", "true")
	}
	dst = append(appendMember(dst, "fingerprint"), '"')
	dst = append(base64.StdEncoding.AppendEncode(dst, request.Fingerprint[:]), '"')
	dst = appendText(appendMember(dst, "body"), request.Body)
	dst = strconv.AppendInt(append(appendMember(dst, "parameters"), '['), int64(request.parameters.Start), 10)
	dst = append(strconv.AppendInt(append(dst, ','), int64(request.parameters.End), 10), ']')
	if r.Result != nil {
		dst = AppendResult(appendMember(dst, "result"), r.Result)
	}
	if r.Failure != nil {
		dst = appendMarshaled(appendMember(dst, "failure"), r.Failure)
	}
	dst = appendList(appendMember(dst, "votes"), r.Votes, (*Vote).appendStored)
	dst = appendMember(dst, "decision")
	if reflect.ValueOf(r.Decision).IsZero() {
		dst = append(dst, "{}"...)
	} else {
		dst = appendMarshaled(dst, &r.Decision)
	}
	if r.Reading != nil {
		dst = appendMarshaled(appendMember(dst, "reading"), r.Reading)
	}
	if r.Did != nil {
		dst = appendMarshaled(appendMember(dst, "did"), r.Did)
	}
	if len(r.AppProofs) > 0 {
		dst = appendMarshaled(appendMember(dst, "appProofs"), r.AppProofs)
	}
	dst = appendTime(appendMember(dst, "createdAt"), r.CreatedAt)
	dst = appendTime(appendMember(dst, "updatedAt"), r.UpdatedAt)
	return append(dst, '}')
}

// appendTime appends a time as encoding/json writes it. Unlike that, it does not refuse years
// beyond 9999, which no clock has.
func appendTime(dst []byte, t time.Time) []byte {
	return append(t.AppendFormat(append(dst, '"'), time.RFC3339Nano), '"')
}

// appendList appends an array; null for nil, as encoding/json does.
func appendList[T any](dst []byte, list []T, element func(*T, []byte) []byte) []byte {
	if list == nil {
		return append(dst, "null"...)
	}
	return appendElements(dst, list, element)
}

func (v *Vote) appendStored(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendTextMembers(dst, "id", v.ID, "userId", v.UserID, "userName", v.UserName)
	dst = appendTime(appendMember(dst, "userSince"), v.UserSince)
	dst = appendTextMembers(dst, "credential", v.Credential, "publicKey", v.PublicKey, "signature", v.Signature,
		"scheme", v.Scheme, "selection", string(v.Selection))
	if v.Message != "" {
		dst = appendTextMember(dst, "message", v.Message)
	}
	dst = appendTime(appendMember(dst, "stampedAt"), v.StampedAt)
	return append(appendTime(appendMember(dst, "createdAt"), v.CreatedAt), '}')
}
