package rpcapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/rpcapi"
	"github.com/countersign-dev/countersign/store/memory"
)

// token is the token of user-1.
const token = "0123456789abcdef0123456789abcdef"

// server is a server of a fixture's engine.
type server struct {
	*enginetest.Fixture
	t       testing.TB
	url     string
	handler *rpcapi.Handler
	socket  string // path, once it is dialled
}

// newServer returns a server whose only caller is user-1, by a token or as this process.
func newServer(t testing.TB, changes ...func(*countersign.Config)) *server {
	t.Helper()
	return newServerOf(t, func(*rpcapi.Options) {}, changes...)
}

// newServerOf returns a server with other options.
func newServerOf(t testing.TB, change func(*rpcapi.Options), changes ...func(*countersign.Config)) *server {
	t.Helper()
	f := enginetest.New(t, append([]func(*countersign.Config){func(c *countersign.Config) {
		c.Store, c.AllowHazards = memory.New(0), []string{countersign.AllHazards}
	}}, changes...)...)
	uid := uint32(os.Getuid())
	users, err := rpcapi.NewUsers([]rpcapi.User{{OrganizationID: enginetest.Organization, UserID: "user-1", Token: token, UID: &uid}}, nil)
	testenv.Must(t, err)
	options := rpcapi.Options{
		Users: func() *rpcapi.Users { return users }, Directory: f.Config.Directory.(access.Users), Keystore: f.Signing, ChainID: 1,
		Host: func(host string) bool { return strings.HasPrefix(host, "127.0.0.1:") },
	}
	change(&options)
	handler := rpcapi.New(f.Engine, options)
	listening := httptest.NewServer(handler)
	t.Cleanup(listening.Close)
	return &server{Fixture: f, t: t, url: listening.URL, handler: handler}
}

// answered is an answer.
type answered struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result"`
	Error   *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    struct {
			Reason, Field, ActivityID string
		} `json:"data"`
	} `json:"error"`
}

// post posts a body with the token and headers, and returns the status and the answer.
func (s *server) post(body string, headers ...string) (status int, answer string) {
	s.t.Helper()
	return post(s.t, http.DefaultClient, s.url, body, append([]string{"Authorization", "Bearer " + token}, headers...)...)
}

// post posts a body with headers, and returns the status and the answer, or 0 and why there is none.
func post(t testing.TB, client *http.Client, url, body string, headers ...string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	testenv.Must(t, err)
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		} else {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	testenv.Must(t, err)
	return response.StatusCode, string(text)
}

// call makes a call.
func (s *server) call(method, params string) answered {
	s.t.Helper()
	status, text := s.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params))
	var a answered
	if err := json.NewDecoder(bytes.NewReader([]byte(text))).Decode(&a); err != nil || status != http.StatusOK || string(a.ID) != "7" || a.JSONRPC != "2.0" {
		s.t.Fatalf("%s: status %d, %v: %s", method, status, err, text)
	}
	return a
}

// ordinary is the transaction that the vector enginetest.Signed is of.
const ordinary = `{"from":"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56","to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7","gas":"0xea60",
	"maxFeePerGas":"0x4a817c800","maxPriorityFeePerGas":"0x3b9aca00","value":"0x7b","nonce":"0x7","chainId":"0x1","input":"0x","gasPrice":null}`

// TestSignsTheVector checks that a transaction object is signed as its encoding is, by each
// spelling that clients send, and once.
func TestSignsTheVector(t *testing.T) {
	s := newServer(t)
	for _, spelled := range []string{
		ordinary,
		strings.Replace(ordinary, `"gasPrice":null`, `"gasPrice":"0x4a817c800","accessList":[],"type":"0x2","data":"0x"`, 1),
		strings.Replace(ordinary, "0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56", strings.ToLower(enginetest.Address), 1),
		strings.Replace(ordinary, `"input":"0x",`, `"blobVersionedHashes":null,"authorizationList":null,`, 1),
	} {
		if a := s.call("eth_signTransaction", "["+spelled+"]"); a.Error != nil || string(a.Result) != `"0x`+enginetest.Signed+`"` {
			t.Fatalf("%s: %s %+v", spelled, a.Result, a.Error)
		}
	}
	s.WantSignatures(t, 1)
	both := s.call("account_signTransaction", "["+ordinary+"]")
	var parts struct {
		Raw string
		Tx  struct{ Type, Nonce, Hash, YParity string }
	}
	if err := json.Unmarshal(both.Result, &parts); err != nil || parts.Raw != "0x"+enginetest.Signed || parts.Tx.Type != "0x2" || parts.Tx.Nonce != "0x7" {
		t.Errorf("%s, %v", both.Result, err)
	}
}

