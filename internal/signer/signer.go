// Package signer picks the key that signs where exactly one does.
package signer

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Only returns the one key that can sign, and the result of able for it. able returns
// an error for a key that cannot sign. If several keys can, such as the accounts of a
// wallet, the error is a *chains.SignerError, because the transaction or message has
// one signer. If none can, the error is that of the first key.
func Only[S any](chain string, keys []keystore.Key, able func(keystore.Key) (S, error)) (only S, key keystore.Key, err error) {
	count := 0
	for i, candidate := range keys {
		signer, problem := able(candidate)
		switch {
		case problem == nil:
			only, key = signer, candidate
			count++
		case i == 0:
			err = problem
		}
	}
	var none S
	switch count {
	case 0:
		return none, nil, err
	case 1:
		return only, key, nil
	}
	return none, nil, &chains.SignerError{Kind: chains.ErrSignWith, Chain: chain,
		Problem: fmt.Sprintf("%d of the wallet's keys could sign: name one by its address or id", count)}
}

// Place is the part of a signWith that says where to look for the key. It is embedded.
type Place struct{ locator [1]keystore.Locator }

// At returns the place of one locator.
func At(locator keystore.Locator) Place { return Place{[1]keystore.Locator{locator}} }

// Locators implements chains.Request and chains.MessageKey.
func (p *Place) Locators() []keystore.Locator { return p.locator[:] }

// Account is Only for chains.MessageKey: it returns the key and its account.
func Account[S any](chain string, keys []keystore.Key, able func(keystore.Key) (S, error),
	party func(keystore.PublicKey) chains.Party) (keystore.Key, chains.Party, error) {
	_, key, err := Only(chain, keys, able)
	if err != nil {
		return nil, chains.Party{}, err
	}
	return key, party(key.PublicKey()), nil
}
