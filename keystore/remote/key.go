package remote

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/keystore"
)

// key is a pinned key.
type key struct {
	store   *Store
	service Service
	site    site
	pin     Pin
	id      string

	turn   chan struct{} // full while the key is being checked; guards opened
	opened Key

	known atomic.Pointer[knowledge]
}

// knowledge is what the last check, and the signatures since, have shown.
type knowledge struct {
	checkedAt time.Time // the last time that the service had the pinned key
	usedAt    time.Time // the last success of any kind
	moved     error     // the service has another key
}

func newKey(store *Store, pin Pin) (*key, error) {
	if pin.URI == "" || pin.PublicKey.IsZero() || pin.OrganizationID == "" {
		return nil, fmt.Errorf("a pinned key needs a URI, a public key and an organization")
	}
	if err := keystore.CheckName("name", pin.Name); err != nil {
		return nil, err
	}
	service, scheme, err := store.services.Of(pin.URI)
	if err == nil {
		err = service.Check(pin.URI)
	}
	if err != nil {
		return nil, err
	}
	pin.ID = cmp.Or(pin.ID, IDOf(pin.PublicKey))
	k := &key{store: store, service: service, site: site{scheme: scheme}, pin: pin, id: pin.ID, turn: make(chan struct{}, 1)}
	if sited, ok := service.(Sited); ok {
		k.site.name = sited.Site(pin.URI)
	}
	k.known.Store(&knowledge{})
	return k, nil
}

// String names the key in errors.
func (k *key) String() string {
	if k.pin.Name == "" {
		return fmt.Sprintf("key %s (%s)", k.id, k.pin.URI)
	}
	return fmt.Sprintf("key %s (%q, %s)", k.id, k.pin.Name, k.pin.URI)
}

func (k *key) ID() string { return k.id }

func (k *key) PublicKey() keystore.PublicKey { return k.pin.PublicKey }

func (k *key) Info() keystore.KeyInfo {
	return keystore.KeyInfo{ID: k.id, Name: k.pin.Name, PublicKey: k.pin.PublicKey}
}

// Sign implements held.Key. After a signature that does not verify, and after a key that is gone, the
// key is checked before it is used again.
func (k *key) Sign(ctx context.Context, message []byte, finish func(raw []byte) error) error {
	err := k.call(ctx, "sign", func(ctx context.Context, remote Key) error {
		raw, err := remote.Sign(ctx, SchemeOf(k.pin.PublicKey.Curve()), message)
		if err != nil {
			return err
		}
		return finish(raw)
	})
	switch {
	case err == nil:
		k.learn(func(now *knowledge) { now.usedAt = k.store.options.Now() })
	case errors.Is(err, keystore.ErrSignatureCheck):
		k.learn(func(now *knowledge) { now.checkedAt, now.usedAt = time.Time{}, time.Time{} })
	case errors.Is(err, keystore.ErrKeyNotFound): // it was there when it was found
		k.learn(func(now *knowledge) { now.checkedAt, now.usedAt = time.Time{}, time.Time{} })
		return fmt.Errorf("%w: %w", keystore.ErrWithdrawn, err)
	case errors.Is(err, keystore.ErrUnavailable):
		k.learn(func(now *knowledge) { now.usedAt = time.Time{} })
	}
	return err
}

// learn changes what is known of the key.
func (k *key) learn(change func(*knowledge)) {
	for {
		old := k.known.Load()
		next := *old
		change(&next)
		if k.known.CompareAndSwap(old, &next) {
			return
		}
	}
}

// moved returns why the key is refused, nil if it is not.
func (k *key) moved() error { return k.known.Load().moved }

func (k *key) recentlyUsable() bool {
	knowledge := k.known.Load()
	return knowledge.moved == nil && k.store.options.Now().Sub(knowledge.usedAt) < readyFor
}

// check asks the service for the public key and compares it with the pin.
func (k *key) check(ctx context.Context) error {
	var has Public
	err := k.call(ctx, "check", func(ctx context.Context, remote Key) (err error) {
		has, err = remote.PublicKey(ctx)
		return err
	})
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			k.learn(func(now *knowledge) { now.usedAt = time.Time{} })
		}
		return err
	}
	now := k.store.options.Now()
	if has.Signing == k.pin.PublicKey {
		k.learn(func(known *knowledge) { *known = knowledge{checkedAt: now, usedAt: now} })
		return nil
	}
	moved := fmt.Errorf("%w: %v: the service has another key, %v, and not the pinned %v: its alias or version was "+
		"changed, or the pin is wrong",
		keystore.ErrSignatureCheck, k, has, k.pin.PublicKey)
	if k.moved() == nil {
		k.store.options.Logger.Error("key refused", "key", k.id, "cause", moved)
	}
	k.learn(func(known *knowledge) { *known = knowledge{moved: moved} })
	return moved
}

// ProofSigner is an app-proof key at a service, for countersign.Config.ProofSigner. It is safe
// for concurrent use.
type ProofSigner struct {
	uri    string
	key    Key
	public *ecdsa.PublicKey
	cancel context.CancelFunc
	kept   sync.WaitGroup // a call of Keep
}

var _ crypto.Signer = (*ProofSigner)(nil)

// OpenProofSigner opens an ECDSA key on P-256. Every signature is verified under the public key
// that the service had then. The context is that of opening only; Close ends what runs in the
// background.
func OpenProofSigner(ctx context.Context, services Services, uri string) (*ProofSigner, error) {
	service, _, err := services.Of(uri)
	if err == nil {
		err = service.Check(uri)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, DefaultTimeout)
	defer cancel()
	key, err := service.Open(ctx, uri)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	public, err := key.PublicKey(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", uri, err)
	}
	if public.Proof == nil {
		return nil, fmt.Errorf("%s: %w: the app-proof key must be an ECDSA key on P-256", uri, keystore.ErrUnsupported)
	}
	signer := &ProofSigner{uri: uri, key: key, public: public.Proof}
	background, cancel := context.WithCancel(context.Background())
	signer.cancel = cancel
	keep(background, &signer.kept, service)
	return signer, nil
}

// Close ends what runs in the background. Signing still works.
func (p *ProofSigner) Close() error {
	p.cancel()
	p.kept.Wait()
	return nil
}

func (p *ProofSigner) Public() crypto.PublicKey { return p.public }

// Sign implements crypto.Signer. It takes digests of SHA-256 and returns DER.
func (p *ProofSigner) Sign(_ io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	if options == nil || options.HashFunc() != crypto.SHA256 || len(digest) != 32 {
		return nil, errors.New("app-proof key: only digests of SHA-256 are signed: the options must be crypto.SHA256")
	}
	ctx, cancel := context.WithTimeout(context.Background(), DefaultTimeout)
	defer cancel()
	raw, err := p.key.Sign(ctx, P256, digest)
	if err != nil {
		return nil, fmt.Errorf("app-proof key %s: %w", p.uri, err)
	}
	der := raw
	if !ecdsa.VerifyASN1(p.public, digest, der) && len(raw) == 64 {
		der, err = asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])})
	}
	if err != nil || !ecdsa.VerifyASN1(p.public, digest, der) {
		return nil, fmt.Errorf("app-proof key %s: %w: it does not verify under the public key", p.uri, keystore.ErrSignatureCheck)
	}
	return der, nil
}
