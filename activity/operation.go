package activity

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/countersign-dev/countersign/internal/plaintext"
)

// Type names an operation and its version.
type Type string

// The supported activity types.
const (
	TypeInitOTPAuth     Type = "ACTIVITY_TYPE_INIT_OTP_AUTH_V3"
	TypeSignTransaction Type = "ACTIVITY_TYPE_SIGN_TRANSACTION_V2"
	TypeInitOTPV2       Type = "ACTIVITY_TYPE_INIT_OTP_V2"
	TypeInitOTPV3       Type = "ACTIVITY_TYPE_INIT_OTP_V3"
	TypeVerifyOTP       Type = "ACTIVITY_TYPE_VERIFY_OTP"
	TypeVerifyOTPV2     Type = "ACTIVITY_TYPE_VERIFY_OTP_V2"
	TypeSignRawPayload  Type = "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2"
	TypeSignRawPayloads Type = "ACTIVITY_TYPE_SIGN_RAW_PAYLOADS"

	// TypeSignTransactions is of Countersign alone: the hosted service has no such type.
	TypeSignTransactions Type = "ACTIVITY_TYPE_COUNTERSIGN_SIGN_TRANSACTIONS"

	TypeApproveActivity Type = "ACTIVITY_TYPE_APPROVE_ACTIVITY"
	TypeRejectActivity  Type = "ACTIVITY_TYPE_REJECT_ACTIVITY"
	TypeHalt            Type = "ACTIVITY_TYPE_HALT"
	TypeResume          Type = "ACTIVITY_TYPE_RESUME"
)

// Status is the state of an activity.
type Status string

// The statuses of activities. A refused request leaves no activity.
const (
	StatusCompleted       Status = "ACTIVITY_STATUS_COMPLETED"
	StatusConsensusNeeded Status = "ACTIVITY_STATUS_CONSENSUS_NEEDED" // waits for votes
	StatusRejected        Status = "ACTIVITY_STATUS_REJECTED"         // by a vote, or because votes were missing for too long
	StatusFailed          Status = "ACTIVITY_STATUS_FAILED"           // was approved, but can never be carried out
)

// Waits reports whether an activity with this status can still change.
func (s Status) Waits() bool { return s == StatusConsensusNeeded }

// Intent is what a request asks for: a [SignTransactionIntent], [InitOTPAuthIntent],
// [InitOTPV2Intent], [InitOTPV3Intent], [VerifyOTPIntent], [VerifyOTPV2Intent],
// [SignRawPayloadIntent], [SignRawPayloadsIntent], [SignTransactionsIntent], [VoteIntent] or [HaltIntent].
type Intent interface {
	ActivityType() Type
}

// Redacter is implemented by intents with a secret. Redacted returns the intent without
// it, for policies, which might log it.
type Redacter interface {
	Redacted() Intent
}

// Personal is implemented by intents with texts that must not be logged, such as mail addresses.
type Personal interface {
	PersonalTexts() []string
}

// Result is the result of an operation: a [SignTransactionResult], [InitOTPAuthResult],
// [InitOTPV2Result], [InitOTPV3Result], [VerifyOTPResult], [VerifyOTPV2Result],
// [SignRawPayloadResult], [SignRawPayloadsResult], [SignTransactionsResult] or [HaltResult].
type Result interface {
	ActivityType() Type
}

// Operation is an operation that can be submitted.
type Operation struct {
	Type Type
	Path string // the last part of the URL's path, after /public/v1/submit/; versions of a type share it

	named        bool   // see Type.MustBeNamed
	bearer       bool   // see Type.HasBearerResult
	intent       string // the name of the intent in an answer
	result       string // the name of the result in an answer; empty if the operation creates no activity
	decode       func(parameters *parameterText) (Intent, bool, error)
	decodeResult func(encoded []byte) (Result, error)
}

