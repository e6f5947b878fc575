package awskms_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/awskms"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

const inRegion = "?region=eu-central-1"

// newServer starts a server that the default chain finds.
func newServer(t *testing.T) *loopback.AWS {
	t.Helper()
	s := loopback.NewAWS(t)
	loopback.Use(t, s)
	return s
}

func TestService(t *testing.T) {
	s := newServer(t)
	remotetest.Run(t, remotetest.Harness{
		Scheme: awskms.Scheme, Service: awskms.New(), Keys: s.Keys, URI: func(name string) string { return "awskms:" + name + inRegion },
		Curves: []remote.Scheme{remote.Secp256k1, remote.Ed25519}, MaxMessage: awskms.MaxMessage,
		SignRight: "kms:Sign", PublicKeyRight: "kms:GetPublicKey",
	})
}

// TestURIs: a KeyId of each kind reaches the service as it is, and everything else is refused
// before anything is asked.
func TestURIs(t *testing.T) {
	s := newServer(t)
	s.Keys.Generate("1234abcd", remote.Secp256k1)
	s.Aliases["alias/hot"] = "1234abcd"
	s.Aliases["alias/team/hot"] = "1234abcd"
	service := awskms.New()
	for _, uri := range []string{
		"awskms:1234abcd" + inRegion, "awskms:alias/hot" + inRegion, "awskms:alias/team/hot" + inRegion,
		"awskms:" + loopback.AccountARN + "key/1234abcd", "awskms:" + loopback.AccountARN + "alias/hot", "awskms:" + loopback.AccountARN + "key/1234abcd" + inRegion,
	} {
		key, err := service.Open(t.Context(), uri)
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if public, err := key.PublicKey(t.Context()); err != nil || public != s.Keys.Public("1234abcd") {
			t.Errorf("%s: %v, %v", uri, public, err)
		}
	}
	s.Called()
	for uri, want := range map[string]string{
		"awskms:":                               "names no key",
		"awskms:alias/hot?endpoint=http://evil": "unknown parameter",
		"awskms:key/1234":                       "write awskms:ID",
		"awskms:alias/ho%74":                    "write awskms:ID",
		"awskms:arn:aws:s3:::bucket":            "not the ARN of a key",
		"awskms:" + loopback.AccountARN + "alias/hot?region=us-east-1": "the ARN is of region eu-central-1",
	} {
		if err := service.Check(uri); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", uri, err, want)
		}
	}
	if calls := s.Called(); len(calls) > 0 {
		t.Errorf("asked: %v", calls)
	}
}

// TestSites: keys of one region and profile share a bound, and no others.
func TestSites(t *testing.T) {
	service := awskms.New()
	same := []string{"awskms:1234" + inRegion, "awskms:alias/hot" + inRegion, "awskms:" + loopback.AccountARN + "key/1234"}
	for _, uri := range same {
		if service.Site(uri) != service.Site(same[0]) {
			t.Errorf("%s: %q", uri, service.Site(uri))
		}
	}
	for _, uri := range []string{"awskms:1234", "awskms:1234?region=us-east-1", "awskms:1234" + inRegion + "&profile=other", "awskms:arn:aws:kms:us-east-1:111122223333:key/1234"} {
		if service.Site(uri) == service.Site(same[0]) {
			t.Errorf("%s: %q", uri, service.Site(uri))
		}
	}
}

// TestErrorCodes: each code of the API has its class.
func TestErrorCodes(t *testing.T) {
	s := newServer(t)
	key, err := awskms.New().Open(t.Context(), "awskms:1234"+inRegion)
	testenv.Must(t, err)
	for class, codes := range map[error][]string{
		keystore.ErrDenied:      {"AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException", "InvalidSignatureException"},
		keystore.ErrKeyNotFound: {"NotFoundException", "DisabledException", "KMSInvalidStateException"},
		keystore.ErrUnsupported: {"InvalidKeyUsageException", "ValidationException"},
		keystore.ErrUnavailable: {"KMSInternalException", "DependencyTimeoutException", "KeyUnavailableException", "ThrottlingException", "SomethingNew"},
	} {
		for _, code := range codes {
			s.SetCode(code)
			_, err := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32))
			if !errors.Is(err, class) || !strings.Contains(err.Error(), code) {
				t.Errorf("%s: %v, want %v", code, err, class)
			}
			if _, throttled := errors.AsType[*keystore.ThrottledError](err); throttled != (code == "ThrottlingException") {
				t.Errorf("%s: %v", code, err)
			}
		}
	}
}

// TestNoCredentials: without credentials or a region, the error says so and asks for no one else.
func TestNoCredentials(t *testing.T) {
	newServer(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	key, err := awskms.New().Open(t.Context(), "awskms:1234"+inRegion)
	testenv.Must(t, err)
	if _, err := key.PublicKey(t.Context()); !errors.Is(err, keystore.ErrDenied) || !strings.Contains(err.Error(), "no AWS credentials were found") {
		t.Errorf("%v", err)
	}
	if _, err := awskms.New().Open(t.Context(), "awskms:1234"); !errors.Is(err, keystore.ErrDenied) || !strings.Contains(err.Error(), "no AWS region") {
		t.Errorf("%v", err)
	}
}

// TestGenerate creates a key of each kind with an alias. It is pinned by its id.
func TestGenerate(t *testing.T) {
	s := newServer(t)
	service := awskms.New()
	for _, scheme := range []remote.Scheme{remote.Secp256k1, remote.Ed25519, remote.P256} {
		uri := "awskms:alias/" + strings.ToLower(string(scheme)) + inRegion
		created, err := service.Generate(t.Context(), uri, "hot wallet", scheme)
		if err != nil || !strings.HasPrefix(created, "awskms:1234abcd-") || !strings.HasSuffix(created, inRegion) {
			t.Fatalf("%s, %v", created, err)
		}
		if calls := s.Called(); !slices.Equal(calls, []string{"CreateKey", "CreateAlias"}) {
			t.Errorf("calls %v", calls)
		}
		for _, uri := range []string{uri, created} {
			key, err := service.Open(t.Context(), uri)
			testenv.Must(t, err)
			if public, err := key.PublicKey(t.Context()); err != nil || (public.Proof != nil) != (scheme == remote.P256) {
				t.Errorf("%s: %v, %v", uri, public, err)
			}
		}
		s.Called()
		if _, err := service.Generate(t.Context(), uri, "", scheme); err == nil || !strings.Contains(err.Error(), "the key was created (awskms:") {
			t.Errorf("an alias that exists: %v", err)
		}
		s.Called()
	}
	if _, err := service.Generate(t.Context(), "awskms:1234"+inRegion, "", remote.Ed25519); err == nil || !strings.Contains(err.Error(), "awskms:alias/NAME") {
		t.Errorf("an id: %v", err)
	}
}