// TestContradictions changes one thing of a good object so that it leaves something open, is
// malformed or contradicts itself, and checks that the member is named and nothing signed.
func TestContradictions(t *testing.T) {
	const (
		zeros = "0x0000000000000000000000000000000000000000000000000000000000000000"
		hash  = "0x0100000000000000000000000000000000000000000000000000000000000000"
		tuple = `{"chainId":"0x1","address":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7","nonce":"0x0","yParity":"0x0","r":"0x1","s":"0x1"}`
	)
	s := newServer(t)
	for _, test := range []struct{ old, new, field string }{
		{`"from":"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56",`, ``, "from"},
		{`0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56`, `0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c57`, "from"},
		{`0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56`, `0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7`, "from"}, // no key has it
		{`0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56`, `97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56`, "from"},
		{`0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56`, ``, "from"},
		{`"chainId":"0x1",`, ``, "chainId"},
		{`"chainId":"0x1"`, `"chainId":"0x0"`, "chainId"},
		{`"chainId":"0x1"`, `"chainId":null`, "chainId"},
		{`"chainId":"0x1"`, `"chainId":"1"`, "chainId"},
		{`"chainId":"0x1"`, `"chainId":"0X1"`, "chainId"},
		{`"chainId":"0x1"`, `"chainId":"0x10000000000000000"`, "chainId"},
		{`"nonce":"0x7",`, ``, "nonce"},
		{`"nonce":"0x7"`, `"nonce":"0x10000000000000000"`, "nonce"},
		{`"gas":"0xea60",`, ``, "gas"},
		{`"maxFeePerGas":"0x4a817c800",`, ``, "maxFeePerGas"},
		{`"maxPriorityFeePerGas":"0x3b9aca00",`, ``, "maxPriorityFeePerGas"},
		{`"maxFeePerGas":"0x4a817c800"`, `"maxFeePerGas":"0x3b9ac9ff"`, "maxPriorityFeePerGas"},
		{`"gasPrice":null`, `"gasPrice":"0x1"`, "gasPrice"},
		{`"gasPrice":null`, `"gasPrice":"0x4a817c800","type":"0x0"`, "type"},
		{`"gasPrice":null`, `"type":"0x1"`, "type"},
		{`"gasPrice":null`, `"type":"0x4"`, "type"},
		{`"input":"0x"`, `"input":"0x0"`, "input"},
		{`"input":"0x"`, `"input":"abcd"`, "input"},
		{`"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7",`, ``, "to"},
		{`"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"`, `"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b"`, "to"},
		{`"to":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"`, `"to":"0x08D2b0a37f869ff76bacb5bab3278e26ab7067b7"`, "to"},
		{`"gasPrice":null`, `"Value":"0x0"`, "Value"},
		{`"gasPrice":null`, `"accessList":[{"address":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7"}]`, "accessList.0.storageKeys"},
		{`"gasPrice":null`, `"accessList":[{"address":"0x08d2b0a37f869ff76bacb5bab3278e26ab7067b7","storageKeys":["0x00"]}]`, "accessList.0.storageKeys.0"},
		{`"gasPrice":null`, `"maxFeePerBlobGas":"0x1"`, "blobVersionedHashes"},
		{`"gasPrice":null`, `"blobVersionedHashes":["` + hash + `"]`, "maxFeePerBlobGas"},
		{`"gasPrice":null`, `"maxFeePerBlobGas":"0x1","blobVersionedHashes":[]`, "blobVersionedHashes"},
		{`"gasPrice":null`, `"maxFeePerBlobGas":"0x1","blobVersionedHashes":["` + zeros + `"]`, "transaction"},
		{`"gasPrice":null`, `"maxFeePerBlobGas":"0x1","blobVersionedHashes":["` + hash + `"],"commitments":["0x` + strings.Repeat("00", 48) + `"]`, "blobs"},
		{`"gasPrice":null`, `"maxFeePerBlobGas":"0x1","blobVersionedHashes":["` + hash + `"],"blobs":[]`, "blobVersionedHashes"},
		{`"gasPrice":null`, `"maxFeePerBlobGas":"0x1","blobs":[]`, "blobs"},
		{`"gasPrice":null`, `"maxFeePerBlobGas":"0x1","blobs":["0x00"],"commitments":[],"proofs":[]`, "commitments"},
		{`"gasPrice":null`, `"authorizationList":[]`, "authorizationList"},
		{`"gasPrice":null`, `"authorizationList":[` + strings.Replace(tuple, `"yParity":"0x0"`, `"yParity":"0x100"`, 1) + `]`, "authorizationList.0.yParity"},
		{`"gasPrice":null`, `"authorizationList":[` + tuple + `,` + strings.Replace(tuple, `"address":"0x`, `"address":"0xA`, 1) + `]`, "authorizationList.1.address"},
		{`"gasPrice":null`, `"authorizationList":[` + strings.Replace(tuple, `"yParity":"0x0",`, "", 1) + `]`, "authorizationList.0.yParity"},
		{`"gasPrice":null`, `"authorizationList":[` + strings.Replace(tuple, `"r":"0x1"`, `"r":"0x01"`, 1) + `]`, "authorizationList.0.r"},
	} {
		changed := strings.Replace(ordinary, test.old, test.new, 1)
		if changed == ordinary {
			t.Fatalf("%s is not in the object", test.old)
		}
		for _, method := range []string{"eth_signTransaction", "account_signTransaction"} {
			a := s.call(method, "["+changed+"]")
			if a.Error == nil || a.Error.Code != -32602 || a.Error.Data.Field != test.field {
				t.Errorf("%s → %s: %s, %+v", test.old, test.new, a.Result, a.Error)
			}
		}
	}
	s.WantSignatures(t, 0)
}

