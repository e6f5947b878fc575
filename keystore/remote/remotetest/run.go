package remotetest

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/chainvectors"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/remote"
)

// Harness is a service and the simulation that it talks to.
type Harness struct {
	Scheme  string // of URIs
	Service remote.Service
	Keys    *Keys                    // of the simulation
	URI     func(name string) string // of one of these keys
	Curves  []remote.Scheme          // that the service has: some of Secp256k1 and Ed25519

	// MaxMessage is that of keystoretest.Backend.
	MaxMessage int

	// Names of the rights that are missing if the simulation has the fault Denied, in the
	// vendor's language: to sign, and to get the public key.
	SignRight, PublicKeyRight string
}

// Run runs the tests. The simulation answers every key's requests.
func Run(t *testing.T, h Harness) {
	t.Run("Contract", h.contract)
	t.Run("Vectors", h.vectors)
	t.Run("Moved", h.moved)
	t.Run("AwayAtFirst", h.awayAtFirst)
	t.Run("Rights", h.rights)
	t.Run("Clients", h.clients)
	t.Run("GivenUp", h.givenUp)
	t.Run("Proof", h.proof)
}

func (h Harness) services() remote.Services { return remote.Services{h.Scheme: h.Service} }

// pin creates a key and pins it.
func (h Harness) pin(name string, scheme remote.Scheme) remote.Pin {
	h.Keys.Generate(name, scheme)
	return h.pinned(name)
}

func (h Harness) pinned(name string) remote.Pin {
	return remote.Pin{URI: h.URI(name), PublicKey: h.Keys.Public(name).Signing, OrganizationID: keystoretest.Organization, Name: name}
}

