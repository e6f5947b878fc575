// Package wallettest makes some keys of a keystore a wallet, for tests.
package wallettest

import (
	"context"
	"slices"
	"testing"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/enginetest"
	"github.com/countersign-dev/countersign/keystore"
)

// ID is the id of the wallet.
const ID = "wallet-1"

// walletKeystore is a keystore with one wallet.
type walletKeystore struct {
	keystore.Keystore
	Wallet keystore.Wallet
}

// FindWallet implements keystore.WalletFinder.
func (k *walletKeystore) FindWallet(_ context.Context, organizationID, idOrName string) (keystore.Wallet, error) {
	if organizationID == enginetest.Organization && (idOrName == k.Wallet.ID || idOrName == k.Wallet.Name) {
		return k.Wallet, nil
	}
	return keystore.Wallet{}, keystore.ErrKeyNotFound
}

// WalletOf implements keystore.WalletFinder.
func (k *walletKeystore) WalletOf(_ context.Context, organizationID, keyID string) (keystore.Wallet, error) {
	isKey := func(account keystore.Account) bool { return account.ID == keyID }
	if organizationID == enginetest.Organization && slices.ContainsFunc(k.Wallet.Accounts, isKey) {
		return k.Wallet, nil
	}
	return keystore.Wallet{}, keystore.ErrKeyNotFound
}

// With is a change for enginetest.New: the keys with these ids are accounts of a wallet, with
// these paths.
func With(t testing.TB, paths map[string]string) func(*countersign.Config) {
	t.Helper()
	return func(config *countersign.Config) {
		with := &walletKeystore{Keystore: config.Keystore, Wallet: keystore.Wallet{ID: ID, Name: "hot"}}
		for info, err := range config.Keystore.Keys(t.Context(), enginetest.Organization) {
			if err != nil {
				t.Fatal(err)
			}
			if path, ok := paths[info.ID]; ok {
				with.Wallet.Accounts = append(with.Wallet.Accounts, keystore.Account{KeyInfo: info, Path: path})
			}
		}
		config.Keystore = with
	}
}
