package remote_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/remote"
	"github.com/countersign-dev/countersign/keystore/remote/remotetest"
)

// fake is a service in the same process.
type fake struct {
	keys *remotetest.Keys
	form remotetest.Form
}

func (f fake) Check(uri string) error {
	_, err := remote.ParseURI(uri, "region")
	return err
}

func (f fake) Open(_ context.Context, uri string) (remote.Key, error) {
	parsed, err := remote.ParseURI(uri, "region")
	return fakeKey{f, parsed.Name}, err
}

type fakeKey struct {
	fake
	name string
}

var errDown = errors.New("connection refused")

// failure is what the service says for its present fault.
func (k fakeKey) failure(ctx context.Context, right string) error {
	fault, over := k.keys.Fault()
	switch fault {
	case keystoretest.Throttled:
		return &keystore.ThrottledError{RetryAfter: time.Second, Err: errors.New("slow down")}
	case keystoretest.Denied:
		return fmt.Errorf("%w: the right %s is missing", keystore.ErrDenied, right)
	case keystoretest.Gone:
		return fmt.Errorf("%w: deleted", keystore.ErrKeyNotFound)
	case keystoretest.Away, keystoretest.Broken, keystoretest.Nonsense:
		return errDown
	case keystoretest.Slow:
		select {
		case <-ctx.Done():
		case <-over:
		}
	}
	return ctx.Err()
}

func (k fakeKey) PublicKey(ctx context.Context) (remote.Public, error) {
	if err := k.failure(ctx, "fake:GetPublicKey"); err != nil {
		return remote.Public{}, err
	}
	return remote.ParseSPKI(k.keys.SPKI(k.name))
}

func (k fakeKey) Sign(ctx context.Context, _ remote.Scheme, message []byte) ([]byte, error) {
	if err := k.failure(ctx, "fake:Sign"); err != nil {
		return nil, err
	}
	return k.keys.Sign(k.name, message, k.form)
}

// TestService runs the tests of services with a service in this process, once for each form of
// signatures.
func TestService(t *testing.T) {
	for _, form := range []remotetest.Form{remotetest.DER, remotetest.Halves} {
		t.Run(map[remotetest.Form]string{remotetest.DER: "DER", remotetest.Halves: "halves"}[form], func(t *testing.T) {
			keys := remotetest.NewKeys()
			remotetest.Run(t, remotetest.Harness{
				Scheme: "fake", Service: fake{keys, form}, Keys: keys, URI: func(name string) string { return "fake:" + name },
				Curves: []remote.Scheme{remote.Secp256k1, remote.Ed25519}, SignRight: "fake:Sign", PublicKeyRight: "fake:GetPublicKey",
			})
		})
	}
}

const organization = "org"

func pinOf(keys *remotetest.Keys, name string) remote.Pin {
	return remote.Pin{URI: "fake:" + name, PublicKey: keys.Public(name).Signing, OrganizationID: organization, Name: name}
}

