package activity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
)

// Fingerprint is the SHA-256 of a request's body. Two requests with the same
// fingerprint are the same request.
type Fingerprint [32]byte

// String returns the form of the API: "sha256:" and lower-case hex.
func (f Fingerprint) String() string { return "sha256:" + hex.EncodeToString(f[:]) }

// MarshalText writes the form of the API.
func (f Fingerprint) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Request is a submitted body that was read strictly, once. Looking up the
// organization, verifying the stamp and carrying out the intent all go by it,
// so that they cannot disagree on what the body says.
type Request struct {
	Type              Type
	TimestampMs       int64 // of the client's clock, in milliseconds since the epoch
	OrganizationID    string
	GenerateAppProofs bool
	Intent            Intent      // the parameters, read
	Body              []byte      // exactly as it came: what the stamp covers
	Fingerprint       Fingerprint // of Body

	parameters strictjson.Span // in Body
}

// Parameters returns the parameters as they were submitted, byte for byte.
func (r *Request) Parameters() []byte { return r.parameters.Of(r.Body) }

// Time returns when the client says it made the request.
func (r *Request) Time() time.Time { return time.UnixMilli(r.TimestampMs) }

// Decode reads a body:
//
//	{ "type": …, "timestampMs": "…", "organizationId": "…", "parameters": {…}, "generateAppProofs": … }
//
// in any order, generateAppProofs being optional; it may stand inside
// parameters instead, where some clients put it, and is true if either is. The
// request keeps the body, which the caller must not change afterwards. The
// error is an *Error with REQUEST_INVALID that names the member.
func Decode(body []byte) (*Request, error) {
	request := &Request{Body: body}
	var timestamp string
	err := strictjson.Read(body, "body",
		required("type", (*string)(&request.Type)),
		required("timestampMs", &timestamp),
		required("organizationId", &request.OrganizationID),
		strictjson.Required("parameters", &request.parameters),
		strictjson.Optional("generateAppProofs", &request.GenerateAppProofs),
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
	if err := request.decodeIntent(); err != nil {
		return nil, err
	}
	request.Fingerprint = sha256.Sum256(body)
	return request, nil
}

func (r *Request) decodeIntent() error {
	operation, err := operationOf(r.Type)
	if err != nil {
		return err
	}
	intent, proofs, err := operation.decode(r.Parameters(), r.readParameters)
	if err != nil {
		return err
	}
	r.Intent = intent
	r.GenerateAppProofs = r.GenerateAppProofs || proofs
	return nil
}

// parameterReader reads the parameters of an operation, and tells whether they
// ask for app proofs.
type parameterReader func(parameters []byte, fields ...strictjson.Field) (proofs bool, err error)

// readParameters reads parameters that came in an envelope. Offsets in its
// errors are those in the body.
func (r *Request) readParameters(parameters []byte, fields ...strictjson.Field) (proofs bool, err error) {
	fields = append(fields, strictjson.Optional("generateAppProofs", &proofs))
	err = strictjson.Read(parameters, "parameters", fields...)
	var malformed *strictjson.Error
	if errors.As(err, &malformed) {
		malformed.Offset += r.parameters.Start
	}
	return proofs, refuseJSON(err)
}

// readAlone reads parameters that came without.
func readAlone(parameters []byte, fields ...strictjson.Field) (bool, error) {
	return false, refuseJSON(strictjson.Read(parameters, "intent", fields...))
}

// refuseJSON turns an error of the JSON reader into the caller's.
func refuseJSON(err error) error {
	var malformed *strictjson.Error
	if !errors.As(err, &malformed) {
		return err
	}
	return NewError(ReasonRequestInvalid, malformed.Path, err, "%v", err)
}

// maxTimestampDigits reaches the year 2286. Times beyond could not be compared
// with others by their difference.
const maxTimestampDigits = 13

// parseTimestamp reads milliseconds since the epoch: decimal digits without
// leading zeros.
func parseTimestamp(text string) (int64, error) {
	if text == "" || len(text) > maxTimestampDigits || strings.Trim(text, "0123456789") != "" || text[0] == '0' {
		return 0, NewError(ReasonRequestInvalid, "timestampMs", nil,
			"timestampMs %s: milliseconds since the epoch are expected, as a string of at most %d decimal digits", quoted(text), maxTimestampDigits)
	}
	return strconv.ParseInt(text, 10, 64)
}

func checkOrganizationID(id string) error {
	if id == "" {
		return NewError(ReasonRequestInvalid, "organizationId", nil, "organizationId is empty")
	}
	return nil
}
