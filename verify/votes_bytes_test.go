package verify_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/store/memory"
	"github.com/countersign-dev/countersign/verify"
)

// signedMembers are the members of a vote that its stamp, its body or its credential
// cover. The server could write anything into the others, and they are not used.
var (
	signedMembers   = []string{"UserID", "Credential", "PublicKey", "Signature", "Scheme", "Selection", "Message", "StampedAt"}
	unsignedMembers = []string{"ID", "UserName", "UserSince", "CreatedAt"}
)

// TestVerifyVotesTampered checks that a record is refused if one bit of any byte of its
// votes or body is changed, and that changes that no stamp covers do not affect the
// result. A new member of votes must be put on one of the two lists.
func TestVerifyVotesTampered(t *testing.T) {
	b := ballot.New(t, func(config *countersign.Config) { config.Store = memory.New(0) })
	good, members := completed(b, t), membersOf(b)
	want, err := verify.Votes(good, members)
	testenv.Must(t, err)
	for i := range good.Votes {
		for _, field := range reflect.VisibleFields(reflect.TypeFor[activity.Vote]()) {
			signed := slices.Contains(signedMembers, field.Name)
			if !signed && !slices.Contains(unsignedMembers, field.Name) {
				t.Fatalf("%s is on no list", field.Name)
			}
			for at := range bytesOf(reflect.ValueOf(good.Votes[i]).FieldByIndex(field.Index)) {
				record := *good
				record.Votes = slices.Clone(good.Votes)
				flip(reflect.ValueOf(&record.Votes[i]).Elem().FieldByIndex(field.Index), at)
				got, err := verify.Votes(&record, members)
				if signed && !errors.Is(err, verify.ErrVotes) {
					t.Errorf("votes[%d].%s, byte %d: %v", i, field.Name, at, err)
				}
				if !signed && (err != nil || !reflect.DeepEqual(got, want)) {
					t.Errorf("votes[%d].%s, byte %d, which no stamp is over: %v", i, field.Name, at, err)
				}
			}
		}
	}
	for at := range good.Request.Body {
		record, request := *good, *good.Request
		request.Body, record.Request = slices.Clone(good.Request.Body), &request
		request.Body[at] ^= 1 << (at % 8)
		if _, err := verify.Votes(&record, members); !errors.Is(err, verify.ErrVotes) {
			t.Fatalf("the body, byte %d: %v", at, err)
		}
	}
}

// TestVerifyAnswerTamperedVotes checks the same for an answer: a change of any text of a
// vote is detected, except those that no stamp covers.
func TestVerifyAnswerTamperedVotes(t *testing.T) {
	b := ballot.New(t, func(config *countersign.Config) { config.Store = memory.New(0) })
	record := completed(b, t)
	trust := verify.Trust{Chains: all.Chains(all.Limits{}), Body: record.Request.Body, Members: membersOf(b), Approvals: []access.Group{{Rule: "two", Count: 2, NotSubmitter: true}}}
	good := record.AppendAnswer(nil)
	texts := 0
	for i := range record.Votes {
		var answer map[string]any
		testenv.JSON(t, good, &answer)
		vote := answer["activity"].(map[string]any)["votes"].([]any)[i].(map[string]any)
		for name, value := range vote {
			text, ok := value.(string)
			if !ok {
				continue // user and createdAt are objects
			}
			texts++
			for at := range text {
				changed := []byte(text)
				changed[at] ^= 1
				vote[name] = string(changed)
				encoded := testenv.Encode(t, answer)
				_, err := verify.Answer(encoded, trust)
				if noticed := errors.Is(err, verify.ErrAnswer); noticed != !slices.Contains([]string{"id", "activityId"}, name) {
					t.Errorf("votes[%d].%s, byte %d: %v", i, name, at, err)
				}
			}
			vote[name] = text
		}
	}
	if texts < 3*len(record.Votes) {
		t.Errorf("%d texts", texts)
	}
}

// bytesOf returns how many bytes of a text or a time are changed, one after the other.
func bytesOf(value reflect.Value) int {
	if value.Kind() == reflect.String {
		return value.Len()
	}
	return 8
}

// flip changes one bit of a byte of a text, or of the nanoseconds of a time.
func flip(value reflect.Value, at int) {
	if instant, ok := value.Interface().(time.Time); ok {
		value.Set(reflect.ValueOf(time.Unix(0, instant.UnixNano()^(1<<(8*at%63))).UTC()))
		return
	}
	text := []byte(value.String())
	text[at] ^= 1 << (at % 8)
	value.SetString(string(text))
}
