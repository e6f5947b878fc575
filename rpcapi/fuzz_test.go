package rpcapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/countersign-dev/countersign/enginetest"
)

// FuzzBody answers bodies of the caller. Every answer is JSON: one for a request, one for each
// of a batch in its order, or a single error. An id comes back as it was sent, and each answer
// has either a result or an error.
func FuzzBody(f *testing.F) {
	s := newServer(f)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"eth_accounts"}`,
		`[{"jsonrpc":"2.0","id":"a","method":"eth_chainId","params":[]},{"jsonrpc":"2.0","id":2,"method":"none"}]`,
		`{"jsonrpc":"2.0","id":3,"method":"eth_signTransaction","params":[` + ordinary + `]}`,
		`{"jsonrpc":"2.0","id":4,"method":"personal_sign","params":["0x68656c6c6f","` + enginetest.Address + `"]}`,
		`{"jsonrpc":"2.0","id":5,"method":"eth_signTypedData_v4","params":["` + enginetest.Address + `","{}"]}`,
		`{"jsonrpc":"2.0","id":6,"method":"account_signData","params":["data/validator","` + enginetest.Address + `",{"address":"` + enginetest.Address + `","message":"0x01"}]}`,
		`{"jsonrpc":"2.0","id":null,"method":"eth_sign"}`, `[]`, `[[]]`, `{}`, ``, `{"jsonrpc":"2.0","id":7,"id":7,"method":"eth_accounts"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:1/", bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		recorded := httptest.NewRecorder()
		s.handler.ServeHTTP(recorded, request)
		if recorded.Code != http.StatusOK {
			t.Fatalf("status %d to %q", recorded.Code, body)
		}
		checkAnswers(t, body, recorded.Body.Bytes())
	})
}

// checkAnswers checks the answers to a body.
func checkAnswers(t *testing.T, body, text []byte) {
	t.Helper()
	answers := []json.RawMessage{text}
	if bytes.HasPrefix(text, []byte("[")) {
		if err := json.Unmarshal(text, &answers); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var requests []json.RawMessage
		if err := json.Unmarshal(body, &requests); err != nil || len(requests) != len(answers) {
			t.Fatalf("%d answers to %q: %v", len(answers), body, err)
		}
		for i := range answers {
			checkAnswer(t, requests[i], answers[i])
		}
		return
	}
	checkAnswer(t, body, text)
}

func checkAnswer(t *testing.T, request, text []byte) {
	t.Helper()
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(text, &answer); err != nil || string(answer["jsonrpc"]) != `"2.0"` || (answer["result"] == nil) == (answer["error"] == nil) {
		t.Fatalf("%s: %v", text, err)
	}
	var asked map[string]json.RawMessage
	if id := string(answer["id"]); id != "null" && (json.Unmarshal(request, &asked) != nil || string(asked["id"]) != id) {
		t.Fatalf("%q is answered as %s", request, id)
	}
}
