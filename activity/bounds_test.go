package activity_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
)

// envelope returns a body of a type with parameters.
func envelope(kind activity.Type, parameters string) string {
	return fmt.Sprintf(`{"type":%q,"timestampMs":"1763650000000","organizationId":"org","parameters":{%s}}`, kind, parameters)
}

// withMember returns bodies of all operations in which one member has a value. Together
// they have every string that a request may have.
func withMember(member, value string) []string {
	values := map[string]string{"type": "TRANSACTION_TYPE_ETHEREUM", member: value}
	of := func(names ...string) string {
		var members []string
		for _, name := range names {
			members = append(members, fmt.Sprintf(`%q:"%s"`, name, values[name]))
		}
		return strings.Join(members, ",")
	}
	email := of("logoUrl", "magicLinkTemplate", "templateVariables", "templateId")
	return []string{
		envelope(activity.TypeSignTransaction, of("signWith", "unsignedTransaction", "type")),
		envelope(activity.TypeSignRawPayload, of("signWith", "payload", "encoding", "hashFunction")),
		envelope(activity.TypeSignRawPayloads, of("signWith", "encoding", "hashFunction")+`,"payloads":["`+values["payloads"]+`"]`),
		envelope(activity.TypeVerifyOTP, of("otpId", "otpCode", "publicKey", "expirationSeconds")),
		envelope(activity.TypeVerifyOTPV2, of("otpId", "encryptedOtpBundle", "expirationSeconds")),
		envelope(activity.TypeInitOTPAuth, of("otpType", "contact", "appName", "userIdentifier", "sendFromEmailAddress",
			"sendFromEmailSenderName", "expirationSeconds", "replyToEmailAddress")+
			`,"emailCustomization":{`+email+`},"smsCustomization":{`+of("template")+`}`),
		envelope(activity.TypeApproveActivity, of("fingerprint", "shown")), envelope(activity.TypeResume, of("policy")),
		strings.Replace(envelope(activity.TypeSignTransaction, of("signWith", "unsignedTransaction", "type")),
			`"timestampMs":"1763650000000"`, `"timestampMs":"`+value+`"`, 1),
		strings.Replace(envelope(activity.TypeSignTransaction, of("signWith", "unsignedTransaction", "type")),
			`"organizationId":"org"`, `"organizationId":"`+value+`"`, 1),
		strings.TrimSuffix(envelope(activity.TypeSignTransaction, of("signWith", "unsignedTransaction", "type")), "}") +
			`,"submitter":{` + of("userId", "scheme") + `}}`,
		strings.Replace(envelope("TYPE", of("signWith", "unsignedTransaction", "type")), `"TYPE"`, `"`+value+`"`, 1),
	}
}

// TestMemberBounds makes each string one byte longer than allowed: the refusal names the
// member and both lengths.
func TestMemberBounds(t *testing.T) {
	queries := map[string]string{"activityId": `{"organizationId":"org","activityId":"%s"}`, "organizationId": `{"organizationId":"%s","activityId":"a"}`}
	lists := map[string]string{
		"filterByStatus": `{"organizationId":"org","filterByStatus":["%s"]}`, "filterByType": `{"organizationId":"org","filterByType":["%s"]}`,
	}
	for _, member := range []string{"limit", "before", "after"} {
		lists[member] = `{"organizationId":"org","paginationOptions":{"` + member + `":"%s"}}`
	}
	for member, most := range activity.Bounds() {
		if most == 0 && member != "unsignedTransaction" {
			t.Errorf("%s has no bound", member)
		}
		if most == 0 {
			continue
		}
		long := strings.Repeat("1", most+1)
		var refusals []error
		for _, body := range withMember(member, long) {
			if _, err := activity.Decode([]byte(body)); err != nil {
				refusals = append(refusals, err)
			}
		}
		for path, more := range map[string]string{"get_private_key": "privateKeyId", "get_user": "userId", "get_wallet": "walletId", "get_wallet_account": `walletId":"w","` + member} {
			_, err := activity.DecodeInventory(path, fmt.Appendf(nil, `{"organizationId":"org","%s":%q}`, more, long))
			refusals = append(refusals, err)
		}
		if query, ok := queries[member]; ok {
			_, err := activity.DecodeGetActivity(fmt.Appendf(nil, query, long))
			refusals = append(refusals, err)
		}
		if query, ok := lists[member]; ok {
			_, err := activity.DecodeListActivities(fmt.Appendf(nil, query, long))
			refusals = append(refusals, err)
		}
		bounded := func(err error) bool {
			var refused *activity.Error
			return errors.As(err, &refused) && strings.HasSuffix(refused.Field, member) &&
				strings.Contains(refused.Message, fmt.Sprintf("%d bytes, at most %d are allowed", most+1, most))
		}
		if !slices.ContainsFunc(refusals, bounded) {
			t.Errorf("%s of %d bytes: not refused for its length: %v", member, most+1, refusals)
		}
	}
}

// TestErrorLength: errors stay short for values and names of 60 kB, in characters that
// quoting makes longer.
func TestErrorLength(t *testing.T) {
	long := strings.Repeat("\U000e0001", 15_000)
	for member := range activity.Bounds() {
		for _, body := range withMember(member, long) {
			_, err := activity.Decode([]byte(body))
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("%s: an error of %d bytes", member, len(err.Error()))
			}
		}
		_, err := activity.Decode([]byte(strings.Replace(signBody, `"signWith"`, `"`+long+`":1,"signWith"`, 1)))
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("a name of %d bytes: %.100v", len(long), err)
		}
	}
}

// TestDecodeAllocations: allocations for adversarial bodies of 256 KiB are bounded by a
// small multiple of the body.
func TestDecodeAllocations(t *testing.T) {
	const size = 256 << 10
	for name, body := range map[string]string{
		"a long type":           strings.Replace(signBody, "_V2", strings.Repeat("_V2", size/3), 1),
		"a long address":        strings.Replace(signBody, "0xab", "bc1p"+strings.Repeat("1", size), 1),
		"escapes":               strings.Replace(signBody, "0xab", strings.Repeat(`\u00e9`, size/6), 1),
		"nested objects":        strings.Replace(signBody, `"signWith"`, `"x":[`+strings.Repeat(`{"a":{}},`, size/9)+`{}],"signWith"`, 1),
		"objects of many names": strings.Replace(signBody, `"signWith"`, `"x":[`+strings.Repeat(manyNames()+",", size/len(manyNames()))+`{}],"signWith"`, 1),
		"white space":           strings.Replace(signBody, `"signWith"`, strings.Repeat(" ", size)+`"signWith"`, 1),
	} {
		const runs = 4
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			_, _ = activity.Decode([]byte(body))
		}
		runtime.ReadMemStats(&after)
		bytes, objects := (after.TotalAlloc-before.TotalAlloc)/runs, (after.Mallocs-before.Mallocs)/runs
		if bytes > 4*uint64(len(body)) || objects > 1000 {
			t.Errorf("%s: %d bytes in %d allocations for a body of %d", name, bytes, objects, len(body))
		}
	}
}

func manyNames() string {
	var members []string
	for i := range 255 {
		members = append(members, fmt.Sprintf(`"m%d":0`, i))
	}
	return "{" + strings.Join(members, ",") + "}"
}
