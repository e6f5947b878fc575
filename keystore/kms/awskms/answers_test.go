package awskms_test

import (
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/awskms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// paths are the calls that need something of an answer, by their names. CreateAlias does not: KMS
// answers it with an empty body.
func paths(t *testing.T, service *awskms.Service) map[string]func() error {
	t.Helper()
	key, err := service.Open(t.Context(), "awskms:hot"+inRegion)
	testenv.Must(t, err)
	return map[string]func() error{
		"GetPublicKey": func() error { _, err := key.PublicKey(t.Context()); return err },
		"Sign":         func() error { _, err := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32)); return err },
		"CreateKey": func() error {
			_, err := service.Generate(t.Context(), "awskms:alias/new"+inRegion, "", remote.Secp256k1)
			return err
		},
	}
}

// TestUselessAnswers: a success that says nothing is an error that names the service and the call.
func TestUselessAnswers(t *testing.T) {
	s := newServer(t)
	s.Keys.Generate("hot", remote.Secp256k1)
	for call, do := range paths(t, awskms.New()) {
		for what, answer := range loopback.Useless() {
			s.SetAnswer(call, answer)
			err := do()
			if err == nil || !strings.Contains(err.Error(), "AWS KMS") || !strings.Contains(err.Error(), "kms:"+call) {
				t.Errorf("%s: %s: %v", call, what, err)
			}
			if s.ClearAnswer() == 0 {
				t.Errorf("%s: %s: not asked", call, what)
			}
		}
	}
}

// TestThrottled: throttling is not waited for, and the wait is the one that the answer says.
func TestThrottled(t *testing.T) {
	s := newServer(t)
	s.Keys.Generate("hot", remote.Secp256k1)
	for call, do := range paths(t, awskms.New()) {
		for what, answer := range map[string]loopback.Answer{
			"429": {Status: http.StatusTooManyRequests, RetryAfter: "40"},
			"503": {Status: http.StatusServiceUnavailable, RetryAfter: "40"},
			"400": {Status: http.StatusBadRequest, RetryAfter: "40", Type: "application/x-amz-json-1.1", Body: `{"__type":"ThrottlingException","message":"Rate exceeded"}`},
		} {
			s.SetAnswer(call, answer)
			err := do()
			throttled, ok := errors.AsType[*keystore.ThrottledError](err)
			if times := s.ClearAnswer(); !ok || throttled.RetryAfter != 40*time.Second || times != 1 {
				t.Errorf("%s: %s: asked %d times: %v", call, what, times, err)
			}
		}
	}
}

// TestCredentialService has STS on loopback refuse, throttle, break and be away.
func TestCredentialService(t *testing.T) {
	newServer(t)
	token := filepath.Join(t.TempDir(), "token")
	testenv.Write(t, token, []byte("e30.e30.e30"))
	sts := loopback.NewAnswers(t)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_WEB_IDENTITY_TOKEN_FILE": token,
		"AWS_ROLE_ARN": "arn:aws:iam::111122223333:role/signer", "AWS_ENDPOINT_URL_STS": sts.URL,
	} {
		t.Setenv(name, value)
	}
	sign := func() error { return paths(t, awskms.New())["Sign"]() }
	refusal := func(status int, code string) loopback.Answer {
		return loopback.Answer{Status: status, RetryAfter: "7", Type: "text/xml", Body: "<ErrorResponse><Error><Type>Sender</Type><Code>" + code + "</Code><Message>m</Message></Error></ErrorResponse>"}
	}
	for code, class := range map[string]error{
		"AccessDenied": keystore.ErrDenied, "ExpiredToken": keystore.ErrDenied, "InvalidIdentityToken": keystore.ErrDenied,
		"ExpiredTokenException": keystore.ErrDenied, "SignatureDoesNotMatch": keystore.ErrDenied,
	} {
		sts.SetAnswer("/", refusal(http.StatusBadRequest, code))
		if err := sign(); !errors.Is(err, class) || !strings.Contains(err.Error(), "the AWS credentials are refused") {
			t.Errorf("%s: %v", code, err)
		}
	}
	sts.ClearAnswer()
	sts.SetAnswer("/", refusal(http.StatusBadRequest, "Throttling"))
	if throttled, ok := errors.AsType[*keystore.ThrottledError](sign()); !ok || throttled.RetryAfter != 7*time.Second || sts.ClearAnswer() != 1 {
		t.Errorf("throttled: %v", throttled)
	}
	for what, answer := range loopback.Useless() {
		sts.SetAnswer("/", answer)
		if err := sign(); err == nil || !strings.Contains(err.Error(), "AWS credentials") {
			t.Errorf("%s: %v", what, err)
		}
	}
	sts.Close()
	if err := sign(); !errors.Is(err, keystore.ErrUnavailable) || errors.Is(err, keystore.ErrDenied) || !strings.Contains(err.Error(), "AWS credentials") {
		t.Errorf("away: %v", err)
	}
}
