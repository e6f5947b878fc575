package webhook_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/webhook"
)

var secret = []byte(strings.Repeat("s", 32))

var message = otp.Message{
	OTPID: "0fcd14f5-dae7-4331-82ca-ebaddd849534", OrganizationID: "org", Type: otp.TypeSMS,
	To: "+4915112345678", Text: "XKCD42 ü", FromName: "Notifications",
}

func newSender(t *testing.T, url string, change func(*webhook.Config)) *webhook.Sender {
	t.Helper()
	config := webhook.Config{URL: url, Secrets: webhook.Secrets{secret}, Backoff: time.Millisecond}
	if change != nil {
		change(&config)
	}
	sender, err := webhook.New(config)
	testenv.Must(t, err)
	return sender
}

func TestSend(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := (webhook.Secrets{secret}).Verify(r.Header, body, time.Now()); err != nil {
			t.Error(err)
		}
		var got webhook.Body
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		want := webhook.Body{OTPID: message.OTPID, OrganizationID: "org", Channel: "sms", To: message.To, Text: message.Text, FromName: "Notifications"}
		if got != want || r.Method != http.MethodPost || r.Header.Get(webhook.IDHeader) != message.OTPID || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v %+v", r.Method, r.Header, got)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	sender := newSender(t, server.URL, func(c *webhook.Config) { c.Client = server.Client() })
	testenv.Must(t, sender.Send(t.Context(), message))
}

// TestAttempts checks that what is not accepted is tried again, up to the bound. No error
// contains the message or the endpoint's answer.
func TestAttempts(t *testing.T) {
	for name, test := range map[string]struct {
		statuses []int
		attempts int32
		ok       bool
	}{
		"accepted at once":    {[]int{200}, 1, true},
		"accepted third":      {[]int{503, 429, 204}, 3, true},
		"never accepted":      {[]int{500, 500, 500, 200}, 3, false},
		"a timeout":           {[]int{408, 200}, 2, true},
		"refused once":        {[]int{400, 200}, 2, true},
		"not authorized":      {[]int{401, 401, 401, 200}, 3, false},
		"redirected for ever": {[]int{301, 307, 301, 200}, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			var attempts atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(test.statuses[attempts.Add(1)-1])
				_, _ = w.Write(body)
			}))
			defer server.Close()
			err := newSender(t, server.URL, nil).Send(t.Context(), message)
			if test.ok != (err == nil) || attempts.Load() != test.attempts {
				t.Errorf("%d attempts, %v", attempts.Load(), err)
			}
			if err != nil && strings.Contains(err.Error(), "XKCD42") {
				t.Errorf("the error shows the code: %v", err)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	server := httptest.NewServer(nil)
	address := server.URL
	server.Close()
	err := newSender(t, strings.Replace(address, "http://", "http://user:hush@", 1), nil).Send(t.Context(), message)
	if err == nil || !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "hush") {
		t.Errorf("%v", err)
	}
}

// TestSlow checks that an endpoint that does not answer delays Send only until the
// context ends.
func TestSlow(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := newSender(t, server.URL, func(c *webhook.Config) { c.Timeout = time.Hour }).Send(ctx, message)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// endpoint is an HTTP transport that answers with a status.
type endpoint func() (status int)

func (e endpoint) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: e(), Body: http.NoBody, Request: request}, nil
}

// TestCancelBetweenAttempts checks that Send returns an error if its context is
// cancelled before the next attempt.
func TestCancelBetweenAttempts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	attempts := 0
	sender := newSender(t, "https://example.com/", func(c *webhook.Config) {
		c.Backoff = 24 * time.Hour
		c.Client = &http.Client{Transport: endpoint(func() int {
			attempts++
			cancel()
			return http.StatusServiceUnavailable
		})}
	})
	err := sender.Send(ctx, message)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "status 503") || attempts != 1 {
		t.Errorf("after %d attempts: %v", attempts, err)
	}
}

func TestConfigInvalid(t *testing.T) {
	for name, config := range map[string]webhook.Config{
		"no URL":         {Secrets: webhook.Secrets{secret}},
		"http elsewhere": {URL: "http://example.com/", Secrets: webhook.Secrets{secret}},
		"another scheme": {URL: "ftp://localhost/", Secrets: webhook.Secrets{secret}},
		"no secret":      {URL: "https://example.com/"},
		"a short secret": {URL: "https://example.com/", Secrets: webhook.Secrets{secret[:23]}},
	} {
		if _, err := webhook.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestVerify takes the example of Standard Webhooks' own test suites, see TestSign, under one of two
// secrets, and nothing else.
func TestVerify(t *testing.T) {
	const secret, other = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD\n"
	const right, body = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", `{"test": 2432232314}`
	signedAt := time.Unix(1614265330, 0)
	for name, test := range map[string]struct {
		id, at, signature, body, secrets string
		now                              time.Time
		ok                               bool
	}{
		"as it was sent":    {"", "", right, body, secret, signedAt, true},
		"one of two":        {"", "", "v1,xx " + right + " v1a,yy", body, secret, signedAt, true},
		"an older secret":   {"", "", right, body, other + secret, signedAt, true},
		"old enough":        {"", "", right, body, secret, signedAt.Add(webhook.MaxAge), true},
		"too old":           {"", "", right, body, secret, signedAt.Add(webhook.MaxAge + 1), false},
		"too new":           {"", "", right, body, secret, signedAt.Add(-webhook.MaxAge - 1), false},
		"another body":      {"", "", right, body + " ", secret, signedAt, false},
		"another time":      {"", "1614265331", right, body, secret, signedAt, false},
		"no time":           {"", "x", right, body, secret, signedAt, false},
		"another id":        {"msg_1", "", right, body, secret, signedAt, false},
		"another secret":    {"", "", right, body, other, signedAt, false},
		"no signature":      {"", "", "", body, secret, signedAt, false},
		"cut":               {"", "", right[:len(right)-1], body, secret, signedAt, false},
		"of another scheme": {"", "", "v2" + right[2:], body, secret, signedAt, false},
	} {
		secrets, err := webhook.ParseSecrets([]byte(test.secrets))
		testenv.Must(t, err)
		header := http.Header{}
		header.Set(webhook.IDHeader, cmp.Or(test.id, "msg_p5jXN8AQM9LWM0D4loKWxJek"))
		header.Set(webhook.TimestampHeader, cmp.Or(test.at, "1614265330"))
		header.Set(webhook.SignatureHeader, test.signature)
		if err := secrets.Verify(header, []byte(test.body), test.now); test.ok != (err == nil) || !test.ok && !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVerifyWithoutSecret checks that an endpoint without its secret accepts no
// signature, not even one under an empty secret.
func TestVerifyWithoutSecret(t *testing.T) {
	now := time.Unix(1763650000, 0)
	for _, secrets := range []webhook.Secrets{nil, {nil}, {[]byte("short")}} {
		header := http.Header{}
		header.Set(webhook.IDHeader, "id")
		header.Set(webhook.TimestampHeader, "1763650000")
		header.Set(webhook.SignatureHeader, secrets.Sign("id", now, []byte("body")))
		if err := secrets.Verify(header, []byte("body"), now); !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("with %q: %v", secrets, err)
		}
	}
}
