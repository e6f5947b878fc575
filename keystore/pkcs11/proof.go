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

// proofSessions is how many sessions crypto11 may use at once for the
// app-proof key, beside the one that it keeps open.
const proofSessions = 4

// ProofSigner is the app-proof key, on P-256, on a token: a crypto.Signer for
// the engine's configuration. A Store does not find it, so that no signWith can
// reach it. It is safe for concurrent use.
type ProofSigner struct {
	uri    URI
	public *ecdsa.PublicKey

	// crypto11 never drops a session that has died, so that after a failure we
	// drop crypto11's whole context. Who signs holds mu for reading.
	mu         sync.RWMutex
	connection *connection
	signer     crypto11.Signer
	closed     bool
	refused    error // the PIN, by the token: it is not tried again
	with       credentials
}

var _ crypto.Signer = (*ProofSigner)(nil)

// OpenProofSigner opens the P-256 key pair that the URI names with object (its
// CKA_LABEL), id (its CKA_ID) or both, beside what it needs to name the token.
func OpenProofSigner(ctx context.Context, uri string, options Options) (*ProofSigner, error) {
	return openProof(ctx, uri, options, func(*ProofSigner) error { return nil })
}

// GenerateProofKey makes the key pair that the URI names with object and id,
// both, and opens it. If there is one with these already, it is an error.
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
	p := &ProofSigner{uri: settings.uri, with: with}
	err = ctx.Err()
	if err == nil {
		err = p.open(ctx, before)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// open connects, and finds the key. It must prove that it is the key that it
// was before, if there was one.
func (p *ProofSigner) open(ctx context.Context, before func(*ProofSigner) error) error {
	err := p.with.pin.Reveal(func(pin []byte) (err error) {
		copied := p.with
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
	p.with.trust = max(p.with.trust, pinWorked)
	if err := before(p); err != nil {
		return err
	}
	pairs, err := p.pairs()
	switch {
	case err != nil:
		return err
	case len(pairs) == 0:
		return fmt.Errorf("pkcs11: the token has no key pair with object=%q, id=%x: make one on P-256", p.uri.Object, p.uri.ID)
	case len(pairs) > 1:
		return fmt.Errorf("pkcs11: the token has %d key pairs with object=%q, id=%x: name one by both", len(pairs), p.uri.Object, p.uri.ID)
	}
	p.signer = pairs[0]
	return p.prove()
}

// pairs returns the key pairs that are what the URI says. An empty label or id
// is anything.
func (p *ProofSigner) pairs() ([]crypto11.Signer, error) {
	pairs, err := p.connection.crypto.FindKeyPairs(p.uri.ID, []byte(p.uri.Object))
	return pairs, explain("looking for the key of app proofs", err)
}

// prove checks what the token says is the public key.
func (p *ProofSigner) prove() error {
	public, ok := p.signer.Public().(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return errors.New("pkcs11: the key of app proofs is not on P-256")
	}
	if p.public != nil && !p.public.Equal(public) {
		return errors.New("pkcs11: the key of app proofs is another one than before: restart if that is meant")
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
	return explain("making the key of app proofs", err)
}

// Public returns the *ecdsa.PublicKey.
func (p *ProofSigner) Public() crypto.PublicKey { return p.public }

// Sign signs a SHA-256 digest: ASN.1 DER, as ecdsa.PrivateKey does. The
// signature is checked before it is returned. If the session, the login or the
// token turns out to be gone, it connects anew and tries once more.
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
	return signature, explain("signing an app proof for the second time", err)
}

// errNotOpen is CKR_SESSION_CLOSED by another name: reopening failed before.
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

// reopen replaces a connection that failed, unless another caller has done so
// meanwhile. After Close there is no PIN any more, and the error is
// keystore.ErrClosed. p.mu is held.
func (p *ProofSigner) reopen(failed *connection) error {
	if p.connection != failed {
		return nil
	}
	if p.refused != nil {
		return p.refused
	}
	// The new one is opened first: it keeps the module initialized for others.
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

// Close waits for signatures that are being made. Closing again does nothing.
func (p *ProofSigner) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	p.with.pin.Destroy()
	if p.connection == nil {
		return nil
	}
	return p.connection.close()
}
