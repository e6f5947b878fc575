package activity

import (
	"encoding/base64"
	"reflect"
	"strconv"
	"time"
)

// usualRecord is about how many bytes a record has in addition to its body.
const usualRecord = 2 << 10

// Encode returns the record in the form for a store: the JSON of storedRecord. What each record
// has is appended; the rest is left to encoding/json.
func (r *Record) Encode() []byte {
	request := r.Request
	dst := append(make([]byte, 0, len(request.Body)+len(request.Body)/8+usualRecord), `{"schema":"`+storedSchema+`"`...)
	dst = appendTextMembers(dst, "id", r.ID, "type", string(request.Type), "status", string(r.Status),
		"organizationId", request.OrganizationID)
	dst = strconv.AppendInt(appendMember(dst, "timestampMs"), request.TimestampMs, 10)
	if request.GenerateAppProofs {
		dst = appendRawMember(dst, "generateAppProofs", "true")
	}
	dst = append(appendMember(dst, "fingerprint"), '"')
	dst = append(base64.StdEncoding.AppendEncode(dst, request.Fingerprint[:]), '"')
	dst = appendText(appendMember(dst, "body"), request.Body)
	dst = strconv.AppendInt(append(appendMember(dst, "parameters"), '['), int64(request.parameters.Start), 10)
	dst = append(strconv.AppendInt(append(dst, ','), int64(request.parameters.End), 10), ']')
	if r.Result != nil {
		dst = AppendResult(appendMember(dst, "result"), r.Result)
	}
	if r.Failure != nil {
		dst = appendMarshaled(appendMember(dst, "failure"), r.Failure)
	}
	dst = appendList(appendMember(dst, "votes"), r.Votes, (*Vote).appendStored)
	dst = appendMember(dst, "decision")
	if reflect.ValueOf(r.Decision).IsZero() {
		dst = append(dst, "{}"...)
	} else {
		dst = appendMarshaled(dst, &r.Decision)
	}
	if r.Reading != nil {
		dst = appendMarshaled(appendMember(dst, "reading"), r.Reading)
	}
	if r.Did != nil {
		dst = r.Did.appendStored(appendMember(dst, "did"))
	}
	if len(r.AppProofs) > 0 {
		dst = appendMarshaled(appendMember(dst, "appProofs"), r.AppProofs)
	}
	dst = appendTime(appendMember(dst, "createdAt"), r.CreatedAt)
	dst = appendTime(appendMember(dst, "updatedAt"), r.UpdatedAt)
	return append(dst, '}')
}

// appendTime appends a time as encoding/json writes it. Unlike that, it does not refuse years
// beyond 9999, which no clock has.
func appendTime(dst []byte, t time.Time) []byte {
	return append(t.AppendFormat(append(dst, '"'), time.RFC3339Nano), '"')
}

// appendList appends an array; null for nil, as encoding/json does.
func appendList[T any](dst []byte, list []T, element func(*T, []byte) []byte) []byte {
	if list == nil {
		return append(dst, "null"...)
	}
	return appendElements(dst, list, element)
}

func appendTexts(dst []byte, list []string) []byte {
	return appendList(dst, list, func(text *string, dst []byte) []byte { return appendText(dst, *text) })
}

// appendOptional appends a member unless its text is empty.
func appendOptional(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return appendTextMember(dst, name, text)
}

func (v *Vote) appendStored(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendTextMembers(dst, "id", v.ID, "userId", v.UserID, "userName", v.UserName)
	dst = appendTime(appendMember(dst, "userSince"), v.UserSince)
	dst = appendTextMembers(dst, "credential", v.Credential, "publicKey", v.PublicKey, "signature", v.Signature,
		"scheme", v.Scheme, "selection", string(v.Selection))
	dst = appendOptional(dst, "message", v.Message)
	dst = appendTime(appendMember(dst, "stampedAt"), v.StampedAt)
	return append(appendTime(appendMember(dst, "createdAt"), v.CreatedAt), '}')
}

func (d *Did) appendStored(dst []byte) []byte {
	dst = appendTexts(appendMember(append(dst, '{'), "keyIds"), d.KeyIDs)
	dst = appendTexts(appendMember(dst, "addresses"), d.Addresses)
	if len(d.Rules) > 0 {
		dst = appendTexts(appendMember(dst, "rules"), d.Rules)
	}
	dst = appendList(appendMember(dst, "effects"), d.Effects, (*DidEffect).appendStored)
	if d.More != 0 {
		dst = strconv.AppendInt(appendMember(dst, "more"), int64(d.More), 10)
	}
	return append(dst, '}')
}

func (e *DidEffect) appendStored(dst []byte) []byte {
	dst = appendTextMember(append(dst, '{'), "sentence", e.Sentence)
	dst = appendTextMember(dst, "kind", e.Kind)
	dst = appendOptional(dst, "amount", e.Amount)
	dst = appendOptional(dst, "bound", e.Bound)
	dst = appendOptional(dst, "symbol", e.Symbol)
	dst = appendOptional(dst, "asset", e.Asset)
	dst = appendOptional(dst, "to", e.To)
	if e.Change {
		dst = appendRawMember(dst, "change", "true")
	}
	return append(dst, '}')
}
