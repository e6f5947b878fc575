package webhook_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/webhook"
)

// The endpoint verifies the signature over the unchanged body, then delivers the
// message.
func Example() {
	secrets := webhook.Secrets{make([]byte, 32)} // use random bytes, known to both sides
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err == nil {
			err = secrets.Verify(r.Header, body, time.Now())
		}
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer endpoint.Close()

	sender, err := webhook.New(webhook.Config{URL: endpoint.URL, Secrets: secrets})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sender.Send(context.Background(), otp.Message{Type: otp.TypeSMS, To: "+4915112345678", Text: "123456789 is your code."}))
	// Output: <nil>
}