// TestIgnoredParameters: the password that clients send behind a text, and clef's selector behind a
// transaction, change no body that is recorded, and are in no line of the log, in a refusal either.
func TestIgnoredParameters(t *testing.T) {
	const from = `"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"`
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := newServerOf(t, func(o *rpcapi.Options) { o.Logger = logger }, func(c *countersign.Config) { c.Logger = logger })
	for method, first := range map[string]string{"personal_sign": `["0x68656c6c6f",` + from, "account_signTransaction": "[" + ordinary} {
		var results []string
		for _, last := range []string{"", `,"hunter2"`, `,null`} {
			a := s.call(method, first+last+"]")
			if a.Error != nil {
				t.Fatalf("%s %s: %+v", method, last, a.Error)
			}
			results = append(results, string(a.Result))
		}
		if len(slices.Compact(results)) != 1 {
			t.Errorf("%s: %q", method, results)
		}
		for _, last := range []string{`,{"hunter2":1}]`, `,["hunter2"]]`, `,"hunter2","hunter2"]`} {
			if a := s.call(method, first+last); a.Error == nil || strings.Contains(a.Error.Message, "hunter2") {
				t.Errorf("%s %s: %s, %+v", method, last, a.Result, a.Error)
			}
		}
	}
	s.WantSignatures(t, 2) // what differs in the last parameter alone is one request
	if log.Len() == 0 || strings.Contains(log.String(), "hunter2") {
		t.Errorf("the log: %s", log.String())
	}
}

// TestMessages signs messages by each method, and checks that what is a hash is refused.
func TestMessages(t *testing.T) {
	const (
		from  = `"0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c56"`
		typed = `{"types":{"EIP712Domain":[{"name":"name","type":"string"}],"Mail":[{"name":"text","type":"string"}]},"primaryType":"Mail","domain":{"name":"x"},"message":{"text":"hello"}}`
	)
	s := newServer(t)
	quoted, _ := json.Marshal(typed)
	results := map[string]string{}
	for _, test := range []struct{ kind, method, params string }{
		{"text", "personal_sign", `["0x68656c6c6f",` + from + `]`},
		{"text", "eth_sign", `[` + from + `,"0x68656c6c6f"]`},
		{"text", "account_signData", `["text/plain",` + from + `,"0x68656c6c6f"]`},
		{"typed", "eth_signTypedData_v4", `[` + from + `,` + typed + `]`},
		{"typed", "eth_signTypedData", `[` + from + `,` + string(quoted) + `]`},
		{"typed", "account_signData", `["data/typed",` + from + `,` + strings.ReplaceAll(typed, ":", " : ") + `]`},
		{"typed", "account_signData", `["data/typed",` + from + fmt.Sprintf(`,"0x%x"]`, typed)},
		{"validator", "account_signData", `["data/validator",` + from + `,{"address":` + from + `,"message":"0x0102"}]`},
	} {
		a := s.call(test.method, test.params)
		if a.Error != nil || len(a.Result) != 2*65+4 || results[test.kind] != "" && results[test.kind] != string(a.Result) {
			t.Errorf("%s %s: %s, %+v", test.method, test.params, a.Result, a.Error)
		}
		results[test.kind] = string(a.Result)
	}
	s.WantSignatures(t, 3)
	for _, test := range []struct{ method, params, field string }{
		{"eth_sign", `[` + from + `,"0x` + strings.Repeat("ab", 32) + `"]`, "data"},
		{"personal_sign", `["0x` + strings.Repeat("ab", 32) + `",` + from + `]`, "data"},
		{"personal_sign", `["hello",` + from + `]`, "data"},
		{"personal_sign", `["0x68656c6c6f","0x97cC56300C36F60C7Fb7C50BaBc6c5cDF59D5c57"]`, "address"},
		{"personal_sign", `["0x68656c6c6f"]`, ""},
		{"eth_signTypedData_v4", `[` + from + `,{}]`, "data"},
		{"eth_signTypedData_v4", `[` + from + `,7]`, "data"},
		{"account_signData", `["application/x-clique-header",` + from + `,"0x00"]`, "contentType"},
		{"account_signData", `["data/validator",` + from + `,{"address":` + from + `}]`, "message"},
	} {
		s := newServer(t, func(c *countersign.Config) { c.AllowHazards = nil })
		a := s.call(test.method, test.params)
		if a.Error == nil || a.Error.Data.Field != test.field {
			t.Errorf("%s %s: %s, %+v", test.method, test.params, a.Result, a.Error)
		}
		s.WantSignatures(t, 0)
	}
}

