package docs_test

import (
	"context"
	"crypto/rand"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/keystoretest"
	"github.com/countersign-dev/countersign/keystore/memory"
)

// remote is a key service: it signs digests on secp256k1 and returns r ‖ s,
// with s high or low.
type remote interface {
	Sign(ctx context.Context, keyName string, digest [32]byte) ([64]byte, error)
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
		return signature, err
	}
	return keystore.FinishECDSA(k.info.PublicKey, digest, raw[:])
}

// TestRemoteKeys runs the contract suite.
func TestRemoteKeys(t *testing.T) {
	keystoretest.Run(t, keystoretest.Backend{
		NoEd25519:       true,
		NoSchnorr:       true,
		RandomizedECDSA: true,
		Open: func(t *testing.T, keys []keystoretest.Key) keystore.Keystore {
			service := newService(t, keys)
			store := &remoteKeys{remote: service, infos: map[string][]keystore.KeyInfo{}, keys: map[string]map[keystore.Locator]*remoteKey{}}
			for _, key := range keys {
				if err := store.add(key.OrganizationID, service.info(key)); err != nil {
					t.Fatal(err)
				}
			}
			return store
		},
	})
}

// service stands for a key service. Whether s is high is random.
type service map[string]keystore.Key

func newService(t *testing.T, keys []keystoretest.Key) service {
	t.Helper()
	made, store := service{}, memory.New()
	t.Cleanup(func() { _ = store.Close() })
	for _, key := range keys {
		if _, err := store.Add(t.Context(), key.OrganizationID, keystore.NewKey{ID: key.ID, Curve: key.Curve, Secret: key.Secret}); err != nil {
			t.Fatal(err)
		}
		found, err := store.Find(t.Context(), key.OrganizationID, keystore.ByID(key.ID))
		if err != nil {
			t.Fatal(err)
		}
		made[key.OrganizationID+"/"+key.ID] = found
	}
	return made
}

// info returns what the service knows about a key.
func (s service) info(key keystoretest.Key) keystore.KeyInfo {
	public := s[key.OrganizationID+"/"+key.ID].PublicKey()
	return keystore.KeyInfo{ID: key.ID, Name: key.Name, PublicKey: public, CreatedAt: key.CreatedAt}
}

func (s service) Sign(ctx context.Context, keyName string, digest [32]byte) (signature [64]byte, err error) {
	signer, err := keystore.AsECDSA(s[keyName])
	if err != nil {
		return signature, err
	}
	made, err := signer.SignECDSA(ctx, digest)
	if err != nil {
		return signature, err
	}
	copy(signature[:], made[:64])
	coin := make([]byte, 1)
	if _, err := rand.Read(coin); err != nil {
		return signature, err
	}
	if coin[0]&1 == 1 {
		var high secp256k1.ModNScalar
		high.SetByteSlice(signature[32:])
		high.Negate().PutBytesUnchecked(signature[32:])
	}
	return signature, nil
}
