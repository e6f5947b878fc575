package docs_test

import (
	"context"
	"crypto"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/otp"
	"github.com/countersign-dev/countersign/otp/operations"
	"github.com/countersign-dev/countersign/otp/outbox"
	"github.com/countersign-dev/countersign/store/memory"
)

// gateway sends text messages through a provider's HTTP interface.
type gateway struct{ url, token string }

// Send implements otp.Sender. Its errors have no part of the message.
func (g gateway) Send(ctx context.Context, message otp.Message) error {
	form := url.Values{"to": {message.To}, "text": {message.Text}, "reference": {message.OTPID}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "Bearer "+g.token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the gateway answered %s", response.Status)
	}
	return nil
}

// TestSender checks that the engine sends through the gateway.
func TestSender(t *testing.T) {
	var sent url.Values
	provider := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		sent = r.PostForm
	}))
	defer provider.Close()
	secret := make([]byte, otp.MinSecretSize)

	mail, err := outbox.New(t.TempDir())
	testenv.Must(t, err)
	var proofKey crypto.Signer // none: codes are sent, and cannot be redeemed
	records := memory.New(memory.DefaultMaxBytes)
	service, err := otp.New(otp.Config{
		Store:  records,
		Secret: keystore.NewSecret(secret), // at least 32 random bytes, the same on all nodes
		Email:  mail,
		SMS:    gateway{url: provider.URL, token: "token"},
	})
	testenv.Must(t, err)
	passwords := operations.New(service, proofKey) // passwords.Operations() is for Config.Operations

	result, err := passwords.InitOTPAuth(t.Context(), enginetest.Organization, "Example", activity.InitOTPAuthIntent{
		OTPType: "OTP_TYPE_SMS",
		Contact: "+41791234567",
	})
	if err != nil || sent.Get("reference") != result.OTPID || sent.Get("to") != "+41791234567" {
		t.Errorf("%v, sent %v", err, sent)
	}
}
