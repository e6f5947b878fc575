package activity

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Code is a gRPC status code, which the API uses.
type Code int

// The codes in use.
const (
	CodeInvalidArgument    Code = 3
	CodeNotFound           Code = 5
	CodePermissionDenied   Code = 7
	CodeResourceExhausted  Code = 8
	CodeFailedPrecondition Code = 9
	CodeInternal           Code = 13
	CodeUnavailable        Code = 14
	CodeUnauthenticated    Code = 16
)

// Reason is a stable name for why a request was refused: the turnkeyErrorCode of the API.
type Reason string

// The reasons, each with one code.
const (
	ReasonRequestInvalid             Reason = "REQUEST_INVALID"
	ReasonInvalidTransaction         Reason = "INVALID_TRANSACTION"
	ReasonUnsupportedTransactionType Reason = "UNSUPPORTED_TRANSACTION_TYPE"
	ReasonHazardNotAllowed           Reason = "HAZARD_NOT_ALLOWED"
	ReasonNotAuthorized              Reason = "REQUEST_NOT_AUTHORIZED"
	ReasonLimitExceeded              Reason = "LIMIT_EXCEEDED"
	ReasonInvalidTime                Reason = "INVALID_TIME"
	ReasonSignatureMissing           Reason = "SIGNATURE_MISSING"
	ReasonSignatureInvalid           Reason = "SIGNATURE_INVALID"
	ReasonNotFound                   Reason = "RESOURCE_NOT_FOUND"
	ReasonInvalidEmail               Reason = "INVALID_EMAIL"
	ReasonInvalidPhone               Reason = "INVALID_PHONE"
	ReasonOTPInvalid                 Reason = "OTP_INVALID"
	ReasonRateLimitExceeded          Reason = "RATE_LIMIT_EXCEEDED"
	ReasonMaxOTPInitiated            Reason = "MAX_OTP_INITIATED"
	ReasonConsensusNeeded            Reason = "CONSENSUS_NEEDED" // of a call without a stamp: it waits for approvals
	ReasonHalted                     Reason = "SIGNING_HALTED"
	ReasonUnavailable                Reason = "UNAVAILABLE"
	ReasonInternal                   Reason = "INTERNAL"
)

// Reasons returns all reasons, sorted.
func Reasons() []Reason { return slices.Sorted(maps.Keys(codes)) }

var codes = map[Reason]Code{
	ReasonRequestInvalid:             CodeInvalidArgument,
	ReasonInvalidTransaction:         CodeInvalidArgument,
	ReasonUnsupportedTransactionType: CodeInvalidArgument,
	ReasonHazardNotAllowed:           CodePermissionDenied,
	ReasonNotAuthorized:              CodePermissionDenied,
	ReasonLimitExceeded:              CodePermissionDenied,
	ReasonInvalidTime:                CodeInvalidArgument,
	ReasonSignatureMissing:           CodeUnauthenticated,
	ReasonSignatureInvalid:           CodeUnauthenticated,
	ReasonNotFound:                   CodeNotFound,
	ReasonInvalidEmail:               CodeInvalidArgument,
	ReasonInvalidPhone:               CodeInvalidArgument,
	ReasonOTPInvalid:                 CodeInvalidArgument,
	ReasonRateLimitExceeded:          CodeResourceExhausted,
	ReasonMaxOTPInitiated:            CodeResourceExhausted,
	ReasonConsensusNeeded:            CodeFailedPrecondition,
	ReasonHalted:                     CodePermissionDenied,
	ReasonUnavailable:                CodeUnavailable,
	ReasonInternal:                   CodeInternal,
}

// Code returns the reason's code.
func (r Reason) Code() Code {
	if code, ok := codes[r]; ok {
		return code
	}
	return CodeInternal
}

// Error is a refusal as reported to the caller. All errors of the engine are *Errors. A
// cause that is useful to the program can be found with errors.Is and errors.As.
type Error struct {
	Code    Code
	Reason  Reason
	Message string // a lower-case sentence that says what to do; never has a secret
	Field   string // the member of the request at fault, such as "unsignedTransaction"; may be empty

	// RetryAfter is how long to wait before retrying after LIMIT_EXCEEDED,
	// RATE_LIMIT_EXCEEDED, MAX_OTP_INITIATED or UNAVAILABLE; 0 if unknown.
	RetryAfter time.Duration

	cause error
}

// NewError returns an error with the reason's code. The cause may be nil; it is not shown
// to the caller.
func NewError(reason Reason, field string, cause error, format string, args ...any) *Error {
	return &Error{Code: reason.Code(), Reason: reason, Field: field, Message: fmt.Sprintf(format, args...),
		cause: cause}
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.cause }

// WaitingError is the cause of a refusal with [ReasonConsensusNeeded]: the call is recorded
// and waits for approvals.
type WaitingError struct {
	ID          string // of the activity
	Fingerprint Fingerprint
}

// Error names the activity.
func (e *WaitingError) Error() string { return "activity " + e.ID + " waits for approvals" }

// AppendJSON appends the error in the form of the API:
//
//	{"code":3,"message":"…","details":[{"@type":…,"turnkeyErrorCode":"…"}],"turnkeyErrorCode":"…"}
//
// If a member is at fault, details has another element that names it.
func (e *Error) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendRawMember(dst, "code", strconv.Itoa(int(e.Code)))
	dst = appendTextMember(dst, "message", e.Message)
	dst = appendMember(dst, "details")
	dst = append(dst, `[{"@type":"type.googleapis.com/errors.v1.TurnkeyErrorDetail"`...)
	dst = appendTextMember(dst, "turnkeyErrorCode", string(e.Reason))
	dst = append(dst, '}')
	if e.Field != "" {
		dst = append(dst, `,{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{`...)
		dst = appendTextMembers(dst, "field", e.Field, "description", e.Message)
		dst = append(dst, "}]}"...)
	}
	dst = append(dst, ']')
	dst = appendTextMember(dst, "turnkeyErrorCode", string(e.Reason))
	return append(dst, '}')
}
