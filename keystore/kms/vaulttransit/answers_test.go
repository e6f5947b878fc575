package vaulttransit

import (
	"context"
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

// paths are all of them.
func paths(t *testing.T, service *Service) []path {
	t.Helper()
	opened, err := service.Open(t.Context(), "vaulttransit:sol?version=1")
	testenv.Must(t, err)
	client := opened.(*key).client
	generate := func() error {
		_, err := service.Generate(t.Context(), "vaulttransit:new?version=1", "", remote.Ed25519)
		return err
	}
	return []path{
		{"GET /v1/transit/keys/sol", "read on transit/keys/sol", func() error { _, err := opened.PublicKey(t.Context()); return err }},
		{"PUT /v1/transit/sign/sol", "update on transit/sign/sol", func() error { _, err := opened.Sign(t.Context(), remote.Ed25519, []byte("m")); return err }},
		{"GET /v1/transit/keys/new", "read on transit/keys/new", generate},
		{"PUT /v1/transit/keys/new", "create and update on transit/keys/new", generate},
		{"PUT /v1/auth/token/renew-self", "update on auth/token/renew-self", func() error { _, _, err := renewToken(t.Context(), client); return err }},
		{"GET /v1/auth/token/lookup-self", "read on auth/token/lookup-self", func() error { _, _, err := lookUp(t.Context(), client); return err }},
	}
}

// newPaths starts a server that has a key, and whose token lives for an hour.
func newPaths(t *testing.T) (*loopback.Vault, []path) {
	t.Helper()
	v := newVault(t)
	v.SetTTL(3600)
	v.Keys.Generate("sol", remote.Ed25519)
	return v, paths(t, newService())
}

// TestUselessAnswers: a success that says nothing is an error that names Vault and the call, and
// never says that there is no such key.
func TestUselessAnswers(t *testing.T) {
	v, all := newPaths(t)
	for _, path := range all {
		for what, answer := range loopback.Useless() {
			v.SetAnswer(path.request, answer)
			err := path.do()
			if err == nil || !strings.Contains(err.Error(), "Vault") || !strings.Contains(err.Error(), path.name) {
				t.Errorf("%s: %s: %v", path.request, what, err)
			}
			if errors.Is(err, keystore.ErrKeyNotFound) && path.request != "PUT /v1/transit/keys/new" {
				t.Errorf("%s: %s: %v", path.request, what, err)
			}
			if v.ClearAnswer() == 0 {
				t.Errorf("%s: %s: not asked", path.request, what)
			}
		}
	}
}

// TestThrottled: throttling is not waited for, and the wait is the one that the answer says.
func TestThrottled(t *testing.T) {
	v, all := newPaths(t)
	for _, path := range all {
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			v.SetAnswer(path.request, loopback.Answer{Status: status, RetryAfter: "40", Body: `{"errors":["rate limit quota exceeded"]}`})
			err := path.do()
			throttled, ok := errors.AsType[*keystore.ThrottledError](err)
			if times := v.ClearAnswer(); !ok || throttled.RetryAfter != 40*time.Second || times != 1 || !strings.Contains(err.Error(), path.name) || !strings.Contains(err.Error(), "quota exceeded") {
				t.Errorf("%s: %d: asked %d times: %v", path.request, status, times, err)
			}
		}
	}
	v.SetAnswer(all[1].request, loopback.Answer{Status: http.StatusTooManyRequests, Body: `{"errors":["rate limit quota exceeded"]}`})
	if throttled, ok := errors.AsType[*keystore.ThrottledError](all[1].do()); !ok || throttled.RetryAfter != time.Second {
		t.Errorf("without a time: %v", throttled)
	}
	v.ClearAnswer()
	v.SetAnswer(all[1].request, loopback.Answer{Status: http.StatusServiceUnavailable, Body: `{"errors":["Vault is sealed"]}`})
	err := all[1].do()
	if _, throttled := errors.AsType[*keystore.ThrottledError](err); throttled || !errors.Is(err, keystore.ErrUnavailable) || v.ClearAnswer() < 2 {
		t.Errorf("sealed: %v", err)
	}
}

// TestKeepOutlivesAnswers: whatever Vault answers about the token, Keep goes on and asks again.
func TestKeepOutlivesAnswers(t *testing.T) {
	v := newVault(t)
	for _, about := range []string{"lookup-self", "renew-self"} {
		ctx, cancel := context.WithCancel(t.Context())
		ended, renewed := make(chan struct{}), v.Renewed()
		v.SetAnswer("/"+about, loopback.Answer{Status: http.StatusServiceUnavailable})
		go func() {
			newService().Keep(ctx)
			close(ended)
		}()
		for what, answer := range loopback.Useless() {
			v.SetAnswer("/"+about, answer)
			v.Seen()
			testenv.Await(t, about+": "+what, func() bool { return asked(v, about) })
		}
		v.ClearAnswer()
		testenv.Await(t, "a renewal after it", func() bool { return v.Renewed() > renewed })
		cancel()
		<-ended
	}
}
