package standardwebhooks

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/countersign-dev/countersign/internal/events"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/otp/webhook"
	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/store/memory"
)

// secretOf makes a secret of n random bytes.
func secretOf(n int) string {
	secret := make([]byte, n)
	_, _ = rand.Read(secret) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(secret)
}

// TestVerifier has the published verifier take each delivery, for secrets of all sizes, alone
// and while one is being replaced. It refuses another body, another id and another secret.
func TestVerifier(t *testing.T) {
	for size := 24; size <= 64; size++ {
		old, next := secretOf(size), secretOf(88-size)
		for name, configured := range map[string]string{"one": next, "both": old + "\n" + next + "\n"} {
			headers, body := deliver(t, configured)
			accepts := func(secret string, body []byte, headers http.Header) bool {
				verifier, err := webhooks.NewWebhook(secret)
				testenv.Must(t, err)
				return verifier.Verify(body, headers) == nil
			}
			if !accepts(next, body, headers) || accepts(old, body, headers) != (name == "both") {
				t.Errorf("%d bytes, %s: the verifier does not take what is signed, or what is not", size, name)
			}
			other := headers.Clone()
			other.Set("webhook-id", "evt_other")
			if accepts(next, append(bytes.Clone(body), ' '), headers) || accepts(next, body, other) || accepts(secretOf(size), body, headers) {
				t.Errorf("%d bytes, %s: the verifier takes what is not signed", size, name)
			}
		}
	}
}

// deliver has a sender deliver one event, and returns the request.
func deliver(t *testing.T, configured string) (headers http.Header, body []byte) {
	t.Helper()
	secrets, err := webhook.ParseSecrets([]byte(configured))
	testenv.Must(t, err)
	taken := make(chan *http.Request, 1)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ = io.ReadAll(r.Body)
		taken <- r
	}))
	defer endpoint.Close()
	outbox := memory.New(0)
	testenv.Must(t, outbox.AddEvents(t.Context(), "organization", []store.Event{{ID: "evt_1", At: time.Now(), Data: []byte(`{"type":"request.refused","data":{"sentence":"ä"}}`)}}))
	sender, err := events.New(events.Config{Outbox: outbox, URL: endpoint.URL, Secrets: secrets})
	testenv.Must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go sender.Run(ctx)
	return (<-taken).Header, body
}
