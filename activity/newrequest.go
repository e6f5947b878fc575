package activity

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
)

// Envelope is what a request says beside its intent.
type Envelope struct {
	OrganizationID    string
	Time              time.Time // of the client's clock; milliseconds are kept
	GenerateAppProofs bool
}

// NewRequest writes the body of a request, for clients to stamp and send. What
// is absent from the intent is left out of the body. The body is read back with
// [Decode], so that a request it refuses is never sent: the error is then the
// *Error that a server would answer.
//
// Sending the same body again returns the recorded answer; a new body, made a
// millisecond later, is a new request.
func NewRequest(envelope Envelope, intent Intent) (*Request, error) {
	parameters, err := marshal(intent)
	if err != nil {
		return nil, NewError(ReasonRequestInvalid, "parameters", err, "parameters: %v", err)
	}
	body := appendTextMember([]byte{'{'}, "type", string(intent.ActivityType()))
	body = appendTextMember(body, "timestampMs", strconv.FormatInt(envelope.Time.UnixMilli(), 10))
	body = appendTextMember(body, "organizationId", envelope.OrganizationID)
	body = append(appendMember(body, "parameters"), parameters...)
	if envelope.GenerateAppProofs {
		body = appendRawMember(body, "generateAppProofs", "true")
	}
	request, err := Decode(append(body, '}'))
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(request.Intent, intent) || request.OrganizationID != envelope.OrganizationID {
		return nil, NewError(ReasonRequestInvalid, "parameters", nil,
			"%s: the intent cannot be written as JSON and read back unchanged: a text in it is not UTF-8, or a member has no JSON name", request.Type)
	}
	return request, nil
}

// marshal returns compact JSON, without the escapes that only HTML needs.
func marshal(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(buffer.Bytes()), nil
}
