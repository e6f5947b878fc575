//go:build cgo

package pkcs11

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/ThalesGroup/crypto11"

	"github.com/countersign-dev/countersign/keystore"
)

// proofSessions is the maximum number of crypto11 sessions for the app-proof key, in
// addition to the one that crypto11 keeps open.
const proofSessions = 4

// ProofSigner is the app-proof key, on P-256, on a token: a crypto.Signer for the engine's
// configuration. A Store does not find it, so that no signWith can reach it. It is safe for
// concurrent use.
type ProofSigner struct {
	uri    URI
	public *ecdsa.PublicKey

	// mu is held for reading while signing. crypto11 never drops a dead session, so that
	// after a failure its whole context is replaced.
	mu          sync.RWMutex
	connection  *connection
	signer      crypto11.Signer
	closed      bool
	refused     error // by which the token refused the PIN, which is not tried again
	credentials credentials
}

var _ crypto.Signer = (*ProofSigner)(nil)

// OpenProofSigner opens the P-256 key pair that the URI names by object (its CKA_LABEL), id
// (its CKA_ID) or both, on the token that the URI selects.
func OpenProofSigner(ctx context.Context, uri string, options Options) (*ProofSigner, error) {
	return openProof(ctx, uri, options, func(*ProofSigner) error { return nil })
}

// GenerateProofKey generates the key pair that the URI names by both object and id, and opens
// it. If it exists, the error is keystore.ErrKeyExists.
func GenerateProofKey(ctx context.Context, uri string, options Options) (*ProofSigner, error) {
	return openProof(ctx, uri, options, (*ProofSigner).generate)
}

func openProof(ctx context.Context, text string, options Options, before func(*ProofSigner) error) (*ProofSigner, error) {
	settings, err := settle(text, options)
	if err != nil {
		return nil, err
	}
	if settings.uri.Object == "" && settings.uri.ID == nil {
		return nil, errors.New("pkcs11 uri: no key is named: write object=LABEL or id=%01 for the P-256 key of app proofs")
	}
	with, err := readCredentials(settings.uri, options)
	if err != nil {
		return nil, err
	}
	p := &ProofSigner{uri: settings.uri, credentials: with}
	err = ctx.Err()
	if err == nil {
		err = p.open(ctx, before)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// open connects and finds the key. When reopening, the key must be the same as before.
func (p *ProofSigner) open(ctx context.Context, before func(*ProofSigner) error) error {
	err := p.credentials.pin.Reveal(func(pin []byte) (err error) {
		copied := p.credentials
		copied.pin = keystore.NewSecret(pin) // the connection's own
		p.connection, err = connect(ctx, p.uri, copied)
		return err
	})
	if err != nil {
		if errors.Is(err, ErrPIN) {
			p.refused = err
		}
		return err
	}
	p.credentials.trust = max(p.credentials.trust, pinWorked)
	if err := before(p); err != nil {
		return err
	}
	pairs, err := p.pairs()
	switch {
	case err != nil:
		return err
	case len(pairs) == 0:
		return fmt.Errorf("pkcs11: the token has no key pair with object=%q, id=%x: generate one on P-256", p.uri.Object, p.uri.ID)
	case len(pairs) > 1:
		return fmt.Errorf("pkcs11: the token has %d key pairs with object=%q, id=%x: name one by both", len(pairs), p.uri.Object, p.uri.ID)
	}
	p.signer = pairs[0]
	return p.prove()
}

// pairs returns the key pairs that match the URI. An empty label or id matches any.
func (p *ProofSigner) pairs() ([]crypto11.Signer, error) {
	pairs, err := p.connection.crypto.FindKeyPairs(p.uri.ID, []byte(p.uri.Object))
	return pairs, explain("looking for the key of app proofs", err)
}

// prove checks the public key, which is the token's claim, by a signature.
func (p *ProofSigner) prove() error {
	public, ok := p.signer.Public().(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return errors.New("pkcs11: the key of app proofs is not on P-256")
	}
	if p.public != nil && !p.public.Equal(public) {
		return errors.New("pkcs11: the key of app proofs has changed: restart if that is intended")
	}
	p.public = public
	digest := sha256.Sum256([]byte(proofMessage))
	_, err := p.signOnce(digest[:])
	return err
}

func (p *ProofSigner) generate() error {
	if p.uri.Object == "" || p.uri.ID == nil {
		return errors.New("pkcs11 uri: a new key needs both object=LABEL and id=%01")
	}
	existing, err := p.pairs()
	if err != nil {
		return err
	}
	if len(existing) > 0 {
		return fmt.Errorf("pkcs11: %w: object=%q, id=%x", keystore.ErrKeyExists, p.uri.Object, p.uri.ID)
	}
	_, err = p.connection.crypto.GenerateECDSAKeyPairWithLabel(p.uri.ID, []byte(p.uri.Object), elliptic.P256())
	return explain("generating the key of app proofs", err)
}

// Public returns the *ecdsa.PublicKey.
func (p *ProofSigner) Public() crypto.PublicKey { return p.public }

// Sign signs a SHA-256 digest in ASN.1 DER, like ecdsa.PrivateKey. The signature is verified
// before it is returned. If the session, the login or the token is gone, Sign reconnects and
// tries once more.
func (p *ProofSigner) Sign(_ io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	if len(digest) != sha256.Size || options != nil && options.HashFunc() != crypto.SHA256 {
		return nil, fmt.Errorf("pkcs11: app proofs sign SHA-256 digests of 32 bytes, not %d bytes", len(digest))
	}
	p.mu.RLock()
	failed := p.connection
	signature, err := p.signOnce(digest)
	p.mu.RUnlock()
	if !retryable(err) {
		return signature, explain("signing an app proof", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.reopen(failed); err != nil {
		return nil, err
	}
	signature, err = p.signOnce(digest)
	return signature, explain("signing an app proof, second try", err)
}

// errNotOpen is the error after reopening has failed. As CKR_SESSION_CLOSED, it is retryable.
var errNotOpen = sessionGone[1]

func (p *ProofSigner) signOnce(digest []byte) ([]byte, error) {
	switch {
	case p.closed:
		return nil, keystore.ErrClosed
	case p.signer == nil:
		return nil, errNotOpen
	}
	signature, err := p.signer.Sign(nil, digest, crypto.SHA256)
	if err != nil {
		return nil, err
	}
	if !ecdsa.VerifyASN1(p.public, digest, signature) {
		return nil, fmt.Errorf("%w: ecdsa on P-256", keystore.ErrSignatureCheck)
	}
	return signature, nil
}

// reopen replaces a failed connection unless another caller has done so. After Close, the
// PIN has been destroyed and the error is keystore.ErrClosed. The caller holds p.mu.
func (p *ProofSigner) reopen(failed *connection) error {
	if p.connection != failed {
		return nil
	}
	if p.refused != nil {
		return p.refused
	}
	// The new connection is opened first, which keeps the module initialized.
	p.signer = nil
	err := p.open(context.Background(), func(*ProofSigner) error { return nil })
	if err != nil {
		p.signer = nil
	}
	if failed != nil && p.connection != failed {
		_ = failed.close()
	}
	return err
}

// Close waits for signatures in progress. Closing again does nothing.
func (p *ProofSigner) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	p.credentials.pin.Destroy()
	if p.connection == nil {
		return nil
	}
	return p.connection.close()
}
