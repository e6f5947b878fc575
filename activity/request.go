package activity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Fingerprint is the SHA-256 of a request's body. Two requests with the same
// fingerprint are the same request.
type Fingerprint [32]byte

// String returns "sha256:" and lower-case hex, as in the API.
func (f Fingerprint) String() string { return "sha256:" + hex.EncodeToString(f[:]) }

// MarshalText implements encoding.TextMarshaler with the form of String.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Submitter is who makes a call without a stamp. The engine writes it into the body that it
// records for the call; a body that was sent with a stamp must not have it.
type Submitter struct {
	UserID string `json:"userId"`
	Scheme string `json:"scheme"` // see SchemeLocal
}

// Request is a submitted body that was parsed strictly and once. Finding the organization,
// verifying the stamp and carrying out the intent all use it, so that they cannot disagree
// on what the body says.
type Request struct {
	Type              Type
	TimestampMs       int64 // by the client's clock, in milliseconds since the epoch
	OrganizationID    string
	GenerateAppProofs bool
	Submitter         Submitter   // of the body of a call; otherwise empty
	Intent            Intent      // the parsed parameters; nil in a stored record
	Body              []byte      // exactly as received: what the stamp covers
	Fingerprint       Fingerprint // of Body

	parameters strictjson.Span // in Body
}

// Parameters returns the parameters exactly as submitted.
func (r *Request) Parameters() []byte { return r.parameters.Of(r.Body) }

// Time returns TimestampMs as a time.
func (r *Request) Time() time.Time { return time.UnixMilli(r.TimestampMs) }

// Decode parses a body:
//
//	{ "type": …, "timestampMs": "…", "organizationId": "…", "parameters": {…}, "generateAppProofs": …, "submitter": {…} }
//
// with members in any order. generateAppProofs is optional; some clients put it inside
// parameters, and it is true if either is. submitter is only in the body of a call. The request
// keeps the body, which the caller must not modify afterwards. The error is an [*Error] with
// REQUEST_INVALID that names the member.
func Decode(body []byte) (*Request, error) {
	request := &Request{Body: body}
	var timestamp string
	err := strictjson.Read(body, "body",
		required("type", (*string)(&request.Type)),
		required("timestampMs", &timestamp),
		required("organizationId", &request.OrganizationID),
		strictjson.Required("parameters", &request.parameters),
		strictjson.Optional("generateAppProofs", &request.GenerateAppProofs),
		strictjson.Optional("submitter", func(reader *strictjson.Reader) error {
			return reader.Object(required("userId", &request.Submitter.UserID),
				required("scheme", &request.Submitter.Scheme))
		}),
	)
	if err != nil {
		return nil, refuseJSON(err)
	}
	if request.TimestampMs, err = parseTimestamp(timestamp); err != nil {
		return nil, err
	}
	if err := checkOrganizationID(request.OrganizationID); err != nil {
		return nil, err
	}
	operation, err := operationOf(request.Type)
	if err != nil {
		return nil, err
	}
	intent, proofs, err := operation.decode(&parameterText{what: "parameters", text: request.Parameters(),
		start: request.parameters.Start, enveloped: true})
	if err != nil {
		return nil, err
	}
	request.Intent, request.GenerateAppProofs = intent, request.GenerateAppProofs || proofs
	request.Fingerprint = sha256.Sum256(body)
	return request, nil
}

// parameterText is the parameters of an operation as they were sent.
type parameterText struct {
	what      string // as errors call it
	text      []byte
	start     int  // where they begin in the body: what errors say is relative to that
	enveloped bool // they may ask for app proofs
	proofs    bool
}

// read parses the parameters, and reports whether they ask for app proofs.
func (p *parameterText) read(fields ...strictjson.Field) (proofs bool, err error) {
	if p.enveloped {
		fields = append(fields, strictjson.Optional("generateAppProofs", &p.proofs))
	}
	err = strictjson.Read(p.text, p.what, fields...)
	if malformed, ok := errors.AsType[*strictjson.Error](err); ok {
		malformed.Offset += p.start
	}
	return p.proofs, refuseJSON(err)
}

func refuseJSON(err error) error {
	malformed, ok := errors.AsType[*strictjson.Error](err)
	if !ok {
		return err
	}
	return NewError(ReasonRequestInvalid, malformed.Path, err, "%v", err)
}

// maxTimestampDigits allows times until the year 2286, so that differences of times do not
// overflow.
const maxTimestampDigits = 13

// parseTimestamp parses milliseconds since the epoch: decimal digits without leading zeros.
func parseTimestamp(text string) (int64, error) {
	if text == "" || len(text) > maxTimestampDigits || strings.Trim(text, "0123456789") != "" || text[0] == '0' {
		return 0, NewError(ReasonRequestInvalid, "timestampMs", nil,
			"timestampMs %s: expected milliseconds since the epoch, as a string of at most %d decimal digits",
			quoted(text), maxTimestampDigits)
	}
	return strconv.ParseInt(text, 10, 64)
}

func checkOrganizationID(id string) error {
	if id == "" {
		return NewError(ReasonRequestInvalid, "organizationId", nil, "organizationId is empty")
	}
	return nil
}

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
