package webhook

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
)

// TestSign compares with the example of Standard Webhooks' own test suites: secret, id, time and
// body of libraries/go/webhook_test.go.
func TestSign(t *testing.T) {
	secrets, err := ParseSecrets([]byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"))
	testenv.Must(t, err)
	got := secrets.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func secretOf(n int) string {
	return "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, n))
}

// TestParseSecrets takes one secret or two of 24 to 64 bytes, and quotes none that it refuses.
func TestParseSecrets(t *testing.T) {
	for text, want := range map[string]int{
		secretOf(24): 1, secretOf(64) + "\r\n": 1, secretOf(32) + "\n" + secretOf(33) + "\n\n": 2,
		secretOf(23): 0, secretOf(65): 0, "": 0, "\n": 0, strings.TrimPrefix(secretOf(32), "whsec_"): 0,
		"whsec_" + strings.Repeat("!", 40): 0, secretOf(32) + "x": 0, secretOf(32) + "\n" + secretOf(32) + "\n" + secretOf(32): 0,
		"whsk_" + strings.TrimPrefix(secretOf(32), "whsec_"): 0,
	} {
		secrets, err := ParseSecrets([]byte(text))
		if len(secrets) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d secrets, %v; want %d", text, len(secrets), err, want)
		}
		if err != nil && strings.Contains(err.Error(), "BwcH") {
			t.Errorf("the error quotes the secret: %v", err)
		}
	}
}

// FuzzParseSecrets reads whatever a file may have.
func FuzzParseSecrets(f *testing.F) {
	f.Add([]byte(secretOf(32) + "\n" + secretOf(24)))
	f.Fuzz(func(t *testing.T, content []byte) {
		secrets, err := ParseSecrets(content)
		if (err == nil) != (len(secrets) == 1 || len(secrets) == 2) {
			t.Errorf("%d secrets, %v", len(secrets), err)
		}
		for _, secret := range secrets {
			if len(secret) < minSecret || len(secret) > maxSecret {
				t.Errorf("a secret of %d bytes", len(secret))
			}
		}
	})
}
