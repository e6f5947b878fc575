package main

import (
	"testing"
	"time"
)

// TestCompleted: what a body lacks is put in front; what it has is not touched.
func TestCompleted(t *testing.T) {
	const kind = `"type":"ACTIVITY_TYPE_VERIFY_OTP"`
	const both = `{"organizationId":"o","timestampMs":"1700000000123"`
	for _, test := range []struct{ body, query, path, whole string }{
		{`{` + kind + `}`, "", "submit/verify_otp", both + `,` + kind + `}`},
		{" \n{ " + kind + "\n}\n", "", "submit/verify_otp", both + `, ` + kind + "\n}\n"},
		{`{` + kind + `,"timestampMs":"5"}`, "", "submit/verify_otp", `{"organizationId":"o",` + kind + `,"timestampMs":"5"}`},
		{`{` + kind + `,"organizationId":"p"}`, "", "submit/verify_otp", `{"timestampMs":"1700000000123",` + kind + `,"organizationId":"p"}`},
		{` {"timestampMs":"5", "organizationId":"p",` + kind + `} `, "", "submit/verify_otp", ` {"timestampMs":"5", "organizationId":"p",` + kind + `} `},
		{`{}`, "whoami", "query/whoami", `{"organizationId":"o"}`},
		{`{ }`, "whoami", "query/whoami", `{"organizationId":"o" }`},
		{`{"organizationId":"p"}`, "whoami", "query/whoami", `{"organizationId":"p"}`},
		{`{"activityId":"{"}`, "get_activity", "query/get_activity", `{"organizationId":"o","activityId":"{"}`},
	} {
		path, whole, err := completed([]byte(test.body), test.query, "o", time.UnixMilli(1700000000123))
		if err != nil || path != test.path || string(whole) != test.whole {
			t.Errorf("%s: %s, %s, %v", test.body, path, whole, err)
		}
	}
	for _, body := range []string{"", "null", "[]", `"x"`, "{", `{"type":1}`, `{"type":null}`, `{"type":"ACTIVITY_TYPE_NONE"}`, `{}`} {
		if path, whole, err := completed([]byte(body), "", "o", time.Now()); err == nil {
			t.Errorf("%q: %s, %s", body, path, whole)
		}
	}
}
