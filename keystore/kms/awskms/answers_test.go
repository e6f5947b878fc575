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

// paths are the calls that need something of an answer. CreateAlias does not: KMS answers it with an
// empty body.
func paths(t *testing.T, service *awskms.Service) []loopback.Path {
	t.Helper()
	key, err := service.Open(t.Context(), "awskms:hot"+inRegion)
	testenv.Must(t, err)
	return []loopback.Path{
		{Request: "GetPublicKey", Name: "kms:GetPublicKey", Do: func() error {
			_, err := key.PublicKey(t.Context())
			return err
		}},
		{Request: "Sign", Name: "kms:Sign", Do: func() error {
			_, err := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32))
			return err
		}},
		{Request: "CreateKey", Name: "kms:CreateKey", Do: func() error {
			_, err := service.Generate(t.Context(), "awskms:alias/new"+inRegion, "", remote.Secp256k1)
			return err
		}},
	}
}

func TestAnswers(t *testing.T) {
	s := newServer(t)
	s.Keys.Generate("hot", remote.Secp256k1)
	all := paths(t, awskms.New())
	loopback.CheckUseless(t, s, "AWS KMS", all)
	loopback.CheckThrottled(t, s, all, "",
		loopback.Answer{Status: http.StatusTooManyRequests}, loopback.Answer{Status: http.StatusServiceUnavailable},
		loopback.Answer{
			Status: http.StatusBadRequest, Type: "application/x-amz-json-1.1",
			Body: `{"__type":"ThrottlingException","message":"Rate exceeded"}`,
		})
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
	sign := func() error { return paths(t, awskms.New())[1].Do() }
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
