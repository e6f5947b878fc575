package awskms

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/internal/retryafter"
)

// newRetryer returns the SDK's standard retries without those of throttling, which the caller is
// told about: waiting here would keep others from the place.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(options *retry.StandardOptions) {
		options.MaxBackoff = time.Second
		never := retry.IsErrorRetryableFunc(func(err error) aws.Ternary {
			if throttled(err) {
				return aws.FalseTernary
			}
			return aws.UnknownTernary
		})
		options.Retryables = append([]retry.IsErrorRetryable{never}, options.Retryables...)
	})
}

// deniedCodes are the codes of errors that need an operator: of KMS, and of the services that give
// credentials, STS, SSO and its OIDC.
var deniedCodes = map[string]bool{
	"AccessDeniedException": true, "AccessDenied": true, "UnrecognizedClientException": true, "InvalidClientTokenId": true,
	"InvalidSignatureException": true, "SignatureDoesNotMatch": true, "ExpiredTokenException": true,
	"ExpiredToken": true, "RequestExpired": true,
	"IncompleteSignature": true, "MissingAuthenticationToken": true, "OptInRequired": true, "InvalidGrantTokenException": true,
	"InvalidIdentityToken": true, "UnauthorizedException": true, "InvalidGrantException": true,
}

// missingCodes are the codes of a key that does not exist or cannot be used.
var missingCodes = map[string]bool{
	"NotFoundException": true, "DisabledException": true, "KMSInvalidStateException": true,
}

// unsupportedCodes are the codes of a request that no such key can fulfil.
var unsupportedCodes = map[string]bool{
	"InvalidKeyUsageException": true, "UnsupportedOperationException": true, "ValidationException": true, "InvalidArnException": true,
}

// explain classifies an error by the step that failed, and names the right that the call needs.
func explain(right string, err error) error {
	if identity := identityError(err); identity != nil {
		return explainIdentity(identity)
	}
	code := ""
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		code = api.ErrorCode()
	}
	switch {
	case throttled(err):
		return &keystore.ThrottledError{RetryAfter: retryAfter(err), Err: fmt.Errorf("AWS KMS: %s: %w", right, err)}
	case deniedCodes[code]:
		return fmt.Errorf("%w: the right %s is missing, or the credentials are: %w", keystore.ErrDenied, right, err)
	case missingCodes[code]:
		return fmt.Errorf("%w: it does not exist in this region and account, is disabled, or is pending deletion: %w",
			keystore.ErrKeyNotFound, err)
	case unsupportedCodes[code]:
		return fmt.Errorf("%w: %w", keystore.ErrUnsupported, err)
	}
	return fmt.Errorf("%w: AWS KMS: %s: %w", keystore.ErrUnavailable, right, err)
}

// identityError returns the error of the credential chain, or nil if the call got further. The SDK
// has no type for this step (getIdentityMiddleware in its service packages), only a prefix.
func identityError(err error) error {
	for ; err != nil; err = errors.Unwrap(err) {
		if strings.HasPrefix(err.Error(), "get identity: ") {
			return err
		}
	}
	return nil
}

// explainIdentity classifies an error of the credential chain by its kind. KMS was not asked.
func explainIdentity(err error) error {
	api, answered := errors.AsType[smithy.APIError](err)
	switch {
	case throttled(err):
		return &keystore.ThrottledError{RetryAfter: retryAfter(err), Err: fmt.Errorf("AWS credentials: %w", err)}
	case answered && deniedCodes[api.ErrorCode()]:
		return fmt.Errorf("%w: the AWS credentials are refused: %w", keystore.ErrDenied, err)
	case isAway(err):
		return fmt.Errorf("%w: AWS credentials: %w", keystore.ErrUnavailable, err)
	case answered:
		return fmt.Errorf("%w: the AWS credentials are refused: %w", keystore.ErrDenied, err)
	}
	return fmt.Errorf("%w: no AWS credentials were found: %w", keystore.ErrDenied, err)
}

// awayCodes are codes of a failure that passes and has a status below 500.
var awayCodes = map[string]bool{"IDPCommunicationError": true, "RequestTimeout": true, "RequestTimeoutException": true}

// isAway reports whether a service that gives credentials could not be reached or is broken. The
// metadata service of an EC2 instance is the end of the chain: without an answer of it, this is no
// such instance.
func isAway(err error) bool {
	if operation, ok := errors.AsType[*smithy.OperationError](err); ok && operation.ServiceID == "ec2imds" {
		return false
	}
	if api, ok := errors.AsType[smithy.APIError](err); ok && (awayCodes[api.ErrorCode()] || api.ErrorFault() == smithy.FaultServer) {
		return true
	}
	if answerIn(err).StatusCode >= http.StatusInternalServerError {
		return true
	}
	_, unreadable := errors.AsType[*smithy.DeserializationError](err)
	_, unresolved := errors.AsType[*net.DNSError](err)
	_, unconnected := errors.AsType[*net.OpError](err)
	_, unsent := errors.AsType[*smithyhttp.RequestSendError](err)
	return unreadable || unresolved || unconnected || unsent || errors.Is(err, context.DeadlineExceeded)
}

// throttled reports whether a service asks its callers to come back later.
func throttled(err error) bool {
	if api, ok := errors.AsType[smithy.APIError](err); ok {
		_, known := retry.DefaultThrottleErrorCodes[api.ErrorCode()]
		if known || strings.Contains(api.ErrorCode(), "Throttl") {
			return true
		}
	}
	answer := answerIn(err)
	return retryafter.Throttled(answer.StatusCode, answer.Header)
}

// answerIn returns the answer that an error is about, an empty one if there was none.
func answerIn(err error) *http.Response {
	if answer, ok := errors.AsType[*smithyhttp.ResponseError](err); ok && answer.Response != nil && answer.Response.Response != nil {
		return answer.Response.Response
	}
	return new(http.Response)
}

// retryAfter returns how long to wait: as the answer says, or a second, since KMS grants its
// requests a second.
func retryAfter(err error) time.Duration { return retryafter.Of(answerIn(err).Header, time.Second) }

// unusable is the error of an answer that lacks what the call is for.
func unusable(call, missing string) error {
	return fmt.Errorf("%w: AWS KMS: %s: an answer without %s", keystore.ErrUnavailable, call, missing)
}
