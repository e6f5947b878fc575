//go:build cgo

package pkcs11

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/miekg/pkcs11"

	"github.com/countersign-dev/countersign/keystore"
)

// key is a private key on the token.
type key struct {
	store              *Store
	organization, name string
	label, ckaID       string // CKA_LABEL and CKA_ID on the token
	id                 string
	public             keystore.PublicKey
	locators           []keystore.Locator // all of them
	handle             atomic.Uint64      // of the private object; valid as long as the login
	proved             atomic.Bool        // public belongs to the private object
}

func (k *key) ID() string { return k.id }

func (k *key) PublicKey() keystore.PublicKey { return k.public }

// Sign implements held.Key. A key whose signature does not verify has to prove its public key again,
// because the private object may have been replaced.
func (k *key) Sign(ctx context.Context, message []byte, finish func(raw []byte) error) error {
	raw, err := k.sign(ctx, message)
	if err != nil {
		return err
	}
	err = finish(raw)
	if errors.Is(err, keystore.ErrSignatureCheck) {
		k.proved.Store(false)
	}
	return k.named(err)
}

func (k *key) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("key %s: %w", k.id, err)
}

// sign returns the token's raw signature of a message, which the operation may read after the call.
func (k *key) sign(ctx context.Context, message []byte) ([]byte, error) {
	var signature []byte
	err := k.store.pool.do(ctx, func(lent session, again bool) error {
		handle, err := k.handleIn(lent, again)
		if err != nil {
			return err
		}
		signature, err = k.store.connection.sign(lent.handle, handle, schemes[k.public.Curve()], message)
		return err
	})
	switch {
	case isFinal(err):
		return nil, err
	case err != nil:
		return nil, k.named(explain("signing", err))
	}
	return signature, nil
}

func (c *connection) sign(in pkcs11.SessionHandle, with pkcs11.ObjectHandle, scheme scheme, message []byte) ([]byte, error) {
	mechanism := []*pkcs11.Mechanism{pkcs11.NewMechanism(scheme.sign, nil)}
	if err := c.module.SignInit(in, mechanism, with); err != nil {
		return nil, err
	}
	return c.module.Sign(in, message)
}

// handleIn returns the handle of the private object.
func (k *key) handleIn(lent session, again bool) (pkcs11.ObjectHandle, error) {
	handle, matching, err := k.store.connection.object(lent, again, &k.handle,
		pkcs11.NewAttribute(pkcs11.CKA_CLASS, pkcs11.CKO_PRIVATE_KEY),
		pkcs11.NewAttribute(pkcs11.CKA_KEY_TYPE, schemes[k.public.Curve()].keyType),
		pkcs11.NewAttribute(pkcs11.CKA_TOKEN, true),
		pkcs11.NewAttribute(pkcs11.CKA_ID, []byte(k.ckaID)),
		pkcs11.NewAttribute(pkcs11.CKA_LABEL, k.label))
	switch {
	case err == nil && matching == 0: // another process destroyed or renamed it
		k.store.forget(k)
		err = fmt.Errorf("%w: no private key on the token has its CKA_ID and CKA_LABEL", keystore.ErrWithdrawn)
	case err == nil && matching > 1:
		err = fmt.Errorf("%d private keys on the token have its CKA_ID and CKA_LABEL, want 1", matching)
	}
	return handle, err
}

// object returns the kept handle of a private object. After a failure, it searches the token and
// keeps the handle, because a new login gives new ones. matching is the number of objects found: 0
// is none, and not that the token is away or the login has ended, which hides private objects.
func (c *connection) object(lent session, again bool, kept *atomic.Uint64,
	template ...*pkcs11.Attribute) (handle pkcs11.ObjectHandle, matching int, err error) {
	if handle := kept.Load(); handle != 0 && !again {
		return pkcs11.ObjectHandle(handle), 1, nil
	}
	logins := c.module.logins.Load()
	objects, err := find(c.module.Ctx, lent.handle, template...)
	if err == nil && len(objects) == 0 {
		err = c.presentSince(logins, lent.handle)
	}
	if err != nil || len(objects) != 1 {
		return 0, len(objects), err
	}
	kept.Store(uint64(objects[0]))
	return objects[0], 1, nil
}

// proofMessage is the message that a key signs to prove its public key. It is not a
// transaction of any chain.
const proofMessage = "countersign: proof of possession of a key on a PKCS#11 token"

// proofOf returns the proof message for a curve: itself on Ed25519, its SHA-256 digest on
// secp256k1.
func proofOf(curve keystore.Curve) []byte {
	if curve == keystore.CurveEd25519 {
		return []byte(proofMessage)
	}
	digest := sha256.Sum256([]byte(proofMessage))
	return digest[:]
}

// verifyProof verifies the token's raw signature of proofOf.
func verifyProof(public keystore.PublicKey, raw []byte) (err error) {
	proof := proofOf(public.Curve())
	if public.Curve() == keystore.CurveEd25519 {
		_, err = keystore.FinishEd25519(public, proof, raw)
	} else {
		_, err = keystore.FinishECDSA(public, [32]byte(proof), raw)
	}
	return err
}

// prove has the key sign once to prove its public key. Public objects can be planted without
// a PIN, and money would go to their addresses.
func (k *key) prove(ctx context.Context) error {
	if k.proved.Load() {
		return nil
	}
	raw, err := k.sign(ctx, proofOf(k.public.Curve()))
	if err != nil {
		return err
	}
	if err := verifyProof(k.public, raw); err != nil {
		return fmt.Errorf("the public key from the token or the configuration does not belong to the private key: %w", k.named(err))
	}
	k.proved.Store(true)
	return nil
}

func (k *key) Info() keystore.KeyInfo {
	return keystore.KeyInfo{ID: k.id, Name: k.name, PublicKey: k.public, CreatedAt: createdAt(k.id)}
}

// createdAt returns the time in a UUID of version 7, the form of ids generated by this
// package, because tokens store no time. It is zero for other ids.
func createdAt(id string) time.Time {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.Version() != 7 {
		return time.Time{}
	}
	var milliseconds int64
	for _, b := range parsed[:6] {
		milliseconds = milliseconds<<8 | int64(b)
	}
	return time.UnixMilli(milliseconds).Truncate(time.Second).UTC()
}