func (h Harness) open(t *testing.T, options remote.Options, pins ...remote.Pin) *remote.Store {
	t.Helper()
	store, err := remote.Open(t.Context(), h.services(), pins, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func (h Harness) contract(t *testing.T) {
	keystoretest.Run(t, keystoretest.Backend{
		NoSecp256k1: !slices.Contains(h.Curves, remote.Secp256k1), NoEd25519: !slices.Contains(h.Curves, remote.Ed25519),
		NoSchnorr: true, RandomizedECDSA: true, MaxMessage: h.MaxMessage,
		Fault: func(_ *testing.T, _ keystore.Keystore, fault keystoretest.Fault) bool {
			h.Keys.SetFault(fault)
			return true
		},
		Own: func(t *testing.T) (keystore.Keystore, []keystoretest.Key) {
			var pins []remote.Pin
			var keys []keystoretest.Key
			for i, scheme := range append(h.Curves, h.Curves...) {
				pin := h.pin(fmt.Sprintf("key-%d", i), scheme)
				if i >= len(h.Curves) {
					pin.OrganizationID = "default"
				}
				pins = append(pins, pin)
				keys = append(keys, keystoretest.Key{
					OrganizationID: pin.OrganizationID, ID: remote.IDOf(pin.PublicKey), Name: pin.Name,
					Curve: pin.PublicKey.Curve(), PublicKey: pin.PublicKey,
				})
			}
			store, err := remote.Open(t.Context(), h.services(), pins, remote.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return store, keys
		},
	})
}

// vectors signs the transactions of all chains whose curve the service has.
func (h Harness) vectors(t *testing.T) {
	signed := 0
	for name, v := range chainvectors.All(t) {
		key := v.Key(t)
		scheme := remote.SchemeOf(key.Curve)
		if !slices.Contains(h.Curves, scheme) {
			continue
		}
		signed++
		t.Run(name, func(t *testing.T) {
			h.Keys.Import("vector", scheme, key.Secret)
			v.Sign(t, chainvectors.Engine(t, h.open(t, remote.Options{}, h.pinned("vector"))), keystoretest.Organization, name)
		})
	}
	if signed == 0 {
		t.Error("no vectors for its curves")
	}
}

// sign makes a signature with whatever curve the key has.
func sign(ctx context.Context, store keystore.Keystore, pin remote.Pin) error {
	key, err := store.Find(ctx, pin.OrganizationID, keystore.ByID(remote.IDOf(pin.PublicKey)))
	if err != nil {
		return err
	}
	return signWith(ctx, key)
}

func signWith(ctx context.Context, key keystore.Key) (err error) {
	switch signer := key.(type) {
	case keystore.ECDSASigner:
		_, err = signer.SignECDSA(ctx, [32]byte{1})
	case keystore.Ed25519Signer:
		_, err = signer.SignEd25519(ctx, []byte{1})
	}
	return err
}

// moved has another key take the place of the pinned one: before the store is opened, and after.
func (h Harness) moved(t *testing.T) {
	for _, scheme := range h.Curves {
		pin := h.pin("moved", scheme)
		stays := h.pin("stays", scheme)
		store := h.open(t, remote.Options{}, pin, stays)
		if err := sign(t.Context(), store, pin); err != nil {
			t.Fatal(err)
		}
		h.Keys.Generate("moved", scheme)
		for _, store := range []*remote.Store{store, h.open(t, remote.Options{}, pin, stays)} {
			for range 3 {
				if err := sign(t.Context(), store, pin); !errors.Is(err, keystore.ErrSignatureCheck) ||
					!strings.Contains(err.Error(), pin.URI) {
					t.Errorf("%v, want ErrSignatureCheck that names the key", err)
				}
			}
			if why := store.Skipped(); len(why) != 1 || !strings.Contains(why[0].Error(), `"moved"`) ||
				!strings.Contains(why[0].Error(), "not the pinned") {
				t.Errorf("skipped: %v", why)
			}
			if err := sign(t.Context(), store, stays); err != nil {
				t.Errorf("the other key: %v", err)
			}
			if err := store.Ready(t.Context()); err != nil {
				t.Errorf("ready: %v", err)
			}
		}
	}
}

// awayAtFirst opens a store while the service is away, and while it is slow.
func (h Harness) awayAtFirst(t *testing.T) {
	defer h.Keys.SetFault(keystoretest.NoFault)
	pin := h.pin("away", h.Curves[0])
	for _, fault := range []keystoretest.Fault{keystoretest.Away, keystoretest.Slow, keystoretest.Nonsense} {
		h.Keys.SetFault(fault)
		options := remote.Options{}
		if fault == keystoretest.Slow {
			options.Timeout = 20 * time.Millisecond
		}
		store := h.open(t, options, pin)
		if err := sign(t.Context(), store, pin); !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("%s: %v, want ErrUnavailable", fault, err)
		}
		if err := store.Ready(t.Context()); !errors.Is(err, keystore.ErrUnavailable) {
			t.Errorf("%s: ready: %v, want ErrUnavailable", fault, err)
		}
		listed := 0
		for _, err := range store.Keys(t.Context(), pin.OrganizationID) {
			if err != nil {
				t.Errorf("%s: the listing: %v", fault, err)
			}
			listed++
		}
		if listed != 1 {
			t.Errorf("%s: %d keys are listed", fault, listed)
		}
		h.Keys.SetFault(keystoretest.NoFault)
		if fault == keystoretest.Slow {
			continue // its time-out is too short for an answer
		}
		if err := store.Ready(t.Context()); err != nil {
			t.Errorf("%s is over: ready: %v", fault, err)
		}
		if err := sign(t.Context(), store, pin); err != nil {
			t.Errorf("%s is over: %v", fault, err)
		}
	}
}

// rights has rights missing. The errors must name them.
func (h Harness) rights(t *testing.T) {
	defer h.Keys.SetFault(keystoretest.NoFault)
	pin := h.pin("denied", h.Curves[0])
	store := h.open(t, remote.Options{}, pin)
	key, err := store.Find(t.Context(), pin.OrganizationID, keystore.ByID(remote.IDOf(pin.PublicKey)))
	if err != nil {
		t.Fatal(err)
	}
	h.Keys.SetFault(keystoretest.Denied)
	if err := signWith(t.Context(), key); !errors.Is(err, keystore.ErrDenied) || !strings.Contains(err.Error(), h.SignRight) {
		t.Errorf("signing: %v does not name %s", err, h.SignRight)
	}
	if err := sign(t.Context(), h.open(t, remote.Options{Lazy: true}, pin), pin); !errors.Is(err,
		keystore.ErrDenied) || !strings.Contains(err.Error(), h.PublicKeyRight) {
		t.Errorf("the public key: %v does not name %s", err, h.PublicKeyRight)
	}
}

// clients has 64 clients sign at once while each signature takes the service some time. All of
// them are in the service at the same time, or it would take longer than the test may.
func (h Harness) clients(t *testing.T) {
	pin := h.pin("busy", h.Curves[0])
	store := h.open(t, remote.Options{}, pin)
	h.Keys.SetDelay(50 * time.Millisecond)
	defer h.Keys.SetDelay(0)
	var done sync.WaitGroup
	for range 64 {
		done.Go(func() {
			if err := sign(t.Context(), store, pin); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
}

// givenUp cancels calls while the service does not answer, and closes the store meanwhile.
func (h Harness) givenUp(t *testing.T) {
	pin := h.pin("given-up", h.Curves[0])
	var mu sync.Mutex
	outcomes := map[remote.Outcome]int{}
	store, err := remote.Open(t.Context(), h.services(), []remote.Pin{pin}, remote.Options{Observe: func(seen remote.Observation) {
		mu.Lock()
		defer mu.Unlock()
		if seen.Operation == "sign" {
			outcomes[seen.Outcome]++
		}
		if seen.Service != h.Scheme {
			t.Errorf("observed %+v", seen)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.Find(t.Context(), pin.OrganizationID, keystore.ByID(remote.IDOf(pin.PublicKey)))
	if err != nil {
		t.Fatal(err)
	}
	h.Keys.SetFault(keystoretest.Slow)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := signWith(ctx, key); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, want the error of the context", err)
	}
	answered := make(chan error)
	go func() { answered <- signWith(t.Context(), key) }()
	closed := make(chan error)
	go func() { closed <- store.Close() }()
	h.Keys.SetFault(keystoretest.NoFault)
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if err := <-answered; err != nil && !errors.Is(err, keystore.ErrClosed) {
		t.Errorf("a call during Close: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if outcomes[remote.Abandoned] != 1 {
		t.Errorf("outcomes %v", outcomes)
	}
}

// proof opens an app-proof key, and refuses one on another curve.
func (h Harness) proof(t *testing.T) {
	h.Keys.Generate("proof", remote.P256)
	signer, err := remote.OpenProofSigner(t.Context(), h.services(), h.URI("proof"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := signer.Close(); err != nil {
			t.Error(err)
		}
	}()
	digest := sha256.Sum256([]byte("proof"))
	signature, err := signer.Sign(nil, digest[:], crypto.SHA256)
	if err != nil || !ecdsa.VerifyASN1(signer.Public().(*ecdsa.PublicKey), digest[:], signature) {
		t.Errorf("%x, %v", signature, err)
	}
	for _, options := range []crypto.SignerOpts{nil, crypto.Hash(0), crypto.SHA512} {
		if _, err := signer.Sign(nil, digest[:], options); err == nil || !strings.Contains(err.Error(), "only digests of SHA-256") {
			t.Errorf("options %v: %v", options, err)
		}
	}
	h.Keys.Generate("proof", remote.P256)
	if _, err := signer.Sign(nil, digest[:], crypto.SHA256); !errors.Is(err, keystore.ErrSignatureCheck) {
		t.Errorf("with another key in its place: %v", err)
	}
	h.Keys.Generate("no-proof", h.Curves[0])
	if _, err := remote.OpenProofSigner(t.Context(), h.services(), h.URI("no-proof")); !errors.Is(err, keystore.ErrUnsupported) {
		t.Errorf("a key on another curve: %v", err)
	}
}
