package docs_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/internal/testenv"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// remote is a key service: it signs digests on secp256k1 and returns r ‖ s,
// with s high or low. Its errors are errTooMany, errForbidden and others.
type remote interface {
	Sign(ctx context.Context, keyName string, digest [32]byte) ([]byte, error)
}

// remoteKeys is a keystore.Keystore whose secrets are in a key service.
type remoteKeys struct {
	remote remote
	mu     sync.RWMutex // read-locked while signing
	closed bool
	infos  map[string][]keystore.KeyInfo // by organization, oldest first
	keys   map[string]map[keystore.Locator]*remoteKey
}

// add registers a key of the service.
func (r *remoteKeys) add(organizationID string, info keystore.KeyInfo) error {
	taproot, err := keystore.TaprootLocator(info.PublicKey)
	if err != nil {
		return err
	}
	nested, err := keystore.NestedLocator(info.PublicKey)
	if err != nil {
		return err
	}
	if r.keys[organizationID] == nil {
		r.keys[organizationID] = map[keystore.Locator]*remoteKey{}
	}
	for _, locator := range append(keystore.Locators(info.PublicKey), taproot, nested, keystore.ByID(info.ID)) {
		r.keys[organizationID][locator] = &remoteKey{store: r, name: organizationID + "/" + info.ID, info: info}
	}
	r.infos[organizationID] = append(r.infos[organizationID], info)
	slices.SortStableFunc(r.infos[organizationID], func(a, b keystore.KeyInfo) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return nil
}

func (r *remoteKeys) Find(ctx context.Context, organizationID string, locator keystore.Locator) (keystore.Key, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return nil, keystore.ErrClosed
	}
	if key, ok := r.keys[organizationID][locator]; ok {
		return key, ctx.Err()
	}
	return nil, keystore.ErrKeyNotFound
}

