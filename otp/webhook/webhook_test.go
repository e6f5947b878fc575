package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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
	config := webhook.Config{URL: url, Secret: secret, Backoff: time.Millisecond}
	if change != nil {
		change(&config)
	}
	sender, err := webhook.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

func TestSend(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := webhook.Verify(r.Header.Get(webhook.SignatureHeader), body, secret, time.Now()); err != nil {
			t.Error(err)
		}
		var got webhook.Body
		if err := json.Unmarshal(body, &got); err != nil {
			t.Error(err)
		}
		want := webhook.Body{OTPID: message.OTPID, OrganizationID: "org", Channel: "sms", To: message.To, Text: message.Text, FromName: "Notifications"}
		if got != want || r.Method != http.MethodPost || r.Header.Get("Idempotency-Key") != message.OTPID || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v %+v", r.Method, r.Header, got)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	sender := newSender(t, server.URL, func(c *webhook.Config) { c.Client = server.Client() })
	if err := sender.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
}

// TestAttempts checks that temporary failures are retried, up to the bound, and others
// are not. No error contains the message or the endpoint's answer.
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
		"refused":             {[]int{400, 200}, 1, false},
		"not authorized":      {[]int{401, 200}, 1, false},
		"redirected":          {[]int{307, 200}, 1, false},
		"redirected for ever": {[]int{301, 200}, 1, false},
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
	if err == nil || !strings.Contains(err.Error(), "cannot be reached") || strings.Contains(err.Error(), "hush") {
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
		"no URL":         {Secret: secret},
		"http elsewhere": {URL: "http://example.com/", Secret: secret},
		"another scheme": {URL: "ftp://localhost/", Secret: secret},
		"no secret":      {URL: "https://example.com/"},
		"a short secret": {URL: "https://example.com/", Secret: secret[:31]},
	} {
		if _, err := webhook.New(config); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestVerify(t *testing.T) {
	// HMAC-SHA-256 of "1777863721.{}" under 32 times "s", computed by OpenSSL:
	// printf '1777863721.{}' | openssl dgst -sha256 -hmac ssssssssssssssssssssssssssssssss
	const header = "t=1777863721,v1=86b9a0bcab37bedae649f89d2601427b7ce4085cb8f258d2c9da14a470257aed"
	signedAt := time.Unix(1777863721, 0)
	if err := webhook.Verify(header, []byte("{}"), secret, signedAt); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		header string
		body   string
		secret []byte
		now    time.Time
		ok     bool
	}{
		"old enough":     {header, "{}", secret, signedAt.Add(webhook.MaxAge), true},
		"too old":        {header, "{}", secret, signedAt.Add(webhook.MaxAge + 1), false},
		"too new":        {header, "{}", secret, signedAt.Add(-webhook.MaxAge - 1), false},
		"another body":   {header, "{ }", secret, signedAt, false},
		"another time":   {strings.Replace(header, "721", "722", 1), "{}", secret, signedAt, false},
		"another secret": {header, "{}", []byte(strings.Repeat("x", 32)), signedAt, false},
		"short secret":   {header, "{}", nil, signedAt, false},
		"empty":          {"", "{}", secret, signedAt, false},
		"cut":            {header[:len(header)-1], "{}", secret, signedAt, false},
		"time only":      {"t=1777863721", "{}", secret, signedAt, false},
		"more":           {header + ",v1=00", "{}", secret, signedAt, false},
	} {
		if err := webhook.Verify(test.header, []byte(test.body), test.secret, test.now); test.ok != (err == nil) || !test.ok && !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVerifyWithoutSecret checks that an endpoint without its secret accepts no
// signature, not even one under an empty secret.
func TestVerifyWithoutSecret(t *testing.T) {
	now := time.Unix(1763650000, 0)
	for _, secret := range [][]byte{nil, []byte("short")} {
		mac := hmac.New(sha256.New, secret)
		fmt.Fprintf(mac, "%d.%s", now.Unix(), "body")
		header := fmt.Sprintf("t=%d,v1=%x", now.Unix(), mac.Sum(nil))
		if err := webhook.Verify(header, []byte("body"), secret, now); !errors.Is(err, webhook.ErrSignature) {
			t.Errorf("with a secret of %d bytes: %v", len(secret), err)
		}
	}
}
