package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/httpapi"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/stamp"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

const signPath = "/public/v1/submit/sign_transaction"

// serve starts a server for a fixture's engine.
func serve(t testing.TB, f *enginetest.Fixture, options httpapi.Options) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpapi.NewServer(httpapi.New(f.Engine, options))
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// post posts a body and returns the answer.
func post(t testing.TB, url string, body io.Reader, headers ...stamp.Header) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	testenv.Must(t, err)
	for _, header := range headers {
		request.Header.Add(header.Name, header.Value)
	}
	return do(t, request)
}

func do(t testing.TB, request *http.Request) (*http.Response, []byte) {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	testenv.Must(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	testenv.Must(t, err)
	return response, text
}

// stamped sends a body with a stamp of the fixture's API key.
func stamped(t testing.TB, f *enginetest.Fixture, url, body string) (*http.Response, []byte) {
	t.Helper()
	return post(t, url, strings.NewReader(body), f.APIKey.Header([]byte(body)))
}

func TestSignTransaction(t *testing.T) {
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{})
	body := f.Body(enginetest.Request{})
	var first []byte
	for _, path := range []string{signPath, "/api/v2" + signPath, "/" + signPath, "//public//v1/submit///sign_transaction"} {
		response, answer := stamped(t, f, server.URL+path, body)
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "application/json" || response.Header.Get("X-Request-Id") == "" {
			t.Fatalf("%s: %s %v\n%s", path, response.Status, response.Header, answer)
		}
		if first == nil {
			first = answer
		}
		if !bytes.Equal(answer, first) {
			t.Errorf("%s: answers\n%s\nand before\n%s", path, answer, first)
		}
	}
	var answer struct {
		Activity struct {
			ID     string
			Result struct {
				SignTransactionResult struct{ SignedTransaction string }
			}
		}
	}
	if err := json.Unmarshal(first, &answer); err != nil || answer.Activity.Result.SignTransactionResult.SignedTransaction != enginetest.Signed {
		t.Errorf("%v\n%s", err, first)
	}
	query := fmt.Sprintf(`{"organizationId":%q,"activityId":%q}`, enginetest.Organization, answer.Activity.ID)
	if response, found := stamped(t, f, server.URL+"/public/v1/query/get_activity", query); !bytes.Equal(found, first) {
		t.Errorf("get_activity: %s\n%s", response.Status, found)
	}
	query = fmt.Sprintf(`{"organizationId":%q}`, enginetest.Organization)
	response, found := stamped(t, f, server.URL+"/public/v1/query/whoami", query)
	if want := `{"organizationId":"` + enginetest.Organization + `","organizationName":"Example","userId":"user-1","username":"ci"}`; string(found) != want {
		t.Errorf("whoami: %s\n%s", response.Status, found)
	}
}

