package azurekms_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// newPaths starts a server that has a key, and returns all requests.
func newPaths(t *testing.T) (*loopback.Azure, []loopback.Path) {
	t.Helper()
	a, service, uri := newService(t)
	a.Keys.Generate("hot", remote.Secp256k1)
	key, err := service.Open(t.Context(), uri("hot"))
	testenv.Must(t, err)
	generate := func() error {
		_, err := service.Generate(t.Context(), "azurekms:"+a.Host()+"/keys/new", "", remote.Secp256k1)
		return err
	}
	return a, []loopback.Path{
		{Request: "GET /keys/hot", Name: "keys/get", Do: func() error {
			_, err := key.PublicKey(t.Context())
			return err
		}},
		{Request: "POST /keys/hot", Name: "keys/sign", Do: func() error {
			_, err := key.Sign(t.Context(), remote.Secp256k1, make([]byte, 32))
			return err
		}},
		{Request: "GET /keys/new", Name: "keys/get", Do: generate},
		{Request: "POST /keys/new/create", Name: "keys/create", Do: generate},
	}
}

func TestAnswers(t *testing.T) {
	a, paths := newPaths(t)
	loopback.CheckUseless(t, a, "Azure", paths)
	loopback.CheckThrottled(t, a, paths, "",
		loopback.Answer{Status: http.StatusTooManyRequests}, loopback.Answer{Status: http.StatusServiceUnavailable})
}

// TestDisabled: a disabled key is no key, whether the vault returns it with that attribute, or
// refuses to use it. Any other refusal is one.
func TestDisabled(t *testing.T) {
	a, paths := newPaths(t)
	a.Disable(true)
	for _, path := range paths[:2] {
		if err := path.Do(); !errors.Is(err, keystore.ErrKeyNotFound) || errors.Is(err, keystore.ErrUnavailable) || !strings.Contains(err.Error(), "is disabled") {
			t.Errorf("%s: %v", path.Request, err)
		}
	}
	a.Disable(false)
	for _, body := range []string{
		"", "<html>", "[]", `{"error":{"code":"Forbidden","innererror":null}}`, `{"error":{"code":"Forbidden","innererror":{"code":"ForbiddenByFirewall"}}}`,
		`{"error":{"code":"Forbidden","message":"the caller KeyDisabled has no permission","innererror":{"code":"AccessDenied"}}}`,
	} {
		for _, path := range paths {
			a.SetAnswer(path.Request, loopback.Answer{Status: http.StatusForbidden, Body: body})
			if err := path.Do(); !errors.Is(err, keystore.ErrDenied) || !strings.Contains(err.Error(), path.Name) {
				t.Errorf("%s: %s: %v", path.Request, body, err)
			}
		}
	}
}
