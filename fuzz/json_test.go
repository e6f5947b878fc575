package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// FuzzStrictJSON checks that what the strict reader accepts is an object for
// encoding/json, too, whose names no other reader can confuse, and that every error
// has an offset.
func FuzzStrictJSON(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` {"a":[1,-2.5e3,true,null,"\u00e9\ud83d\ude00"]} `, `{"a":1,"a":2}`, `{"a":"\ud83d"}`, "\xef\xbb\xbf{}", `{} {}`,
		`{"a":"\xff"}`, `{"a":01}`, `[` + strings.Repeat(`[`, 40), `{"A":1,"a":2}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := strictjson.Check(text, "text")
		if err != nil {
			refused, ok := errors.AsType[*strictjson.Error](err)
			if !ok || refused.Problem == "" || refused.Offset < 0 || refused.Offset > len(text) {
				t.Fatalf("%#v", err)
			}
			return
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatalf("taken, though encoding/json says %v", err)
		}
		if written := countMembers(t, text); written != len(members) {
			t.Fatalf("%d members are written, encoding/json keeps %d", written, len(members))
		}
	})
}

// countMembers counts the members of an object as written.
func countMembers(t *testing.T, text []byte) (members int) {
	t.Helper()
	tokens := json.NewDecoder(bytes.NewReader(text))
	if _, err := tokens.Token(); err != nil {
		t.Fatal(err)
	}
	for ; tokens.More(); members++ {
		if _, err := tokens.Token(); err != nil {
			t.Fatal(err)
		}
		var value json.RawMessage
		testenv.Must(t, tokens.Decode(&value))
	}
	return members
}

// FuzzActivityQuery checks that an accepted query means the same to encoding/json.
func FuzzActivityQuery(f *testing.F) {
	f.Add([]byte(`{"organizationId":"o","activityId":"a"}`))
	f.Add([]byte(`{"organizationId":"6e1f8f5e-1111-4222-8333-444455556666"}`))
	f.Add([]byte(`{"organizationId":"o","organizationID":"p"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var other struct{ OrganizationID, ActivityID string }
		otherErr := json.Unmarshal(body, &other)
		if query, err := activity.DecodeGetActivity(body); err == nil {
			if otherErr != nil || query.OrganizationID != other.OrganizationID || query.ActivityID != other.ActivityID {
				t.Errorf("%s: encoding/json reads %+v, %v", body, other, otherErr)
			}
		}
		if query, err := activity.DecodeQuery(body); err == nil {
			if otherErr != nil || query.OrganizationID != other.OrganizationID || other.ActivityID != "" {
				t.Errorf("%s: encoding/json reads %+v, %v", body, other, otherErr)
			}
		}
	})
}
