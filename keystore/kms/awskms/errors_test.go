package awskms

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/countersign-dev/countersign/keystore"
)

// coded is an error of an API as the SDK returns it.
func coded(status int, code string, header http.Header) error {
	return &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status, Header: header}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "as the test says"},
	}
}

// inChain is an error of the credential chain as the SDK returns it from a call of KMS.
func inChain(service string, err error) error {
	if service != "" {
		err = &smithy.OperationError{ServiceID: service, OperationName: "AssumeRoleWithWebIdentity", Err: err}
	}
	return &smithy.OperationError{ServiceID: "KMS", OperationName: "Sign", Err: fmt.Errorf("get identity: %w", fmt.Errorf("get credentials: failed to refresh cached credentials, %w", err))}
}

// TestChain: what the credential chain says is classified by its kind, whatever codes KMS has for
// the same.
func TestChain(t *testing.T) {
	noFile := &fs.PathError{Op: "open", Path: "/var/run/token", Err: syscall.ENOENT}
	unresolved := &smithyhttp.RequestSendError{Err: &net.OpError{Op: "dial", Err: &net.DNSError{Name: "sts.eu-central-1.amazonaws.com", IsNotFound: true}}}
	for _, c := range []struct {
		what  string
		err   error
		class error
		says  string
	}{
		{"no source", inChain("", errors.New("no EC2 IMDS role found")), keystore.ErrDenied, "no AWS credentials were found"},
		{"a token file that is missing", inChain("", noFile), keystore.ErrDenied, "no AWS credentials were found"},
		{"no instance", inChain("ec2imds", unresolved), keystore.ErrDenied, "no AWS credentials were found"},
		{"DNS", inChain("STS", unresolved), keystore.ErrUnavailable, "AWS credentials"},
		{"refused connection", inChain("SSO", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}), keystore.ErrUnavailable, "AWS credentials"},
		{"a broken STS", inChain("STS", coded(500, "InternalFailure", nil)), keystore.ErrUnavailable, "AWS credentials"},
		{"a broken STS without a code", inChain("STS", coded(503, "", nil)), keystore.ErrUnavailable, "AWS credentials"},
		{"an identity provider that is away", inChain("STS", coded(400, "IDPCommunicationError", nil)), keystore.ErrUnavailable, "AWS credentials"},
		{"HTML", inChain("STS", &smithy.DeserializationError{Err: errors.New("invalid character '<'")}), keystore.ErrUnavailable, "AWS credentials"},
		{"a code of KMS", inChain("STS", coded(400, "NotFoundException", nil)), keystore.ErrDenied, "credentials are refused"},
		{"an unknown code", inChain("STS", coded(400, "SomethingNew", nil)), keystore.ErrDenied, "credentials are refused"},
	} {
		if err := explain("kms:Sign", c.err); !errors.Is(err, c.class) || !strings.Contains(err.Error(), c.says) || c.class != keystore.ErrDenied && errors.Is(err, keystore.ErrDenied) {
			t.Errorf("%s: %v, want %v: %s", c.what, err, c.class, c.says)
		}
	}
	for code := range deniedCodes {
		for _, status := range []int{400, 401, 403} {
			if err := explain("kms:Sign", inChain("STS", coded(status, code, nil))); !errors.Is(err, keystore.ErrDenied) || !strings.Contains(err.Error(), "credentials are refused") {
				t.Errorf("%d %s of the chain: %v", status, code, err)
			}
			if err := explain("kms:Sign", coded(status, code, nil)); !errors.Is(err, keystore.ErrDenied) || !strings.Contains(err.Error(), "kms:Sign") {
				t.Errorf("%d %s of KMS: %v", status, code, err)
			}
		}
	}
}

// TestThrottlingIsNotAKindOfStep: at every step, throttling is throttling, with the wait that the
// answer says.
func TestThrottlingIsNotAKindOfStep(t *testing.T) {
	wait := http.Header{"Retry-After": {"7"}}
	for _, answer := range []error{
		coded(400, "ThrottlingException", wait), coded(400, "Throttling", wait), coded(503, "SlowDown", wait), coded(429, "", wait), coded(503, "", wait),
		coded(400, "RequestLimitExceeded", wait), coded(400, "LimitExceededException", wait), coded(429, "TooManyRequestsException", wait),
	} {
		for step, err := range map[string]error{"AWS KMS": answer, "AWS credentials": inChain("STS", answer)} {
			throttled, ok := errors.AsType[*keystore.ThrottledError](explain("kms:Sign", err))
			if !ok || throttled.RetryAfter != 7*time.Second || !strings.Contains(throttled.Error(), step) {
				t.Errorf("%s: %v: %v", step, answer, throttled)
			}
			if newRetryer().IsErrorRetryable(err) {
				t.Errorf("%s: %v is tried again", step, answer)
			}
		}
	}
	if !newRetryer().IsErrorRetryable(coded(500, "KMSInternalException", nil)) {
		t.Error("a failure of the service is not tried again")
	}
}
