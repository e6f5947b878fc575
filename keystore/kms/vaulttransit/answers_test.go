package vaulttransit

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// paths are all of them.
func paths(t *testing.T, service *Service) []loopback.Path {
	t.Helper()
	opened, err := service.Open(t.Context(), "vaulttransit:sol?version=1")
	testenv.Must(t, err)
	client := opened.(*key).client
	generate := func() error {
		_, err := service.Generate(t.Context(), "vaulttransit:new?version=1", "", remote.Ed25519)
		return err
	}
	return []loopback.Path{
		{Request: "GET /v1/transit/keys/sol", Name: "read on transit/keys/sol", Do: func() error {
			_, err := opened.PublicKey(t.Context())
			return err
		}},
		{Request: "PUT /v1/transit/sign/sol", Name: "update on transit/sign/sol", Do: func() error {
			_, err := opened.Sign(t.Context(), remote.Ed25519, []byte("m"))
			return err
		}},
		{Request: "GET /v1/transit/keys/new", Name: "read on transit/keys/new", Do: generate},
		{Request: "PUT /v1/transit/keys/new", Name: "create and update on transit/keys/new", Do: generate},
		{Request: "PUT /v1/auth/token/renew-self", Name: "update on auth/token/renew-self", Do: func() error {
			_, _, err := renewToken(t.Context(), client)
			return err
		}},
		{Request: "GET /v1/auth/token/lookup-self", Name: "read on auth/token/lookup-self", Do: func() error {
			_, _, err := lookUp(t.Context(), client)
			return err
		}},
	}
}

// newPaths starts a server that has a key, and whose token lives for an hour.
func newPaths(t *testing.T) (*loopback.Vault, []loopback.Path) {
	t.Helper()
	v := newVault(t)
	v.SetTTL(3600)
	v.Keys.Generate("sol", remote.Ed25519)
	return v, paths(t, newService())
}

func TestUselessAnswers(t *testing.T) {
	v, all := newPaths(t)
	loopback.CheckUseless(t, v, "Vault", all, "PUT /v1/transit/keys/new")
}

// TestThrottled: throttling is not waited for, and the wait is the one that the answer says.
func TestThrottled(t *testing.T) {
	v, all := newPaths(t)
	const body = `{"errors":["rate limit quota exceeded"]}`
	loopback.CheckThrottled(t, v, all, "quota exceeded",
		loopback.Answer{Status: http.StatusTooManyRequests, Body: body},
		loopback.Answer{Status: http.StatusServiceUnavailable, Body: body})
	v.SetAnswer(all[1].Request, loopback.Answer{Status: http.StatusTooManyRequests, Body: `{"errors":["rate limit quota exceeded"]}`})
	if throttled, ok := errors.AsType[*keystore.ThrottledError](all[1].Do()); !ok || throttled.RetryAfter != time.Second {
		t.Errorf("without a time: %v", throttled)
	}
	v.ClearAnswer()
	v.SetAnswer(all[1].Request, loopback.Answer{Status: http.StatusServiceUnavailable, Body: `{"errors":["Vault is sealed"]}`})
	err := all[1].Do()
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