func openFake(t *testing.T, keys *remotetest.Keys, options remote.Options, pins ...remote.Pin) *remote.Store {
	t.Helper()
	store, err := remote.Open(t.Context(), remote.Services{"fake": fake{keys, remotetest.DER}}, pins, options)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func find(t *testing.T, store *remote.Store, pin remote.Pin) (keystore.Key, error) {
	t.Helper()
	return store.Find(t.Context(), organization, keystore.ByID(remote.IDOf(pin.PublicKey)))
}

// TestOpenRefuses refuses pins before any service is asked.
func TestOpenRefuses(t *testing.T) {
	keys := remotetest.NewKeys()
	keys.Generate("one", remote.Secp256k1)
	pin := pinOf(keys, "one")
	for want, change := range map[string]func(*remote.Pin){
		"needs a URI, a public key and an organization": func(p *remote.Pin) { p.OrganizationID = "" },
		"unknown scheme: this program has fake":         func(p *remote.Pin) { p.URI = "other:one" },
		`unknown parameter "secret"`:                    func(p *remote.Pin) { p.URI += "?secret=x" },
		"given once":                                    func(p *remote.Pin) { p.URI += "?region=a&region=b" },
		"names no key":                                  func(p *remote.Pin) { p.URI = "fake:" },
		"invisible or control character":                func(p *remote.Pin) { p.Name = "a\u202eb" },
	} {
		changed := pin
		change(&changed)
		if _, err := remote.Open(t.Context(), remote.Services{"fake": fake{keys, remotetest.DER}}, []remote.Pin{changed}, remote.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := remote.Open(t.Context(), remote.Services{"fake": fake{keys, remotetest.DER}}, []remote.Pin{pin, pin}, remote.Options{}); !errors.Is(err, keystore.ErrKeyExists) {
		t.Errorf("one key twice: %v", err)
	}
	if _, err := remote.Open(t.Context(), nil, []remote.Pin{pin}, remote.Options{}); err == nil || !strings.Contains(err.Error(), "countersign-kms has awskms") {
		t.Errorf("a program without services: %v", err)
	}
}

// TestFollow disables, enables, renames and adds a key in the pins while the store is open.
func TestFollow(t *testing.T) {
	keys := remotetest.NewKeys()
	keys.Generate("one", remote.Secp256k1)
	keys.Generate("two", remote.Ed25519)
	one, two := pinOf(keys, "one"), pinOf(keys, "two")
	pins, changed, broken := []remote.Pin{one}, false, error(nil)
	var disabled []string
	store := openFake(t, keys, remote.Options{
		OnDisabled: func(info keystore.KeyInfo) { disabled = append(disabled, info.Name) },
		Follow:     func() ([]remote.Pin, bool, error) { return pins, changed, broken },
	}, pins...)
	if _, err := find(t, store, two); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("before it is added: %v", err)
	}
	changed = true
	off := one
	off.Disabled = true
	pins = []remote.Pin{off, two}
	if _, err := find(t, store, one); !errors.Is(err, keystore.ErrKeyNotFound) || len(disabled) != 1 {
		t.Errorf("disabled: %v, %v", err, disabled)
	}
	if _, err := find(t, store, two); err != nil {
		t.Errorf("added: %v", err)
	}
	broken = errors.New("no YAML")
	if _, err := find(t, store, two); err != nil {
		t.Errorf("pins that cannot be read change nothing: %v", err)
	}
	broken, pins = nil, []remote.Pin{two, two}
	if _, err := find(t, store, two); err != nil {
		t.Errorf("pins that cannot be used change nothing: %v", err)
	}
	renamed := one
	renamed.Name = "other"
	pins = []remote.Pin{two, renamed}
	if key, err := find(t, store, one); err != nil || keystore.InfoOf(key).Name != "other" {
		t.Errorf("enabled and renamed: %v, %v", key, err)
	}
}

// TestRecheck: a key in use is checked again when the last check is old. A service that is away
// then does not make a key unusable that was the pinned one before.
func TestRecheck(t *testing.T) {
	keys := remotetest.NewKeys()
	keys.Generate("one", remote.Secp256k1)
	pin, now, checks := pinOf(keys, "one"), time.Unix(1_000_000, 0), 0
	store := openFake(t, keys, remote.Options{
		Now: func() time.Time { return now },
		Observe: func(seen remote.Observation) {
			if seen.Operation == "check" {
				checks++
			}
		},
	}, pin)
	for after, want := range []int{1, 1, 2, 2} {
		if after == 2 {
			now = now.Add(remote.RecheckInterval)
		}
		if _, err := find(t, store, pin); err != nil || checks != want {
			t.Errorf("%d: %v, %d checks, want %d", after, err, checks, want)
		}
	}
	now = now.Add(remote.RecheckInterval)
	keys.SetFault(keystoretest.Away)
	if _, err := find(t, store, pin); err != nil {
		t.Errorf("away at a re-check: %v", err)
	}
	keys.SetFault(keystoretest.Denied)
	if _, err := find(t, store, pin); err != nil {
		t.Errorf("denied at a re-check: %v", err)
	}
	keys.SetFault(keystoretest.NoFault)
	keys.Generate("one", remote.Secp256k1)
	if _, err := find(t, store, pin); !errors.Is(err, keystore.ErrSignatureCheck) {
		t.Errorf("another key at a re-check: %v", err)
	}
}

// TestGone: a key that is gone when it is to sign was withdrawn, and is not found from then on,
// until the service has it again.
func TestGone(t *testing.T) {
	keys := remotetest.NewKeys()
	keys.Generate("one", remote.Secp256k1)
	pin := pinOf(keys, "one")
	store := openFake(t, keys, remote.Options{}, pin)
	key, err := find(t, store, pin)
	testenv.Must(t, err)
	keys.SetFault(keystoretest.Gone)
	if _, err := key.(keystore.ECDSASigner).SignECDSA(t.Context(), [32]byte{1}); !errors.Is(err, keystore.ErrWithdrawn) {
		t.Errorf("signing: %v, want ErrWithdrawn", err)
	}
	if _, err := find(t, store, pin); !errors.Is(err, keystore.ErrKeyNotFound) {
		t.Errorf("found again: %v, want ErrKeyNotFound", err)
	}
	keys.SetFault(keystoretest.NoFault)
	if _, err := find(t, store, pin); err != nil {
		t.Errorf("restored: %v", err)
	}
}

// TestConcurrency: no more calls than allowed are in a service at a time, and one that waits
// for its place obeys its context.
func TestConcurrency(t *testing.T) {
	keys := remotetest.NewKeys()
	keys.Generate("one", remote.Secp256k1)
	pin := pinOf(keys, "one")
	store := openFake(t, keys, remote.Options{Concurrency: 1, Timeout: time.Hour}, pin)
	key, err := find(t, store, pin)
	testenv.Must(t, err)
	signer := key.(keystore.ECDSASigner)
	keys.SetFault(keystoretest.Slow)
	first := make(chan error)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := signer.SignECDSA(ctx, [32]byte{1})
		first <- err
	}()
	waiting, give := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer give()
	if _, err := signer.SignECDSA(waiting, [32]byte{1}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the context's error", err)
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
}

// regions is a service with a site for each region, of which one may hang.
type regions map[string]fake

func (regions) Check(uri string) error { return fake{}.Check(uri) }

func (r regions) Site(uri string) string {
	parsed, _ := remote.ParseURI(uri, "region")
	return parsed.Params["region"]
}

func (r regions) Open(ctx context.Context, uri string) (remote.Key, error) {
	return r[r.Site(uri)].Open(ctx, uri)
}

// TestSites: a site that hangs has its keys wait, and those of no other site, also if it is added
// later. Without sites, the bound is the service's.
func TestSites(t *testing.T) {
	services, pins := regions{}, map[string]remote.Pin{}
	for _, region := range []string{"hangs", "works", "later"} {
		keys := remotetest.NewKeys()
		keys.Generate("one", remote.Secp256k1)
		services[region] = fake{keys, remotetest.DER}
		pin := pinOf(keys, "one")
		pin.URI += "?region=" + region
		pins[region] = pin
	}
	changed := false
	store, err := remote.Open(t.Context(), remote.Services{"fake": services}, []remote.Pin{pins["hangs"], pins["works"]}, remote.Options{
		Concurrency: 1, Timeout: time.Hour,
		Follow: func() ([]remote.Pin, bool, error) {
			return []remote.Pin{pins["hangs"], pins["works"], pins["later"]}, changed, nil
		},
	})
	testenv.Must(t, err)
	sign := func(ctx context.Context, region string) error {
		key, err := find(t, store, pins[region])
		if err != nil {
			return err
		}
		_, err = key.(keystore.ECDSASigner).SignECDSA(ctx, [32]byte{1})
		return err
	}
	services["hangs"].keys.SetFault(keystoretest.Slow)
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() { first <- sign(ctx, "hangs") }()
	waiting, give := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer give()
	if err := sign(waiting, "hangs"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second key of the site that hangs: %v", err)
	}
	changed = true
	for _, region := range []string{"works", "later", "works", "later"} {
		if err := sign(t.Context(), region); err != nil {
			t.Errorf("%s: %v", region, err)
		}
	}
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the context's error", err)
	}
	testenv.Must(t, store.Close())
}

// FuzzParseSPKI: what is read is a point of the curve that it says, and nothing panics.
func FuzzParseSPKI(f *testing.F) {
	keys := remotetest.NewKeys()
	for _, scheme := range []remote.Scheme{remote.Secp256k1, remote.Ed25519, remote.P256} {
		keys.Generate("key", scheme)
		f.Add(keys.SPKI("key"))
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		public, err := remote.ParseSPKI(der)
		if err == nil && public.Signing.IsZero() == (public.Proof == nil) {
			t.Errorf("%x: %v", der, public)
		}
	})
}

// FuzzParseURI: a URI that is read and written again is read the same.
func FuzzParseURI(f *testing.F) {
	for _, seed := range []string{"awskms:alias/hot?region=eu-central-1", "fake:a?region=%20", "fake:", "fake:a#b", "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		uri, err := remote.ParseURI(text, "region")
		if err != nil {
			return
		}
		if again, err := remote.ParseURI(uri.String(), "region"); err != nil || again.String() != uri.String() {
			t.Errorf("%q: %v, %v", text, again, err)
		}
	})
}

// TestIDs: the id of a key is that of its documentation.
func TestIDs(t *testing.T) {
	public, err := remote.ParsePoint(remote.Ed25519, []byte("\x03\xa1\x07\xbf\xf3\xce\x10\xbe\x1d\x70\xdd\x18\xe7\x4b\xc0\x99\x67\xe4\xd6\x30\x9b\xa5\x0d\x5f\x1d\xdc\x86\x64\x12\x55\x31\xb8"))
	testenv.Must(t, err)
	if id := remote.IDOf(public.Signing); id != "6482123a-856e-886e-b233-cec3bb001c33" {
		t.Errorf("id %s", id)
	}
}
