package azurekms_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// path is a request that the package makes, and what its errors call it.
type path struct {
	request, name string
	do            func() error
}

// newPaths starts a server that has a key, and returns all requests.
func newPaths(t *testing.T) (*loopback.Azure, []path) {
	t.Helper()
	a, service, uri := newService(t)
	a.Keys.Generate("hot", remote.Secp256k1)
	key, err := service.Open(t.Context(), uri("hot"))
	testenv.Must(t, err)
	generate := func() error {
		_, err := service.Generate(t.Context(), "azurekms:"+a.Host()+"/keys/new", "", remote.Secp256k1)
		return err
	}
	return a, []path{
		{"GET /keys/hot", "keys/get", func() error { _, err := key.PublicKey(t.Context()); return err }},
		{"POST /keys/hot", "keys/sign", func() error { _, err := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32)); return err }},
		{"GET /keys/new", "keys/get", generate},
		{"POST /keys/new/create", "keys/create", generate},
	}
}

// TestUselessAnswers: a success that says nothing is an error that names Azure and the call, and
// never says that there is a key, or none.
func TestUselessAnswers(t *testing.T) {
	a, paths := newPaths(t)
	for _, path := range paths {
		for what, answer := range loopback.Useless() {
			a.SetAnswer(path.request, answer)
			err := path.do()
			if err == nil || !strings.Contains(err.Error(), "Azure") || !strings.Contains(err.Error(), path.name) || errors.Is(err, keystore.ErrKeyNotFound) || errors.Is(err, keystore.ErrKeyExists) {
				t.Errorf("%s: %s: %v", path.request, what, err)
			}
			if a.ClearAnswer() == 0 {
				t.Errorf("%s: %s: not asked", path.request, what)
			}
		}
	}
}

// TestThrottledPaths: no request waits for throttling to end.
func TestThrottledPaths(t *testing.T) {
	a, paths := newPaths(t)
	for _, path := range paths {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			a.SetAnswer(path.request, loopback.Answer{Status: status, RetryAfter: "40"})
			throttled, ok := errors.AsType[*keystore.ThrottledError](path.do())
			if times := a.ClearAnswer(); !ok || throttled.RetryAfter != 40*time.Second || times != 1 {
				t.Errorf("%s: %d: asked %d times: %v", path.request, status, times, throttled)
			}
		}
	}
}

// TestDisabled: a disabled key is no key, whether the vault returns it with that attribute, or
// refuses to use it. Any other refusal is one.
func TestDisabled(t *testing.T) {
	a, paths := newPaths(t)
	a.Disable(true)
	for _, path := range paths[:2] {
		if err := path.do(); !errors.Is(err, keystore.ErrKeyNotFound) || errors.Is(err, keystore.ErrUnavailable) || !strings.Contains(err.Error(), "is disabled") {
			t.Errorf("%s: %v", path.request, err)
		}
	}
	a.Disable(false)
	for _, body := range []string{
		"", "<html>", "[]", `{"error":{"code":"Forbidden","innererror":null}}`, `{"error":{"code":"Forbidden","innererror":{"code":"ForbiddenByFirewall"}}}`,
		`{"error":{"code":"Forbidden","message":"the caller KeyDisabled has no permission","innererror":{"code":"AccessDenied"}}}`,
	} {
		for _, path := range paths {
			a.SetAnswer(path.request, loopback.Answer{Status: http.StatusForbidden, Body: body})
			if err := path.do(); !errors.Is(err, keystore.ErrDenied) || !strings.Contains(err.Error(), path.name) {
				t.Errorf("%s: %s: %v", path.request, body, err)
			}
		}
	}
}
