package activity

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
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
	var text struct {
		kind, timestamp []byte
		parameters      parameterText
	}
	err := strictjson.Read(body, "body",
		required("type", &text.kind),
		required("timestampMs", &text.timestamp),
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
	request.Type = typeOf(text.kind)
	if request.TimestampMs, err = parseTimestamp(text.timestamp); err != nil {
		return nil, err
	}
	if err := checkOrganizationID(request.OrganizationID); err != nil {
		return nil, err
	}
	text.parameters = parameterText{what: "parameters", text: request.Parameters(), start: request.parameters.Start,
		enveloped: true}
	operation, err := operationOf(request.Type)
	if err != nil {
		return nil, err
	}
	intent, proofs, err := operation.decode(&text.parameters)
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
		var all [maxParameters]strictjson.Field
		fields = append(append(all[:0], fields...), strictjson.Optional("generateAppProofs", &p.proofs))
	}
	err = strictjson.Read(p.text, p.what, fields...)
	if malformed, ok := errors.AsType[*strictjson.Error](err); ok {
		malformed.Offset += p.start
	}
	return p.proofs, refuseJSON(err)
}

// maxParameters is how many members are read without a list of them on the heap.
const maxParameters = 8

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

// parseTimestamp parses milliseconds since the epoch: decimal digits without leading
// zeros.
func parseTimestamp[T string | []byte](digits T) (int64, error) {
	text := []byte(digits)
	if len(text) == 0 || len(text) > maxTimestampDigits || len(bytes.Trim(text, "0123456789")) > 0 || text[0] == '0' {
		return 0, NewError(ReasonRequestInvalid, "timestampMs", nil,
			"timestampMs %s: expected milliseconds since the epoch, as a string of at most %d decimal digits",
			quoted(string(text)), maxTimestampDigits)
	}
	return strconv.ParseInt(string(text), 10, 64)
}

func checkOrganizationID(id string) error {
	if id == "" {
		return NewError(ReasonRequestInvalid, "organizationId", nil, "organizationId is empty")
	}
	return nil
}
