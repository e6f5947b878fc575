//go:build cgo

package pkcs11

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/asn1"
	"errors"
	"fmt"
	"io"
	"math/big"
	"sync/atomic"
	"time"

	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// p256 is how tokens sign app proofs.
var p256 = scheme{pkcs11.CKK_EC, pkcs11.CKM_EC_KEY_PAIR_GEN, pkcs11.CKM_ECDSA, [][]byte{p256OID}}

// ProofSigner is the app-proof key, on P-256, on a token: a crypto.Signer for the engine's
// configuration. A Store does not find it, so that no signWith can reach it. It is safe for
// concurrent use.
type ProofSigner struct {
	uri          URI
	pool         *pool
	closeTimeout time.Duration
	public       *ecdsa.PublicKey
	handle       atomic.Uint64 // of the private object, 0 if it has to be looked up
}

var _ crypto.Signer = (*ProofSigner)(nil)

// OpenProofSigner opens the P-256 key pair that the URI names by object (its CKA_LABEL), id
// (its CKA_ID) or both, on the token that the URI selects.
func OpenProofSigner(ctx context.Context, uri string, options Options) (*ProofSigner, error) {
	settings, err := settle(uri, options)
	if err != nil {
		return nil, err
	}
	if settings.uri.Object == "" && settings.uri.ID == nil {
		return nil, errors.New("pkcs11 uri: no key is named: write object=LABEL or id=%01 for the P-256 key of app proofs")
	}
	pool, err := openPool(ctx, settings, options)
	if err != nil {
		return nil, err
	}
	p := &ProofSigner{uri: settings.uri, pool: pool, closeTimeout: settings.closeTimeout}
	if err := p.open(ctx); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// open finds the key. Public objects can be planted without a PIN, so the private key has to
// sign for the one that is taken.
func (p *ProofSigner) open(ctx context.Context) error {
	var claimed []*ecdsa.PublicKey
	err := p.pool.do(ctx, func(lent session, again bool) error {
		object, err := p.lookUp(lent, again)
		if err == nil {
			claimed, err = p.claims(lent.handle, object)
		}
		return err
	})
	if err != nil {
		return explain("looking for the key of app proofs", err)
	}
	digest := sha256.Sum256([]byte(proofMessage))
	signature, err := p.sign(ctx, digest[:])
	if err != nil {
		return explain("proving the key of app proofs", err)
	}
	for _, public := range claimed {
		if ecdsa.VerifyASN1(public, digest[:], signature) {
			p.public = public
			return nil
		}
	}
	return errProofCheck
}

var errProofCheck = fmt.Errorf("%w: ecdsa on P-256: the token is faulty, or the key of app proofs has changed: "+
	"restart if that is intended", keystore.ErrSignatureCheck)

// lookUp returns the handle of the private object that the URI names.
func (p *ProofSigner) lookUp(lent session, again bool) (pkcs11.ObjectHandle, error) {
	named := []*pkcs11.Attribute{
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PRIVATE_KEY), pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true),
	}
	if p.uri.Object != "" {
		named = append(named, pkcs11.NewAttribute(pkcs11.CKA_LABEL, p.uri.Object))
	}
	if p.uri.ID != nil {
		named = append(named, pkcs11.NewAttribute(pkcs11.CKA_ID, p.uri.ID))
	}
	handle, matching, err := p.pool.connection.object(lent, again, &p.handle, named...)
	switch {
	case err == nil && matching == 0:
		err = fmt.Errorf("the token has no key pair with object=%q, id=%x: generate one on P-256", p.uri.Object,
			p.uri.ID)
	case err == nil && matching > 1:
		err = fmt.Errorf("the token has %d key pairs with object=%q, id=%x: name one by both", matching, p.uri.Object,
			p.uri.ID)
	}
	return handle, err
}

// claims returns the public keys on P-256 of the public objects with the CKA_ID of the private one.
func (p *ProofSigner) claims(in pkcs11.SessionHandle, private pkcs11.ObjectHandle) (claimed []*ecdsa.PublicKey, err error) {
	module := p.pool.connection.module.Ctx
	id, err := attributes(module, in, private, pkcs11.CKA_ID)
	if err != nil {
		return nil, err
	}
	byID, err := publicObjects(module, in, p256.keyType, []*pkcs11.Attribute{pkcs11.NewAttribute(pkcs11.CKA_ID, id[0])})
	if err != nil {
		return nil, err
	}
	objects := byID[string(id[0])]
	for _, object := range objects {
		if !bytes.Equal(object.params, p256OID) {
			continue
		}
		point := bytes.TrimPrefix(object.point, []byte{0x04, 65}) // an OCTET STRING, or the point itself
		if public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point); err == nil {
			claimed = append(claimed, public)
		}
	}
	switch {
	case len(objects) == 0:
		return nil,
			fmt.Errorf("the token has no public object with the CKA_ID %x of its private one: create it, or "+
				"generate another key on P-256", id[0])
	case len(claimed) == 0:
		return nil, errors.New("the key of app proofs is not on P-256")
	}
	return claimed, nil
}

// Public returns the *ecdsa.PublicKey.
func (p *ProofSigner) Public() crypto.PublicKey { return p.public }

// Sign signs a SHA-256 digest in ASN.1 DER, like ecdsa.PrivateKey. The signature is verified
// before it is returned. If the session, the login or the token is gone, Sign tries once
// more, after another login if necessary.
func (p *ProofSigner) Sign(_ io.Reader, digest []byte, options crypto.SignerOpts) ([]byte, error) {
	if len(digest) != sha256.Size || options != nil && options.HashFunc() != crypto.SHA256 {
		return nil, fmt.Errorf("pkcs11: app proofs sign SHA-256 digests of 32 bytes, not %d bytes", len(digest))
	}
	signature, err := p.sign(context.Background(), digest)
	if err == nil && !ecdsa.VerifyASN1(p.public, digest, signature) {
		p.handle.Store(0) // it may be another object's now
		err = errProofCheck
	}
	if err != nil {
		return nil, explain("signing an app proof", err)
	}
	return signature, nil
}

// sign returns the token's signature in DER, not verified.
func (p *ProofSigner) sign(ctx context.Context, digest []byte) ([]byte, error) {
	digest = bytes.Clone(digest) // the operation may outlive this call
	var raw []byte
	err := p.pool.do(ctx, func(lent session, again bool) error {
		object, err := p.lookUp(lent, again)
		if err != nil {
			return err
		}
		raw, err = p.pool.connection.sign(lent.handle, object, p256, digest)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(raw) != 64:
		return nil, fmt.Errorf("%w: ecdsa on P-256: %d bytes, want r and s of 32 each", keystore.ErrSignatureCheck, len(raw))
	}
	return asn1.Marshal(struct{ R, S *big.Int }{new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])})
}

// Close waits for signatures in progress, like Store.Close. Closing again does nothing.
func (p *ProofSigner) Close() error { return p.pool.close(p.closeTimeout) }