// TestEnvelope checks requests and batches.
func TestEnvelope(t *testing.T) {
	s := newServer(t)
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"a","method":"health_status"}`:                                                         `{"jsonrpc":"2.0","id":"a","result":"ok"}`,
		` [{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]},{"jsonrpc":"2.0","id":2,"method":"eth_nope"}]`: `[{"jsonrpc":"2.0","id":1,"result":"0x1"},{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"method \"eth_nope\" is not served: this is a signer: ask a node about a chain"}}]`,
		`{"jsonrpc":"2.0","id":1,"method":"eth_accounts"}`:                                                            `{"jsonrpc":"2.0","id":1,"result":["` + enginetest.Address + `"]}`,
		`{"jsonrpc":"2.0","id":1,"method":"account_version"}`:                                                         `{"jsonrpc":"2.0","id":1,"result":"` + rpcapi.Version + `"}`,
	} {
		if _, got := s.post(body); got != want {
			t.Errorf("%s: %s", body, got)
		}
	}
	for body, code := range map[string]string{
		`{`:  "-32700",
		``:   "-32700",
		`[]`: "-32600",
		`7`:  "-32600",
		`{"jsonrpc":"1.0","id":1,"method":"health_status"}`:                                                            "-32600",
		`{"jsonrpc":"2.0","method":"health_status"}`:                                                                   "-32600",
		`{"jsonrpc":"2.0","id":{},"method":"health_status"}`:                                                           "-32600",
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"health_status"}`:                                                     "-32600",
		`{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[{"nonce":"0x7","nonce":"0x8"}]}`:             "-32600",
		`{"jsonrpc":"2.0","id":1,"method":"health_status","more":1}`:                                                   "-32600",
		`{"jsonrpc":"2.0","id":1,"method":"health_status","params":{}}`:                                                "-32602",
		`{"jsonrpc":"2.0","id":1,"method":"eth_sendTransaction"}`:                                                      "-32601",
		`[` + strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"x"},`, 100) + `{"jsonrpc":"2.0","id":1,"method":"x"}]`: "-32600",
	} {
		if status, got := s.post(body); status != http.StatusOK || !strings.Contains(got, `"code":`+code) {
			t.Errorf("%.80s: %d %s", body, status, got)
		}
	}
}

// TestBrowsersAreRefused checks that nothing is done for a request that a page can send, or
// that names another host, and that Node's fetch, which sends Sec-Fetch-Mode alone, is taken.
func TestBrowsersAreRefused(t *testing.T) {
	s := newServer(t)
	body := `{"jsonrpc":"2.0","id":1,"method":"eth_signTransaction","params":[` + ordinary + `]}`
	for _, headers := range [][]string{
		{"Origin", "http://evil.example"}, {"Origin", "null"}, {"Origin", "http://127.0.0.1:8082"}, {"Origin", ""},
		{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "none"},
		{"Content-Type", "text/plain"}, {"Content-Type", "application/x-www-form-urlencoded"}, {"Content-Type", ""}, {"Content-Type", "text/plain; application/json"},
		{"Host", "evil.example"}, {"Host", "127.0.0.1.evil.example:80"}, {"Host", ""},
		{"Authorization", ""}, {"Authorization", "Bearer " + token + "0"}, {"Authorization", "Bearer"}, {"Authorization", "Basic Og=="},
	} {
		if headers[0] == "Host" && headers[1] == "" {
			continue // the client fills it in
		}
		if status, got := s.post(body, headers...); status < 400 || status >= 500 || strings.Contains(got, "result") {
			t.Errorf("%q: %d %s", headers, status, got)
		}
	}
	s.WantSignatures(t, 0)
	if status, got := s.post(body, "Sec-Fetch-Mode", "cors", "Content-Type", "application/json; charset=utf-8"); status != http.StatusOK || !strings.Contains(got, enginetest.Signed) {
		t.Errorf("Node's fetch: %d %s", status, got)
	}
	for _, method := range []string{http.MethodOptions, http.MethodGet, http.MethodPut} {
		request, _ := http.NewRequestWithContext(t.Context(), method, s.url, nil)
		response, err := http.DefaultClient.Do(request)
		testenv.Must(t, err)
		response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d", method, response.StatusCode)
		}
	}
}