func TestRefusals(t *testing.T) {
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{})
	body := f.Body(enginetest.Request{})
	header := f.APIKey.Header([]byte(body))
	encoded := stamp.Header{Name: "Content-Encoding", Value: "identity"}
	for name, test := range map[string]struct {
		path, body string
		headers    []stamp.Header
		status     int
		reason     string
	}{
		"no stamp":             {signPath, body, nil, 401, "SIGNATURE_MISSING"},
		"two stamps":           {signPath, body, []stamp.Header{header, header}, 401, "SIGNATURE_MISSING"},
		"both headers":         {signPath, body, []stamp.Header{header, {Name: "X-Stamp-Webauthn", Value: header.Value}}, 401, "SIGNATURE_MISSING"},
		"wrong stamp":          {signPath, body, []stamp.Header{f.APIKey.Header([]byte("other"))}, 401, "SIGNATURE_INVALID"},
		"content encoding":     {signPath, body, []stamp.Header{header, encoded}, 400, "REQUEST_INVALID"},
		"another type's path":  {"/public/v1/submit/init_otp_auth", body, []stamp.Header{header}, 400, "REQUEST_INVALID"},
		"unknown path":         {"/public/v1/submit/sign_nothing", body, []stamp.Header{header}, 404, "RESOURCE_NOT_FOUND"},
		"no path":              {"/", body, []stamp.Header{header}, 404, "RESOURCE_NOT_FOUND"},
		"a path cut off":       {"/public/v1/submit/", body, []stamp.Header{header}, 404, "RESOURCE_NOT_FOUND"},
		"in another case":      {"/public/v1/submit/Sign_Transaction", body, []stamp.Header{header}, 404, "RESOURCE_NOT_FOUND"},
		"malformed body":       {signPath, `{"type":`, []stamp.Header{header}, 400, "REQUEST_INVALID"},
		"no body":              {signPath, ``, []stamp.Header{header}, 400, "REQUEST_INVALID"},
		"unknown activity":     {"/public/v1/query/get_activity", `{"organizationId":"` + enginetest.Organization + `","activityId":"x"}`, nil, 404, "RESOURCE_NOT_FOUND"},
		"malformed query":      {"/public/v1/query/whoami", `{}`, nil, 400, "REQUEST_INVALID"},
		"not allowed":          {signPath, body, []stamp.Header{f.OTPOnly.Header([]byte(body))}, 403, "REQUEST_NOT_AUTHORIZED"},
		"a stamp of many":      {signPath, body, []stamp.Header{{Name: "X-Stamp", Value: header.Value + "," + header.Value}}, 401, "SIGNATURE_INVALID"},
		"an empty stamp":       {signPath, body, []stamp.Header{{Name: "X-Stamp", Value: ""}}, 401, "SIGNATURE_INVALID"},
		"an empty one besides": {signPath, body, []stamp.Header{header, {Name: "X-Stamp-Webauthn", Value: ""}}, 401, "SIGNATURE_MISSING"},
	} {
		t.Run(name, func(t *testing.T) {
			headers := test.headers
			if strings.HasPrefix(test.path, "/public/v1/query/") {
				headers = []stamp.Header{f.APIKey.Header([]byte(test.body))}
			}
			response, answer := post(t, server.URL+test.path, strings.NewReader(test.body), headers...)
			checkError(t, response, answer, test.status, test.reason)
		})
	}
}

func checkError(t *testing.T, response *http.Response, answer []byte, status int, reason string) string {
	t.Helper()
	var got struct {
		Code             int
		Message          string
		TurnkeyErrorCode string
		Details          []map[string]any
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if response.StatusCode != status || got.TurnkeyErrorCode != reason || got.Message == "" || got.Details[0]["turnkeyErrorCode"] != reason {
		t.Errorf("%s %s\nwant %d %s", response.Status, answer, status, reason)
	}
	if contentType := response.Header.Get("Content-Type"); contentType != "application/json" {
		t.Errorf("Content-Type %s", contentType)
	}
	return got.Message
}

func TestOtherMethods(t *testing.T) {
	f := enginetest.New(t)
	server := serve(t, f, httpapi.Options{})
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+signPath, http.NoBody)
		testenv.Must(t, err)
		response, answer := do(t, request)
		checkError(t, response, answer, http.StatusMethodNotAllowed, "REQUEST_INVALID")
		if response.Header.Get("Allow") != "POST" {
			t.Errorf("%s: Allow is %q", method, response.Header.Get("Allow"))
		}
	}
}

// TestInternalErrors checks that the answer holds only an incident id, under which the log has
// the cause.
func TestInternalErrors(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	f := enginetest.New(t, func(c *countersign.Config) { c.Logger = logger })
	seen := counted{}
	server := serve(t, f, httpapi.Options{Logger: logger, Observer: seen})
	for name, fault := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return errors.New("hsm slot 7: PIN expired") },
		"panic": func(context.Context) error { panic("hsm slot 7: PIN expired") },
	} {
		log.Reset()
		f.Signing.Before = fault
		f.Clock.Advance(time.Second) // another body
		response, answer := stamped(t, f, server.URL+signPath, f.Body(enginetest.Request{}))
		message := checkError(t, response, answer, http.StatusInternalServerError, "INTERNAL")
		id := response.Header.Get("X-Request-Id")
		if message != "internal error, incident "+id {
			t.Errorf("%s: message %q", name, message)
		}
		if !strings.Contains(log.String(), id) || !strings.Contains(log.String(), "hsm slot 7: PIN expired") {
			t.Errorf("%s: the log does not have the cause: %s", name, log.String())
		}
	}
	if seen["sign_transaction INTERNAL"] != 1 { // the panic: the engine's own observer has the error
		t.Errorf("counted %v", seen)
	}
}

