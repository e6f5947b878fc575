package activity

import (
	"strconv"
	"time"
)

// AppendAnswer appends the answer to the request, {"activity":…}. It holds both
// shapes that there are readers for: the record's members on the activity and
// its result directly in "result", as the clients read it; and the record again
// in "result.activity", with times as strings, as the interface document has it.
func (r *Record) AppendAnswer(dst []byte) []byte {
	dst = append(dst, `{"activity":{`...)
	dst = r.appendHead(dst)
	dst = appendMember(dst, "result")
	result := len(dst)
	dst = r.appendResult(dst)
	nested := append([]byte(nil), dst[result:]...)
	dst = r.appendNested(dst[:len(dst)-1], nested)
	dst = append(dst, '}')
	dst = r.appendTail(dst, appendTimestamp)
	dst = appendMember(dst, "timestampMs")
	dst = append(dst, '"')
	dst = strconv.AppendInt(dst, r.Request.TimestampMs, 10)
	dst = append(dst, '"')
	dst = r.appendAppProofs(dst)
	dst = appendRawMember(dst, "failure", "null")
	return append(dst, "}}"...)
}

// appendNested appends the record as the interface document has it, as a
// member of the result.
func (r *Record) appendNested(dst, result []byte) []byte {
	dst = appendMember(dst, "activity")
	dst = append(dst, '{')
	dst = r.appendHead(dst)
	dst = appendMember(dst, "result")
	dst = append(dst, result...)
	dst = r.appendTail(dst, appendRFC3339)
	return append(dst, '}')
}

// appendHead appends the members from id to intent.
func (r *Record) appendHead(dst []byte) []byte {
	dst = appendTextMember(dst, "id", r.ID)
	dst = appendTextMember(dst, "organizationId", r.Request.OrganizationID)
	dst = appendTextMember(dst, "status", string(StatusCompleted))
	dst = appendTextMember(dst, "type", string(r.Request.Type))
	dst = appendMember(dst, "intent")
	dst = append(dst, '{')
	dst = appendMember(dst, r.operation().intent)
	dst = append(dst, r.Request.Parameters()...)
	return append(dst, '}')
}

// appendResult appends the result as an object, an empty one if there is none.
func (r *Record) appendResult(dst []byte) []byte {
	dst = append(dst, '{')
	if r.Result != nil {
		dst = appendMember(dst, r.operation().result)
		dst = AppendResult(dst, r.Result)
	}
	return append(dst, '}')
}

// AppendResult appends a result's canonical JSON.
func AppendResult(dst []byte, result Result) []byte {
	dst = append(dst, '{')
	switch result := result.(type) {
	case SignTransactionResult:
		dst = appendTextMember(dst, "signedTransaction", result.SignedTransaction)
	case InitOTPAuthResult:
		dst = appendTextMember(dst, "otpId", result.OTPID)
	case VerifyOTPResult:
		dst = appendTextMember(dst, "verificationToken", result.VerificationToken)
	}
	return append(dst, '}')
}

// appendTail appends the members from votes to updatedAt.
func (r *Record) appendTail(dst []byte, form timeForm) []byte {
	dst = appendMember(dst, "votes")
	dst = append(dst, '[')
	dst = r.appendVote(dst, form)
	dst = append(dst, ']')
	dst = appendMember(dst, "fingerprint")
	dst = r.Request.Fingerprint.appendJSON(dst)
	dst = appendRawMember(dst, "canApprove", "false")
	dst = appendRawMember(dst, "canReject", "false")
	dst = form(appendMember(dst, "createdAt"), r.CreatedAt)
	return form(appendMember(dst, "updatedAt"), r.UpdatedAt)
}

// appendVote appends the submitter's stamp as the first approving vote.
func (r *Record) appendVote(dst []byte, form timeForm) []byte {
	dst = append(dst, '{')
	dst = appendTextMember(dst, "id", r.Voter.VoteID)
	dst = appendTextMember(dst, "userId", r.Voter.UserID)
	dst = appendMember(dst, "user")
	dst = r.Voter.appendUser(dst, form)
	dst = appendTextMember(dst, "activityId", r.ID)
	dst = appendTextMember(dst, "selection", "VOTE_SELECTION_APPROVED")
	dst = appendMember(dst, "message")
	dst = appendText(dst, r.Request.Body)
	dst = appendTextMember(dst, "publicKey", r.Voter.PublicKey)
	dst = appendTextMember(dst, "signature", r.Voter.Signature)
	dst = appendTextMember(dst, "scheme", r.Voter.Scheme)
	dst = form(appendMember(dst, "createdAt"), r.CreatedAt)
	return append(dst, '}')
}

func (v *Voter) appendUser(dst []byte, form timeForm) []byte {
	since := v.UserSince
	if since.IsZero() {
		since = time.Unix(0, 0)
	}
	dst = append(dst, '{')
	dst = appendTextMember(dst, "userId", v.UserID)
	dst = appendTextMember(dst, "userName", v.UserName)
	for _, list := range [...]string{"authenticators", "apiKeys", "userTags", "oauthProviders", "mfaPolicies"} {
		dst = appendRawMember(dst, list, "[]")
	}
	dst = form(appendMember(dst, "createdAt"), since)
	dst = form(appendMember(dst, "updatedAt"), since)
	return append(dst, '}')
}

func (r *Record) appendAppProofs(dst []byte) []byte {
	dst = appendMember(dst, "appProofs")
	dst = append(dst, '[')
	for i := range r.AppProofs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = r.AppProofs[i].appendJSON(dst)
	}
	return append(dst, ']')
}

func (r *Record) operation() *Operation {
	operation, err := operationOf(r.Request.Type)
	if err != nil {
		panic("activity: a record of a type that Decode refuses")
	}
	return operation
}