func (r *remoteKeys) Keys(ctx context.Context, organizationID string) iter.Seq2[keystore.KeyInfo, error] {
	return func(yield func(keystore.KeyInfo, error) bool) {
		r.mu.RLock()
		infos, closed := r.infos[organizationID], r.closed
		r.mu.RUnlock()
		if closed {
			yield(keystore.KeyInfo{}, keystore.ErrClosed)
			return
		}
		for _, info := range infos {
			if err := ctx.Err(); err != nil {
				yield(keystore.KeyInfo{}, err)
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

// Close waits for signatures in progress.
func (r *remoteKeys) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return nil
}

// remoteKey is one key: a keystore.Key and a keystore.ECDSASigner.
type remoteKey struct {
	store *remoteKeys
	name  string // at the service
	info  keystore.KeyInfo
}

func (k *remoteKey) ID() string                    { return k.info.ID }
func (k *remoteKey) PublicKey() keystore.PublicKey { return k.info.PublicKey }

// SignECDSA leaves it to FinishECDSA to make s low and to find the recovery id, neither of
// which the service does.
func (k *remoteKey) SignECDSA(ctx context.Context, digest [32]byte) (signature [65]byte, err error) {
	k.store.mu.RLock()
	defer k.store.mu.RUnlock()
	if k.store.closed {
		return signature, keystore.ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return signature, err
	}
	raw, err := k.store.remote.Sign(ctx, k.name, digest)
	if err != nil {
		return signature, classify(ctx, err)
	}
	return keystore.FinishECDSA(k.info.PublicKey, digest, raw)
}

// classify says what a failure of the service means to the engine.
func classify(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err() // the caller gave up
	case errors.Is(err, errTooMany):
		return &keystore.ThrottledError{RetryAfter: time.Second, Err: err}
	case errors.Is(err, errForbidden):
		return fmt.Errorf("%w: %w", keystore.ErrDenied, err)
	case errors.Is(err, errNoKey):
		return fmt.Errorf("%w: %w", keystore.ErrKeyNotFound, err)
	}
	return fmt.Errorf("%w: %w", keystore.ErrUnavailable, err)
}

// TestRemoteKeys runs the contract suite.
func TestRemoteKeys(t *testing.T) {
	fake := newService(t)
	keystoretest.Run(t, keystoretest.Backend{
		NoEd25519:       true,
		NoSchnorr:       true,
		RandomizedECDSA: true,
		Fault:           func(_ *testing.T, _ keystore.Keystore, fault keystoretest.Fault) bool { return fake.fail(fault) },
		Own: func(t *testing.T) (keystore.Keystore, []keystoretest.Key) {
			store := &remoteKeys{remote: fake, infos: map[string][]keystore.KeyInfo{}, keys: map[string]map[keystore.Locator]*remoteKey{}}
			var keys []keystoretest.Key
			for _, id := range []string{"one", "two"} {
				info := fake.generate(t, keystoretest.Organization, id)
				testenv.Must(t, store.add(keystoretest.Organization, info))
				keys = append(keys, keystoretest.Key{
					OrganizationID: keystoretest.Organization, ID: id, Curve: keystore.CurveSecp256k1, PublicKey: info.PublicKey, CreatedAt: info.CreatedAt,
				})
			}
			return store, keys
		},
	})
}

// The errors of the service.
var (
	errTooMany   = errors.New("too many requests")
	errForbidden = errors.New("forbidden")
	errNoKey     = errors.New("no such key")
	errDown      = errors.New("connection refused")
)

var errorsOf = map[keystoretest.Fault]error{
	keystoretest.Throttled: errTooMany, keystoretest.Denied: errForbidden, keystoretest.Gone: errNoKey, keystoretest.Away: errDown,
	keystoretest.Broken: errDown, keystoretest.Nonsense: errDown,
}

// service stands for a key service.
type service struct {
	store *memory.Store
	fault atomic.Value // of keystoretest.Fault
}

func newService(t *testing.T) *service {
	t.Helper()
	made := &service{store: memory.New()}
	made.fault.Store(keystoretest.NoFault)
	t.Cleanup(func() { _ = made.store.Close() })
	return made
}

// generate has the service create a key, unless it has one.
func (s *service) generate(t *testing.T, organizationID, id string) keystore.KeyInfo {
	t.Helper()
	secret := sha256.Sum256([]byte(id))
	info, err := s.store.Add(t.Context(), organizationID, keystore.NewKey{
		ID: organizationID + "/" + id, Curve: keystore.CurveSecp256k1, Secret: secret[:], CreatedAt: time.Unix(int64(len(id)), 0),
	})
	if err != nil && !errors.Is(err, keystore.ErrKeyExists) {
		t.Fatal(err)
	}
	info.ID = id
	return info
}

func (s *service) fail(fault keystoretest.Fault) bool {
	s.fault.Store(fault)
	return true
}

func (s *service) Sign(ctx context.Context, keyName string, digest [32]byte) ([]byte, error) {
	fault := s.fault.Load().(keystoretest.Fault)
	if fault == keystoretest.Slow {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := errorsOf[fault]; err != nil {
		return nil, err
	}
	organizationID, _, _ := strings.Cut(keyName, "/")
	signWith := func(id string, digest [32]byte) []byte {
		key, err := s.store.Find(ctx, organizationID, keystore.ByID(organizationID+"/"+id))
		if err != nil {
			return nil
		}
		signature, err := key.(keystore.ECDSASigner).SignECDSA(context.WithoutCancel(ctx), digest)
		if err != nil {
			return nil
		}
		return signature[:64]
	}
	_, id, _ := strings.Cut(keyName, "/")
	other := map[string]string{"one": "two", "two": "one"}[id]
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return fault.Alter(keystoretest.Answer{
		Signature: signWith(id, digest),
		OtherKey:  func() []byte { return signWith(other, digest) },
		OtherText: func() []byte { return signWith(id, [32]byte{9}) },
	}), nil
}