// TestLogHasNoSecrets searches the log of a session, including refusals, for secrets.
func TestLogHasNoSecrets(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	f := enginetest.New(t, func(c *countersign.Config) { c.Logger = logger })
	server := serve(t, f, httpapi.Options{Logger: logger})
	body := f.Body(enginetest.Request{Proofs: true})
	header := f.APIKey.Header([]byte(body))
	stamped(t, f, server.URL+signPath, body)
	post(t, server.URL+signPath, strings.NewReader(body+" "), header)
	const code = "K7QJ2M9XW"
	redeem := fmt.Sprintf(`{"type":"ACTIVITY_TYPE_VERIFY_OTP","timestampMs":"%d","organizationId":%q,"parameters":{"otpId":"i","otpCode":%q}}`,
		f.Clock.Now().UnixMilli(), enginetest.Organization, code)
	stamped(t, f, server.URL+"/public/v1/submit/verify_otp", redeem)
	stamped(t, f, server.URL+"/public/v1/submit/verify_otp", strings.Replace(redeem, `"otpCode"`, `"otpcode"`, 1))
	if !strings.Contains(log.String(), "reason=SIGNATURE_INVALID") || !strings.Contains(log.String(), "operation=verify_otp") {
		t.Fatalf("the log does not have the requests: %s", log.String())
	}
	for _, secret := range []string{enginetest.Secret, f.APIKey.PrivateKey(), code, header.Value, enginetest.Signed} {
		if strings.Contains(strings.ToLower(log.String()), strings.ToLower(secret)) {
			t.Errorf("the log has %s", secret)
		}
	}
}

func TestCORS(t *testing.T) {
	f := enginetest.New(t)
	open := serve(t, f, httpapi.Options{Origins: []string{"https://app.example.com"}})
	closed := serve(t, f, httpapi.Options{})
	for _, test := range []struct {
		server  *httptest.Server
		origin  string
		allowed bool
	}{
		{open, "https://app.example.com", true},
		{open, "https://app.example.com.evil.org", false},
		{open, "null", false},
		{open, "", false},
		{closed, "https://app.example.com", false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, test.server.URL+signPath, http.NoBody)
		testenv.Must(t, err)
		request.Header.Set("Origin", test.origin)
		request.Header.Set("Access-Control-Request-Method", "POST")
		request.Header.Set("Access-Control-Request-Headers", "x-stamp")
		response, _ := do(t, request)
		got := response.Header.Get("Access-Control-Allow-Origin")
		if allowed := got == test.origin && response.StatusCode == http.StatusNoContent; allowed != test.allowed || !test.allowed && got != "" {
			t.Errorf("preflight of %q: %s, origin %q", test.origin, response.Status, got)
		}
		if test.allowed && response.Header.Get("Access-Control-Allow-Headers") != "content-type, x-stamp, x-stamp-webauthn, x-client-version" {
			t.Errorf("headers %q", response.Header.Get("Access-Control-Allow-Headers"))
		}
		request.Method = http.MethodPost
		response, answer := do(t, request)
		if got := response.Header.Get("Access-Control-Allow-Origin"); (got == test.origin && got != "") != test.allowed {
			t.Errorf("POST of %q: origin %q", test.origin, got)
		}
		checkError(t, response, answer, http.StatusBadRequest, "REQUEST_INVALID") // it has no body, and was processed
		// A cache must not return an answer for one origin to another.
		if varies := response.Header.Get("Vary") == "Origin"; varies != (test.server == open) {
			t.Errorf("POST of %q: Vary %q", test.origin, response.Header.Get("Vary"))
		}
	}
}

