package chains

import (
	"context"

	"github.com/countersign-dev/countersign/keystore"
)

// Adapt lets a chain of the old contract walk the new one. It goes when the last
// chain is ported.
func Adapt(chain Chain) NewChain { return adapted{chain} }

type adapted struct{ Chain }

func (a adapted) Parse(raw []byte) (NewTransaction, error) {
	tx, err := a.Chain.Parse(raw)
	if err != nil {
		return nil, err
	}
	return &adaptedTransaction{tx}, nil
}

func (a adapted) Owner([]byte) (keystore.Locator, bool) { return keystore.Locator{}, false }

type adaptedTransaction struct{ tx Transaction }

func (a *adaptedTransaction) Summary() Summary  { return a.tx.Summary() }
func (a *adaptedTransaction) Effects() []Effect { return nil }
func (a *adaptedTransaction) Hazards() []Hazard { return a.tx.Hazards(keystore.PublicKey{}) }

func (a *adaptedTransaction) Request(signWith string) (Request, error) {
	if networked, ok := a.tx.(Networked); ok {
		a.tx = networked.ShownFor(signWith)
	}
	if spelled, ok := a.tx.(Spelled); ok {
		if err := spelled.CheckSpelling(signWith); err != nil {
			return nil, err
		}
	}
	at, err := a.tx.Signers(signWith)
	if err != nil {
		return nil, err
	}
	return &adaptedRequest{a.tx, signWith, at}, nil
}

type adaptedRequest struct {
	tx       Transaction
	signWith string
	at       []keystore.Locator
}

func (a *adaptedRequest) Locators() []keystore.Locator { return a.at }

func (a *adaptedRequest) With(keys ...keystore.Key) (Signing, error) {
	if err := a.tx.Check(keys[0], a.signWith); err != nil {
		return nil, err
	}
	return &adaptedSigning{a.tx, keys[0], a.signWith}, nil
}

type adaptedSigning struct {
	tx       Transaction
	key      keystore.Key
	signWith string
}

func (a *adaptedSigning) KeyIDs() []string    { return []string{a.key.ID()} }
func (a *adaptedSigning) SignerView() []Field { return a.tx.SignerView(a.key.PublicKey()) }
func (a *adaptedSigning) Effects() []Effect   { return nil }
func (a *adaptedSigning) Hazards() []Hazard   { return a.tx.Hazards(a.key.PublicKey()) }

func (a *adaptedSigning) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	return a.tx.AppendSigned(ctx, dst, a.key, a.signWith)
}
