// Package signer picks the key that signs where exactly one does.
package signer

import (
	"fmt"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// Only returns the one key that can sign, and what able makes of it; able returns an
// error for a key that cannot. Several, such as the accounts of a wallet, are a
// *chains.SignerError: such a transaction or message has one signer. If there is none,
// the error is that of the first key.
func Only[S any](chain string, keys []keystore.Key, able func(keystore.Key) (S, error)) (only S, key keystore.Key, err error) {
	found := 0
	for i, candidate := range keys {
		made, problem := able(candidate)
		switch {
		case problem == nil:
			only, key = made, candidate
			found++
		case i == 0:
			err = problem
		}
	}
	var none S
	switch found {
	case 0:
		return none, nil, err
	case 1:
		return only, key, nil
	}
	return none, nil, &chains.SignerError{Kind: chains.ErrSignWith, Chain: chain,
		Problem: fmt.Sprintf("%d of the wallet's keys could sign: name one by its address or id", found)}
}
