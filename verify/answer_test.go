package verify_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/all"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/internal/testkit/ballot"
	"github.com/countersign-dev/countersign/verify"
)

func checksOf(checks []verify.Check) string {
	var names []string
	for _, check := range checks {
		if check.Skipped == "" {
			names = append(names, check.Name)
		}
	}
	return strings.Join(names, " ")
}

// TestVerifyAnswer checks which checks are reported, and that any other body, result,
// key and activity is refused.
func TestVerifyAnswer(t *testing.T) {
	f := enginetest.New(t)
	body := f.Body(enginetest.Request{Proofs: true})
	answer := answerTo(t, f, body)
	other := answerTo(t, f, f.Body(enginetest.Request{Proofs: true, SignWith: strings.ToLower(enginetest.Address)}))
	trust := verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body), ProofKey: &f.ProofKey.PublicKey}
	checks, err := verify.Answer(answer, trust)
	if err != nil || checksOf(checks) != "body status proof result summary" {
		t.Errorf("%v, %v", checks, err)
	}
	var indented bytes.Buffer
	testenv.Must(t, json.Indent(&indented, answer, "", "  "))
	if _, err := verify.Answer(indented.Bytes(), trust); err != nil {
		t.Errorf("indented: %v", err)
	}
	if checks, err = verify.Answer(answer, verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body)}); err != nil || checksOf(checks) != "body status" || len(checks) != 5 {
		t.Errorf("without a key: %v, %v", checks, err)
	}
	blind := trust
	blind.Chains = nil
	checks, err = verify.Answer(answer, blind)
	if err != nil || checksOf(checks) != "body status proof result" || checks[4].Skipped != "no chains were given to read the transaction with" {
		t.Errorf("without chains: %v, %v", checks, err)
	}
	replaced := func(old, with string) []byte { return bytes.ReplaceAll(answer, []byte(old), []byte(with)) }
	proofOf := func(answer []byte) string {
		var read struct {
			Activity struct{ AppProofs json.RawMessage }
		}
		testenv.JSON(t, answer, &read)
		return string(read.Activity.AppProofs)
	}
	for name, tried := range map[string]struct {
		answer []byte
		trust  verify.Trust
		check  string
	}{
		"another body":           {answer, verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body + "\n"), ProofKey: trust.ProofKey}, "body: "},
		"another answer":         {other, trust, "body: "},
		"waiting":                {replaced("ACTIVITY_STATUS_COMPLETED", "ACTIVITY_STATUS_CONSENSUS_NEEDED"), trust, "status: "},
		"no proof":               {replaced(proofOf(answer), "[]"), trust, "proof: there is none"},
		"another key":            {answer, verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body), ProofKey: &enginetest.New(t).ProofKey.PublicKey}, "proof: "},
		"the proof of another":   {replaced(proofOf(answer), proofOf(other)), trust, "proof: it proves the answer to another body"},
		"another signature":      {replaced(enginetest.Signed, enginetest.Signed[:len(enginetest.Signed)-1]+"0"), trust, "result: another result"},
		"in the record only":     {bytes.Replace(answer, []byte(enginetest.Signed), []byte("00"), 1), trust, "result: another result"},
		"beside the record only": {changedRecord(answer), trust, "result: another result"},
		"a second result":        {bytes.Replace(answer, []byte(`"result":{`), []byte(`"result":{"other":{},`), 1), trust, "result: 2 results"},
		"a result twice":         {bytes.Replace(answer, []byte(`"result":{`), []byte(`"result":{"signTransactionResult":{},`), 1), trust, "signTransactionResult"},
		"another case":           {bytes.Replace(answer, []byte(`"result":{`), []byte(`"Result":{},"result":{"SignTransactionResult":{},`), 1), trust, "result: 2 results"},
		"not an answer":          {[]byte(`{"code":3}`), trust, "not an answer: expected"},
		"an empty activity":      {[]byte(`{"activity":{}}`), trust, "activity.id is missing"},
		"no result":              {bytes.Replace(answer, []byte(`"result":`), []byte(`"results":`), 1), trust, "activity.result is missing"},
		"a body that is no body": {answer, verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte("{}")}, "the body of the request"},
	} {
		if _, err := verify.Answer(tried.answer, tried.trust); !errors.Is(err, verify.ErrAnswer) || !strings.Contains(err.Error(), tried.check) {
			t.Errorf("%s: %v, want %s", name, err, tried.check)
		}
	}
}