// operations is the table of all operations.
var operations = []Operation{
	{
		Type: TypeInitOTPAuth, Path: "init_otp_auth", intent: "initOtpAuthIntentV3", result: "initOtpAuthResultV2",
		decode: decodeInit[InitOTPAuthIntent], decodeResult: resultOf[InitOTPAuthResult],
	},
	{
		Type: TypeSignTransaction, Path: "sign_transaction",
		intent: "signTransactionIntentV2", result: "signTransactionResult",
		decode: decodeSignTransaction, decodeResult: resultOf[SignTransactionResult],
	},
	{
		Type: TypeVerifyOTP, Path: "verify_otp", bearer: true, intent: "verifyOtpIntent", result: "verifyOtpResult",
		decode: decodeVerifyOTP, decodeResult: resultOf[VerifyOTPResult],
	},
	{
		Type: TypeInitOTPV2, Path: "init_otp", intent: "initOtpIntentV2", result: "initOtpResult",
		decode: decodeInit[InitOTPV2Intent], decodeResult: resultOf[InitOTPV2Result],
	},
	{
		Type: TypeInitOTPV3, Path: "init_otp", intent: "initOtpIntentV3", result: "initOtpResultV2",
		decode: decodeInit[InitOTPV3Intent], decodeResult: resultOf[InitOTPV3Result],
	},
	{
		Type: TypeVerifyOTPV2, Path: "verify_otp", bearer: true, intent: "verifyOtpIntentV2", result: "verifyOtpResult",
		decode: decodeVerifyOTPV2, decodeResult: resultOf[VerifyOTPV2Result],
	},
	{
		Type: TypeSignRawPayload, Path: "sign_raw_payload", named: true,
		intent: "signRawPayloadIntentV2", result: "signRawPayloadResult",
		decode: decodeSignRawPayload, decodeResult: resultOf[SignRawPayloadResult],
	},
	{
		Type: TypeSignRawPayloads, Path: "sign_raw_payloads", named: true,
		intent: "signRawPayloadsIntent", result: "signRawPayloadsResult",
		decode: decodeSignRawPayloads, decodeResult: resultOf[SignRawPayloadsResult],
	},
	{
		Type: TypeSignTransactions, Path: "countersign_sign_transactions", named: true,
		intent: "signTransactionsIntent", result: "signTransactionsResult",
		decode: decodeSignTransactions, decodeResult: resultOf[SignTransactionsResult],
	},
	{Type: TypeApproveActivity, Path: "approve_activity", named: true, decode: decodeVote(TypeApproveActivity)},
	{Type: TypeRejectActivity, Path: "reject_activity", named: true, decode: decodeVote(TypeRejectActivity)},
	{
		Type: TypeHalt, Path: "halt", named: true, intent: "haltIntent", result: "haltResult",
		decode: decodeHalt(TypeHalt), decodeResult: resultOf[HaltResult],
	},
	{
		Type: TypeResume, Path: "resume", named: true, intent: "resumeIntent", result: "haltResult",
		decode: decodeHalt(TypeResume), decodeResult: resultOf[HaltResult],
	},
}

// Operations returns all operations.
func Operations() []Operation { return append([]Operation(nil), operations...) }

// Queries returns the paths of all queries, which change nothing and are not recorded.
func Queries() []string {
	return append([]string{"get_activity", "list_activities", "list_policies", "whoami"}, InventoryQueries()...)
}

// Types returns the types of all operations.
func Types() []Type {
	var types []Type
	for i := range operations {
		types = append(types, operations[i].Type)
	}
	return types
}

// MustBeNamed reports whether only credentials whose list of types names the type may
// submit it, and not credentials without a list. It is true for unknown types.
func (t Type) MustBeNamed() bool {
	operation, err := operationOf(t)
	return err != nil || operation.named
}

// Signs reports whether activities of the type sign with the organization's keys.
func (t Type) Signs() bool {
	return t.SignsTransactions() || t == TypeSignRawPayload || t == TypeSignRawPayloads
}

// SignsTransactions reports whether activities of the type sign a transaction, or a list of them.
func (t Type) SignsTransactions() bool { return t == TypeSignTransaction || t == TypeSignTransactions }

// Halts reports whether activities of the type stop signing or let it go on. Who may submit
// them decides alone: no policy is asked, and no halt applies to them.
func (t Type) Halts() bool { return t == TypeHalt || t == TypeResume }

// HasBearerResult reports whether results of the type give their reader the rights of their owner.
// Such results must only be shown to the credential that submitted the activity.
func (t Type) HasBearerResult() bool {
	operation, err := operationOf(t)
	return err == nil && operation.bearer
}

// operationOf returns the operation of a type. If another version of the type is
// supported, the error names it.
func operationOf(kind Type) (*Operation, error) {
	for i := range operations {
		if operations[i].Type == kind {
			return &operations[i], nil
		}
	}
	return nil, notServed(kind)
}

func notServed(kind Type) error {
	var names, versions []string
	for i := range operations {
		served := operations[i].Type
		if unversioned(served) == unversioned(kind) {
			versions = append(versions, string(served))
		}
		names = append(names, string(served))
	}
	switch len(versions) {
	case 0:
	case 1:
		return NewError(ReasonRequestInvalid, "type", nil, "type %s is not served: the version served is %s",
			quoted(string(kind)), versions[0])
	default:
		return NewError(ReasonRequestInvalid, "type", nil, "type %s is not served: the versions served are %s",
			quoted(string(kind)), strings.Join(versions, " and "))
	}
	return NewError(ReasonRequestInvalid, "type", nil,
		"type %s is not served: use %s", quoted(string(kind)), strings.Join(names, ", "))
}

var versionSuffix = regexp.MustCompile(`_V[0-9]{1,3}$`)

func unversioned(kind Type) string { return versionSuffix.ReplaceAllString(string(kind), "") }

// quoted quotes a caller's text for an error, truncated to maxQuoted bytes.
func quoted(text string) string {
	return fmt.Sprintf("%q", plaintext.Shorten(text, maxQuoted))
}
