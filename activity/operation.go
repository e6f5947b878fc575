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
)

// Status is how far an activity has come.
type Status string

// The statuses of the API. StatusCompleted is the only one that is written
// here: an activity is carried out before it is answered, and a refusal leaves
// none.
const (
	StatusCreated              Status = "ACTIVITY_STATUS_CREATED"
	StatusPending              Status = "ACTIVITY_STATUS_PENDING"
	StatusCompleted            Status = "ACTIVITY_STATUS_COMPLETED"
	StatusFailed               Status = "ACTIVITY_STATUS_FAILED"
	StatusConsensusNeeded      Status = "ACTIVITY_STATUS_CONSENSUS_NEEDED"
	StatusRejected             Status = "ACTIVITY_STATUS_REJECTED"
	StatusAuthenticatorsNeeded Status = "ACTIVITY_STATUS_AUTHENTICATORS_NEEDED"
)

// Intent is what a request wants done: one of SignTransactionIntent,
// InitOTPAuthIntent, VerifyOTPIntent, SignRawPayloadIntent, SignRawPayloadsIntent.
type Intent interface {
	ActivityType() Type
}

// Result is what came of it: one of SignTransactionResult, InitOTPAuthResult,
// VerifyOTPResult, SignRawPayloadResult, SignRawPayloadsResult.
type Result interface {
	ActivityType() Type
}

// Operation is what can be submitted under a path of its own.
type Operation struct {
	Type   Type
	Path   string // the last part of the URL's path, behind /public/v1/submit/
	intent string // the member of the record's intent
	result string // the member of the record's result
	decode func(parameters []byte, read parameterReader) (Intent, bool, error)
}

// operations is the table of what is served.
var operations = []Operation{
	{TypeInitOTPAuth, "init_otp_auth", "initOtpAuthIntentV3", "initOtpAuthResultV2", decodeInitOTPAuth},
	{TypeSignTransaction, "sign_transaction", "signTransactionIntentV2", "signTransactionResult", decodeSignTransaction},
	{TypeVerifyOTP, "verify_otp", "verifyOtpIntent", "verifyOtpResult", decodeVerifyOTP},
	{TypeSignRawPayload, "sign_raw_payload", "signRawPayloadIntentV2", "signRawPayloadResult", decodeSignRawPayload},
	{TypeSignRawPayloads, "sign_raw_payloads", "signRawPayloadsIntent", "signRawPayloadsResult", decodeSignRawPayloads},
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