// TestVerifyAnswerMembers alters each member of an answer. Only times, votes (which are
// checked with Members), what the reader may do, and the words for what was signed, which
// follow from the body, are not checked.
func TestVerifyAnswerMembers(t *testing.T) {
	f := enginetest.New(t)
	body := f.Body(enginetest.Request{Proofs: true})
	trust := verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body), ProofKey: &f.ProofKey.PublicKey}
	unchecked := []string{"votes", "canApprove", "canReject", "createdAt", "updatedAt", "timestampMs", "failure", "did"}
	var whole any
	testenv.JSON(t, answerTo(t, f, body), &whole)
	altered := 0
	var visit func(path string, value any, set func(any))
	visit = func(path string, value any, set func(any)) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				if !slices.Contains(unchecked, name) {
					visit(path+"."+name, member, func(v any) { value[name] = v })
				}
			}
		case []any:
			for i, element := range value {
				visit(fmt.Sprint(path, ".", i), element, func(v any) { value[i] = v })
			}
		default:
			set("x")
			defer set(value)
			changed := testenv.Encode(t, whole)
			if _, err := verify.Answer(changed, trust); !errors.Is(err, verify.ErrAnswer) {
				t.Errorf("%s altered: %v", path, err)
			}
			altered++
		}
	}
	visit("answer", whole, nil)
	if altered < 20 {
		t.Errorf("%d members altered", altered)
	}
}

// changedRecord changes the second of two results: that of the record.
func changedRecord(answer []byte) []byte {
	at := bytes.LastIndex(answer, []byte(enginetest.Signed))
	return append(append(bytes.Clone(answer[:at]), "00"...), answer[at+len(enginetest.Signed):]...)
}

func answerTo(t *testing.T, f *enginetest.Fixture, body string) []byte {
	t.Helper()
	record := enginetest.MustSubmit(t, f.Engine, f.APIKey.Sign(body))
	return record.AppendAnswer(nil)
}

// ExampleVerifyAnswer checks an answer that came over a stick.
func Example_verify() {
	_, err := verify.Answer([]byte(`{"activity":{}}`), verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(`{}`)})
	fmt.Println(errors.Is(err, verify.ErrAnswer))
	// Output: true
}

// TestVerifyAnswerOfEveryType verifies the answers to activities of every type, whose bodies
// have white space, escapes and optional members.
func TestVerifyAnswerOfEveryType(t *testing.T) {
	outbox := new(enginetest.Outbox)
	f := ballot.New(t, enginetest.WithOTP(t, outbox), func(c *countersign.Config) { c.AllowHazards = []string{"message/free-text"} })
	f.Policy.Groups = nil
	user := ballot.Voter("user-1", "", f.APIKey)
	user.APIKeys[0].Activities = activity.Types()
	f.SetUsers(user)
	verify := func(kind activity.Type, parameters string) *activity.Record {
		t.Helper()
		body := fmt.Sprintf("{ \"type\":%q,\n\"timestampMs\":\"%d\",\"organizationId\":%q,\"parameters\" : %s,\"generateAppProofs\":true}",
			kind, f.Clock.Now().UnixMilli(), enginetest.Organization, parameters)
		record, err := f.Engine.Submit(t.Context(), f.APIKey.Sign(body))
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		checks, err := verify.Answer(record.AppendAnswer(nil), verify.Trust{Chains: all.Chains(all.Limits{}), Body: []byte(body), ProofKey: &f.ProofKey.PublicKey})
		if err != nil || !strings.HasPrefix(checksOf(checks), "body status proof result") {
			t.Errorf("%s: %v, %v", kind, checks, err)
		}
		return record
	}
	message := `"encoding":"PAYLOAD_ENCODING_TEXT_UTF8","hashFunction":"HASH_FUNCTION_KECCAK256"`
	verify(activity.TypeSignTransaction, fmt.Sprintf(`{"type":"TRANSACTION_TYPE_ETHEREUM", "unsignedTransaction":%q,"signWith":%q}`, strings.ToUpper(enginetest.Unsigned), enginetest.Address))
	verify(activity.TypeSignRawPayload, fmt.Sprintf(`{"signWith":%q,"payload":"\u0019Ethereum Signed Message:\n3\u003c\u00e9",%s}`, enginetest.Address, message))
	verify(activity.TypeSignRawPayloads, fmt.Sprintf(`{"signWith":%q,"payloads":["\u0019Ethereum Signed Message:\n2<>"],%s}`, enginetest.Address, message))
	issued := verify(activity.TypeInitOTPAuth, `{"otpType":"OTP_TYPE_EMAIL","contact":"ann@example.com","alphanumeric":false,"appName":null}`)
	id := issued.Result.(activity.InitOTPAuthResult).OTPID
	verify(activity.TypeVerifyOTP, fmt.Sprintf(`{"otpId":%q,"otpCode":%q}`, id, outbox.Code(t, id)))
}