func TestAdmin(t *testing.T) {
	f := enginetest.New(t)
	metrics := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "metrics") })
	server := httptest.NewServer(httpapi.Admin(f.Engine, metrics))
	defer server.Close()
	check := func(path string, status int) (body string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
		testenv.Must(t, err)
		response, answer := do(t, request)
		if response.StatusCode != status {
			t.Errorf("%s: %s, want %d", path, response.Status, status)
		}
		return string(answer)
	}
	check("/healthz", 200)
	check("/readyz", 200)
	check("/metrics", 200)
	check(signPath, 404)
	testenv.Must(t, f.Engine.Close())
	check("/healthz", 200)
	if body := check("/readyz", 503); body != `{"status":"unavailable","cause":"store: closed"}` {
		t.Error(body)
	}
}

// fullStore is a store on a full disk.
type fullStore struct{ store.Store }

// Ping implements store.Store.
func (fullStore) Ping(context.Context) error {
	return fmt.Errorf("%w: write /var/lib/state.db: %w", store.ErrUnavailable, syscall.ENOSPC)
}

// TestReadyzCause checks that /readyz gives operators the cause that clients are not told.
func TestReadyzCause(t *testing.T) {
	f := enginetest.New(t, func(c *countersign.Config) { c.Store = fullStore{memory.New(0)} })
	answer := httptest.NewRecorder()
	httpapi.Admin(f.Engine, nil).ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
	want := `{"status":"unavailable","cause":"` + store.ErrUnavailable.Error() + `: write /var/lib/state.db: no space left on device"}`
	if answer.Code != http.StatusServiceUnavailable || answer.Body.String() != want {
		t.Errorf("%d %s, want %s", answer.Code, answer.Body, want)
	}
}

// counted counts operations with their outcomes.
type counted map[string]int

// Observe implements countersign.Observer.
func (c counted) Observe(seen countersign.Observation) {
	c[seen.Operation+" "+string(seen.Reason)]++
}

// TestRefusedBodiesAreCounted checks that requests that are refused before the engine sees
// them are counted, under the name that the engine has for the operation.
func TestRefusedBodiesAreCounted(t *testing.T) {
	seen := counted{}
	server := serve(t, enginetest.New(t), httpapi.Options{Observer: seen})
	for _, path := range []string{"submit/sign_transaction", "submit/verify_otp", "query/list_activities"} {
		_, operation, _ := strings.Cut(path, "/")
		for body, reason := range map[string]string{
			strings.Repeat("x", httpapi.DefaultMaxBody+1): " REQUEST_INVALID",
			strings.Repeat("x", 8<<10):                    " SIGNATURE_MISSING",
		} {
			post(t, server.URL+"/public/v1/"+path, strings.NewReader(body))
			if seen[operation+reason] != 1 {
				t.Errorf("%s%s: counted %v", operation, reason, seen)
			}
		}
	}
}

// TestNotServed checks that requests for unknown paths and methods are logged and counted,
// however long the path, and that the answer to an unknown path lists the known ones.
func TestNotServed(t *testing.T) {
	f := enginetest.New(t)
	var log bytes.Buffer
	seen := counted{}
	api := httpapi.New(f.Engine, httpapi.Options{Logger: slog.New(slog.NewJSONHandler(&log, nil)), Observer: seen})
	for _, asked := range [][2]string{
		{http.MethodPost, "/public/v1/submit/sign_nothing"}, {http.MethodGet, "/public/v1/query/whoami"}, {http.MethodGet, "/" + strings.Repeat("x", 5000)},
	} {
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), asked[0], asked[1], http.NoBody))
		for _, path := range []string{"submit/sign_transaction", "submit/sign_raw_payload", "query/whoami"} {
			if answer.Code == http.StatusNotFound && !strings.Contains(answer.Body.String(), path) {
				t.Errorf("%s is not named: %s", path, answer.Body)
			}
		}
	}
	if seen[" "+httpapi.NotServed] != 3 || strings.Count(log.String(), `"msg":"not served"`) != 3 || log.Len() > 3000 {
		t.Errorf("counted %v, logged %s", seen, log.String())
	}
	if !strings.Contains(log.String(), `"path":"/public/v1/submit/sign_nothing","remote":`) {
		t.Errorf("no path or remote address: %s", log.String())
	}
}
