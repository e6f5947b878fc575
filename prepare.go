package countersign

import (
	"context"
	"errors"
	"sync"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Members of a sign_transaction request, as errors name them.
const (
	fieldSignWith    = "signWith"
	fieldTransaction = "unsignedTransaction"
	fieldType        = "type"
)

// PreparedTransaction is a transaction that was read, whose key was found, and
// that the engine is ready to sign: what can be refused without doing anything
// has been. It is for showing a transaction to somebody before it is signed;
// what is signed then is the bytes that were shown. It is used by one goroutine
// at a time.
type PreparedTransaction struct {
	tx       chains.Transaction
	key      keystore.Key
	signWith string
	hazards  []chains.Hazard
}

// PrepareTransaction does all of SignTransaction but the signing.
func (e *Engine) PrepareTransaction(ctx context.Context, organizationID string, intent activity.SignTransactionIntent) (*PreparedTransaction, error) {
	prepared, err := e.prepare(ctx, organizationID, intent)
	if err != nil {
		return nil, err
	}
	return &prepared, nil
}

// Summary tells what the transaction does, from its bytes alone.
func (p *PreparedTransaction) Summary() chains.Summary { return p.tx.Summary() }

// SignerView tells what depends on who signs, for a person to see beside the
// summary.
func (p *PreparedTransaction) SignerView() []chains.Field { return p.tx.SignerView(p.key.PublicKey()) }

// Hazards returns the hazards of the transaction; they are all allowed.
func (p *PreparedTransaction) Hazards() []chains.Hazard { return p.hazards }

// KeyID returns the id of the key that will sign.
func (p *PreparedTransaction) KeyID() string { return p.key.ID() }

// Sign signs the transaction.
func (p *PreparedTransaction) Sign(ctx context.Context) (activity.SignTransactionResult, error) {
	room := signedRoom.Get().(*[]byte)
	defer signedRoom.Put(room)
	signed, err := p.tx.AppendSigned(ctx, (*room)[:0], p.key, p.signWith)
	if err != nil {
		return activity.SignTransactionResult{}, refuseTransaction(err)
	}
	if cap(signed) <= maxSignedRoom {
		*room = signed
	}
	return activity.SignTransactionResult{SignedTransaction: encodeHex(signed)}, nil
}

// signedRoom are buffers in which signed transactions are put together before
// they leave as hex: memory that was used a moment ago is in the caches still.
var signedRoom = sync.Pool{New: func() any { return new([]byte) }}

// maxSignedRoom is the largest buffer that is kept.
const maxSignedRoom = 16 << 10

// prepare reads the transaction, finds the key and refuses what is not to be
// signed.
func (e *Engine) prepare(ctx context.Context, organizationID string, intent activity.SignTransactionIntent) (prepared PreparedTransaction, err error) {
	tx, err := e.chains.parse(intent.Type, intent.UnsignedTransaction)
	if err != nil {
		return prepared, err
	}
	if networked, ok := tx.(chains.Networked); ok {
		tx = networked.ShownFor(intent.SignWith)
	}
	key, err := e.findSigner(ctx, organizationID, tx, intent.SignWith)
	if err != nil {
		return prepared, err
	}
	if err := tx.Check(key, intent.SignWith); err != nil {
		return prepared, refuseTransaction(err)
	}
	hazards := tx.Hazards(key.PublicKey())
	if len(hazards) > 0 {
		if err := e.refuseHazards(ctx, organizationID, hazards); err != nil {
			return prepared, err
		}
	}
	return PreparedTransaction{tx: tx, key: key, signWith: intent.SignWith, hazards: hazards}, nil
}

// parse reads a transaction of a type from hex.
func (t chainTable) parse(kind activity.TransactionType, unsigned string) (chains.Transaction, error) {
	chain, err := t.of(kind)
	if err != nil {
		return nil, err
	}
	raw, err := chains.DecodeHex(unsigned)
	if err != nil {
		return nil, activity.NewError(activity.ReasonInvalidTransaction, fieldTransaction, err,
			"%s: %v; %s expects %s", fieldTransaction, err, chain.Name(), chain.Expects())
	}
	tx, err := chain.Parse(raw)
	if err != nil {
		return nil, refuseTransaction(err)
	}
	return tx, nil
}

// findSigner finds the key that signWith means in the organization.
func (e *Engine) findSigner(ctx context.Context, organizationID string, tx chains.Transaction, signWith string) (keystore.Key, error) {
	if signWith == "" {
		return nil, activity.NewError(activity.ReasonRequestInvalid, fieldSignWith, nil,
			"signWith is empty: an address of the key or its id is expected")
	}
	locators, err := tx.Signers(signWith)
	if err != nil {
		return nil, refuseTransaction(err)
	}
	for _, at := range locators {
		key, err := e.keys.Find(ctx, organizationID, at)
		switch {
		case err == nil && e.unverified:
			return key, nil
		case err == nil:
			return keystore.Verified(key), nil
		case !errors.Is(err, keystore.ErrKeyNotFound):
			return nil, refuseKey(err)
		}
	}
	if spelled, ok := tx.(chains.Spelled); ok {
		if err := spelled.CheckSpelling(signWith); err != nil {
			return nil, refuseTransaction(err)
		}
	}
	return nil, activity.NewError(activity.ReasonNotFound, fieldSignWith, keystore.ErrKeyNotFound,
		"could not find any resource to sign with: organization %q has no key %q: use an address that one of its keys has on this chain, or a key's id", shorten(organizationID), shorten(signWith))
}

// maxQuoted is how many bytes of a caller's text an error repeats.
const maxQuoted = 100

// shorten cuts a caller's text for an error: a request may be megabytes long,
// and its error need not be.
func shorten(text string) string {
	if len(text) <= maxQuoted {
		return text
	}
	return text[:maxQuoted] + "…"
}
