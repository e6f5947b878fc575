package activity

import (
	"fmt"
	"regexp"
	"strings"
)

// Type names what a request asks for, and which version of it.
type Type string

// The activity types that are served.
const (
	TypeInitOTPAuth     Type = "ACTIVITY_TYPE_INIT_OTP_AUTH_V3"
	TypeSignTransaction Type = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2"
	TypeVerifyOTP       Type = "ACTIVITY_TYPE_VERIFY_OTP"
	TypeSignRawPayload  Type = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2"
	TypeSignRawPayloads Type = "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS"
	TypeApproveActivity Type = "ACTIVITY_TYPE_APPROVE_ACTIVITY"
	TypeRejectActivity  Type = "ACTIVITY_TYPE_REJECT_ACTIVITY"
)

// Status is how far an activity has come.
type Status string

// The statuses that activities have. A refused request leaves no activity.
const (
	StatusCompleted       Status = "ACTIVITY_STATUS_COMPLETED"
	StatusConsensusNeeded Status = "ACTIVITY_STATUS_CONSENSUS_NEEDED" // waits for votes
	StatusRejected        Status = "ACTIVITY_STATUS_REJECTED"         // by a vote, or for want of votes
	StatusFailed          Status = "ACTIVITY_STATUS_FAILED"           // had its votes, and can never be carried out
)

// Statuses returns the statuses that activities have.
func Statuses() []Status {
	return []Status{StatusCompleted, StatusConsensusNeeded, StatusRejected, StatusFailed}
}

// Waits reports whether an activity of this status can still change.
func (s Status) Waits() bool { return s == StatusConsensusNeeded }

// Intent is what a request wants done: one of SignTransactionIntent,
// InitOTPAuthIntent, VerifyOTPIntent, SignRawPayloadIntent, SignRawPayloadsIntent,
// VoteIntent.
type Intent interface {
	ActivityType() Type
}

// Redacter is implemented by intents that hold a secret: Redacted returns the
// intent without it, for policies, which may write down what they are asked.
type Redacter interface {
	Redacted() Intent
}

// Personal is implemented by intents with texts, such as mail addresses, that no
// line of a log repeats.
type Personal interface {
	PersonalTexts() []string
}

// Result is what came of it: one of SignTransactionResult, InitOTPAuthResult,
// VerifyOTPResult, SignRawPayloadResult, SignRawPayloadsResult.
type Result interface {
	ActivityType() Type
}

// Operation is what can be submitted under a path of its own.
type Operation struct {
	Type Type
	Path string // the last part of the URL's path, behind /public/v1/submit/

	// Named operations are for credentials that name their type, and not for
	// those that are registered without a list of types.
	Named bool

	// Bearer results are as good as a key in the hands of their reader: only the
	// credential that submitted the activity is shown them.
	Bearer bool

	intent       string // the member of the record's intent
	result       string // the member of the record's result; empty: the operation has no activity of its own
	decode       func(parameters []byte, read parameterReader) (Intent, bool, error)
	decodeResult func(encoded []byte) (Result, error)
}

// operations is the table of what is served.
var operations = []Operation{
	{
		Type: TypeInitOTPAuth, Path: "init_otp_auth", intent: "initOtpAuthIntentV3", result: "initOtpAuthResultV2",
		decode: decodeInitOTPAuth, decodeResult: resultOf[InitOTPAuthResult],
	},
	{
		Type: TypeSignTransaction, Path: "sign_transaction", intent: "signTransactionIntentV2", result: "signTransactionResult",
		decode: decodeSignTransaction, decodeResult: resultOf[SignTransactionResult],
	},
	{
		Type: TypeVerifyOTP, Path: "verify_otp", Bearer: true, intent: "verifyOtpIntent", result: "verifyOtpResult",
		decode: decodeVerifyOTP, decodeResult: resultOf[VerifyOTPResult],
	},
	{
		Type: TypeSignRawPayload, Path: "sign_raw_payload", Named: true, intent: "signRawPayloadIntentV2", result: "signRawPayloadResult",
		decode: decodeSignRawPayload, decodeResult: resultOf[SignRawPayloadResult],
	},
	{
		Type: TypeSignRawPayloads, Path: "sign_raw_payloads", Named: true, intent: "signRawPayloadsIntent", result: "signRawPayloadsResult",
		decode: decodeSignRawPayloads, decodeResult: resultOf[SignRawPayloadsResult],
	},
	{Type: TypeApproveActivity, Path: "approve_activity", Named: true, decode: decodeVote(TypeApproveActivity)},
	{Type: TypeRejectActivity, Path: "reject_activity", Named: true, decode: decodeVote(TypeRejectActivity)},
}

// Operations returns what can be submitted.
func Operations() []Operation { return append([]Operation(nil), operations...) }

// Types returns the activity types that are served.
func Types() []Type {
	var types []Type
	for i := range operations {
		types = append(types, operations[i].Type)
	}
	return types
}

// MustBeNamed reports whether only credentials that name the type may submit it.
func (t Type) MustBeNamed() bool {
	operation, err := operationOf(t)
	return err != nil || operation.Named
}

// HasBearerResult reports whether the results of the type are for their submitter
// only.
func (t Type) HasBearerResult() bool {
	operation, err := operationOf(t)
	return err == nil && operation.Bearer
}

// operationOf returns the operation of a type. The error names the version
// that is served if the type is another version of it.
func operationOf(kind Type) (*Operation, error) {
	for i := range operations {
		if operations[i].Type == kind {
			return &operations[i], nil
		}
	}
	return nil, notServed(kind)
}

func notServed(kind Type) error {
	var names []string
	for i := range operations {
		served := operations[i].Type
		if unversioned(served) == unversioned(kind) {
			return NewError(ReasonRequestInvalid, "type", nil,
				"type %s is not served: the version served is %s", quoted(string(kind)), served)
		}
		names = append(names, string(served))
	}
	return NewError(ReasonRequestInvalid, "type", nil,
		"type %s is not served: use %s", quoted(string(kind)), strings.Join(names, ", "))
}

var versionSuffix = regexp.MustCompile(`_V[0-9]{1,3}$`)

func unversioned(kind Type) string { return versionSuffix.ReplaceAllString(string(kind), "") }

// quoted quotes a caller's text for an error, cut to MaxQuoted bytes.
func quoted(text string) string {
	if len(text) > MaxQuoted {
		text = strings.ToValidUTF8(text[:MaxQuoted], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
