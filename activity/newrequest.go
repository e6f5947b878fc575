package activity

import (
	"reflect"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Envelope has the members of a request other than its intent.
type Envelope struct {
	OrganizationID    string
	Time              time.Time // by the client's clock; truncated to milliseconds
	GenerateAppProofs bool
	Submitter         Submitter // of a call without a stamp; a request with a stamp has none
}

// NewRequest returns a request with its body, for clients to stamp and send. Optional
// members that the intent does not set are omitted. The body is checked with [Decode]: if
// a server would refuse it, the error is the [*Error] that the server would return.
//
// Sending the same body again returns the recorded answer. A body with a later time, even
// by a millisecond, is a new request.
func NewRequest(envelope Envelope, intent Intent) (*Request, error) {
	if intent == nil {
		return nil, NewError(ReasonRequestInvalid, "parameters", nil, "the intent is missing")
	}
	if envelope.Time.IsZero() {
		return nil, NewError(ReasonRequestInvalid, "timestampMs", nil, "Envelope.Time is missing")
	}
	parameters, err := strictjson.Marshal(intent)
	if err != nil {
		return nil, NewError(ReasonRequestInvalid, "parameters", err, "parameters: %v", err)
	}
	body := appendTextMember([]byte{'{'}, "type", string(intent.ActivityType()))
	body = appendTextMembers(body, "timestampMs", strconv.FormatInt(envelope.Time.UnixMilli(), 10),
		"organizationId", envelope.OrganizationID)
	body = append(appendMember(body, "parameters"), parameters...)
	if envelope.GenerateAppProofs {
		body = appendRawMember(body, "generateAppProofs", "true")
	}
	if envelope.Submitter != (Submitter{}) {
		submitter, err := strictjson.Marshal(envelope.Submitter)
		if err != nil {
			return nil, NewError(ReasonRequestInvalid, "submitter", err, "submitter: %v", err)
		}
		body = appendRawMember(body, "submitter", string(submitter))
	}
	request, err := Decode(append(body, '}'))
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(request.Intent, intent) || request.OrganizationID != envelope.OrganizationID ||
		request.Submitter != envelope.Submitter {
		return nil, NewError(ReasonRequestInvalid, "parameters", nil,
			"%T: the intent does not survive encoding as JSON: it is a pointer, a text in it is not UTF-8, or a "+
				"member has no JSON name", intent)
	}
	return request, nil
}
