package vaulttransit

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore/kms/internal/loopback"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// newVault starts a server whose token lives for a second.
func newVault(t *testing.T) *loopback.Vault {
	t.Helper()
	v := loopback.NewVault(t)
	loopback.Use(t, v)
	t.Setenv("HOME", t.TempDir())
	v.SetTTL(1)
	return v
}

// newService returns a service that tries again at once.
func newService() *Service { return &Service{retry: time.Millisecond} }

// asked reports whether the server was asked about the token by a path since it was last called.
func asked(v *loopback.Vault, path string) bool {
	return strings.Contains(strings.Join(v.Seen(), "\n"), "/v1/auth/token/"+path)
}

// TestIdle: the token of a store that is not used is renewed again and again.
func TestIdle(t *testing.T) {
	v := newVault(t)
	v.Keys.Generate("sol", remote.Ed25519)
	store, err := remote.Open(t.Context(), remote.Services{Scheme: newService()}, []remote.Pin{
		{URI: "vaulttransit:sol?version=1", PublicKey: v.Keys.Public("sol").Signing, OrganizationID: "org"},
	}, remote.Options{})
	testenv.Must(t, err)
	testenv.Await(t, "the third renewal", func() bool { return v.Renewed() >= 3 })
	if err := store.Close(); err != nil { // it waits for Keep: package remote tests that
		t.Error(err)
	}
}

// TestKeepRetries: a Vault that is away, when the lifetime is asked for or at a renewal, is asked
// again.
func TestKeepRetries(t *testing.T) {
	v := newVault(t)
	v.RefuseToken(http.StatusServiceUnavailable)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		newService().Keep(ctx)
		close(ended)
	}()
	testenv.Await(t, "a look-up", func() bool { return asked(v, "lookup-self") })
	v.RefuseToken(0)
	testenv.Await(t, "a renewal", func() bool { return v.Renewed() >= 1 })
	v.RefuseToken(http.StatusServiceUnavailable)
	testenv.Await(t, "a renewal that fails", func() bool { return asked(v, "renew-self") })
	renewed := v.Renewed()
	v.RefuseToken(0)
	testenv.Await(t, "a renewal after it", func() bool { return v.Renewed() > renewed })
	cancel()
	<-ended
}

// TestKeepEnds: there is nothing to do for a token that cannot be renewed.
func TestKeepEnds(t *testing.T) {
	v := newVault(t)
	v.RefuseToken(http.StatusForbidden) // it may not look itself up
	newService().Keep(t.Context())
	v.RefuseToken(0)
	v.SetTTL(0) // it does not expire
	newService().Keep(t.Context())
	if v.Renewed() != 0 {
		t.Errorf("%d renewals", v.Renewed())
	}
}
