package activity_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestParametersByteForByte: an answer has the parameters exactly as submitted, with their
// white space, escapes and order.
func TestParametersByteForByte(t *testing.T) {
	const parameters = "{ \"type\":\"TRANSACTION_TYPE_ETHEREUM\" ,\t\"signWith\":\"<a>\\u0026&\u2028\\/\",\"generateAppProofs\":null,\"unsignedTransaction\":\"\"}"
	body := strings.Replace(signBody, `{"signWith":"0xab","unsignedTransaction":"02c0","type":"TRANSACTION_TYPE_ETHEREUM"}`, parameters, 1)
	record := recordOf(t, body, vectors(t)["example_superset_sign_transaction.json"].Response.Activity)
	answer := string(record.AppendAnswer(nil))
	if got := strings.Count(answer, `"intent":{"signTransactionIntentV2":`+parameters+`}`); got != 2 {
		t.Errorf("the parameters stand %d times in the answer, want 2\n%s", got, answer)
	}
}

func TestStoredRecordAnswer(t *testing.T) {
	for name, vector := range vectors(t) {
		record := vector.record(t)
		record.AppProofs = []activity.AppProof{{Scheme: "s", PublicKey: "p", ProofPayload: `{"a":"<>"}`, Signature: "x"}}
		encoded := record.Encode()
		decoded, err := activity.DecodeRecord(encoded)
		testenv.Must(t, err)
		if got, want := decoded.AppendAnswer(nil), record.AppendAnswer(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: answered\n%s\nand from the store\n%s", name, want, got)
		}
		if bytes.Count(encoded, []byte("unsignedTransaction")) > 1 {
			t.Errorf("%s: the body is stored more than once", name)
		}
	}
}

// TestAnswerByLength: Answer, WriteAnswer and AppendAnswer agree for lengths around that of
// a piece.
func TestAnswerByLength(t *testing.T) {
	record := vectors(t)["example_superset_sign_transaction.json"].record(t)
	wholes, longer := 0, 0
	for length := range 20 {
		record.Result = activity.SignTransactionResult{SignedTransaction: strings.Repeat("5a\u00e9<", length*length*20)}
		want := record.AppendAnswer(nil)
		var pieces bytes.Buffer
		if err := record.WriteAnswer(&pieces); err != nil || !bytes.Equal(pieces.Bytes(), want) {
			t.Errorf("%d bytes: in pieces another answer, of %d bytes, %v", len(want), pieces.Len(), err)
		}
		whole, size := record.Answer()
		if size != len(want) || whole != nil && !bytes.Equal(whole, want) {
			t.Errorf("%d bytes: size %d, whole %d", len(want), size, len(whole))
		}
		if whole != nil {
			wholes++
		} else if longer++; size <= 16<<10 {
			t.Errorf("%d bytes are less than a piece and not whole", size)
		}
	}
	if wholes == 0 || longer == 0 {
		t.Errorf("%d whole, %d longer, want some of each", wholes, longer)
	}
}

func TestDecodeRecordRefuses(t *testing.T) {
	encoded := vectors(t)["example_superset_sign_transaction.json"].record(t).Encode()
	for old, changed := range map[string]string{
		"countersign.activity/2":  "countersign.activity/1",
		`"parameters":[`:          `"parameters":[-`,
		`"fingerprint":"`:         `"fingerprint":"AAAA`,
		`SIGN_TRANSACTION_V2","s`: `SIGN_TRANSACTION_V9","s`,
		`{"schema"`:               `["schema"`,
		`"createdAt":"`:           `"createdAt":"at `,
		`"timestampMs":`:          `"timestampMs":"then","later":`,
	} {
		text := strings.Replace(string(encoded), old, changed, 1)
		if text == string(encoded) {
			t.Fatalf("%q is not in %s", old, encoded)
		}
		if _, err := activity.DecodeRecord([]byte(text)); err == nil {
			t.Errorf("accepted with %s", changed)
		}
	}
}

// TestDecodeRecordOfAnotherResult: a result of the wrong form is refused for every type.
func TestDecodeRecordOfAnotherResult(t *testing.T) {
	for name, vector := range vectors(t) {
		var members map[string]json.RawMessage
		testenv.JSON(t, vector.record(t).Encode(), &members)
		members["result"] = json.RawMessage(`["a result"]`)
		for _, kind := range activity.Types() {
			members["type"] = json.RawMessage(strconv.Quote(string(kind)))
			encoded := testenv.Encode(t, members)
			if record, err := activity.DecodeRecord(encoded); err == nil {
				t.Errorf("%s as %s: accepted as %+v", name, kind, record.Result)
			}
		}
	}
}

func TestAnswerWithoutResult(t *testing.T) {
	record := vectors(t)["example_superset_sign_transaction.json"].record(t)
	record.Result = nil
	answer := answerOf(t, record)
	result := answer["result"].(map[string]any)
	if len(result) != 1 || len(result["activity"].(map[string]any)["result"].(map[string]any)) != 0 {
		t.Errorf("result %v, want nothing but the record", result)
	}
}

// TestTextIsJSON: any text is encoded as a JSON string that decodes to it.
func TestTextIsJSON(t *testing.T) {
	check := func(text string) bool {
		raw := activity.NewError(activity.ReasonInternal, "", nil, "%s", text).AppendJSON(nil)
		var got struct{ Message string }
		return json.Unmarshal(raw, &got) == nil && got.Message == strings.ToValidUTF8(text, "\ufffd")
	}
	for _, text := range []string{"", "\x00\x1f\"\\\n\r\t\x7f", "é€😀", "\u2028"} {
		if !check(text) {
			t.Errorf("%q", text)
		}
	}
	testenv.Must(t, quick.Check(check, nil))
	var got struct{ Message string }
	raw := activity.NewError(activity.ReasonInternal, "", nil, "%s", "a\xff\xc3b\xe2\x82").AppendJSON(nil)
	if err := json.Unmarshal(raw, &got); err != nil || got.Message != "a\ufffdb\ufffd" {
		t.Errorf("%q, %v", got.Message, err)
	}
}

func TestErrorJSON(t *testing.T) {
	raw := activity.NewError(activity.ReasonInvalidTransaction, "unsignedTransaction", nil, "ethereum: \"x\"").AppendJSON(nil)
	want := `{"code":3,"message":"ethereum: \"x\"","details":[{"@type":"type.googleapis.com/errors.v1.TurnkeyErrorDetail","turnkeyErrorCode":"INVALID_TRANSACTION"},` +
		`{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"unsignedTransaction","description":"ethereum: \"x\""}]}],"turnkeyErrorCode":"INVALID_TRANSACTION"}`
	if string(raw) != want {
		t.Errorf("%s\nwant\n%s", raw, want)
	}
}
