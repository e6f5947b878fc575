package file

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/keystore"
)

var _ keystore.WalletFinder = (*Store)(nil)

// FindWallet implements keystore.WalletFinder. It looks for files that other
// processes have added.
func (s *Store) FindWallet(ctx context.Context, organizationID, idOrName string) (keystore.Wallet, error) {
	if err := s.lookAgain(ctx); err != nil {
		return keystore.Wallet{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.Wallet{}, keystore.ErrClosed
	}
	if known := s.wallets[strings.ToLower(idOrName)]; known != nil && known.organizationID == organizationID {
		return known.found(), nil
	}
	var named *knownWallet
	for _, known := range s.wallets {
		if known.organizationID != organizationID || known.Name != idOrName || idOrName == "" {
			continue
		}
		if named != nil {
			return keystore.Wallet{}, fmt.Errorf("%w: several wallets are called %q: use the wallet's id", keystore.ErrKeyNotFound, idOrName)
		}
		named = known
	}
	if named == nil {
		return keystore.Wallet{}, fmt.Errorf("%w: no wallet %q", keystore.ErrKeyNotFound, idOrName)
	}
	return named.found(), nil
}

// WalletOf implements keystore.WalletFinder, from the files that were read so far.
func (s *Store) WalletOf(ctx context.Context, organizationID, keyID string) (keystore.Wallet, error) {
	if err := s.followChanges(ctx); err != nil {
		return keystore.Wallet{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.Wallet{}, keystore.ErrClosed
	}
	known := s.wallets[s.accounts[keyID]]
	if known == nil || known.organizationID != organizationID {
		return keystore.Wallet{}, fmt.Errorf("%w: key %q belongs to no wallet", keystore.ErrKeyNotFound, keyID)
	}
	return known.found(), nil
}

// found returns the wallet as keystore has it, without accounts that are disabled.
func (w *knownWallet) found() keystore.Wallet {
	wallet := keystore.Wallet{ID: w.ID, Name: w.Name, Accounts: make([]keystore.Account, 0, len(w.Accounts))}
	for _, account := range w.Accounts {
		if !account.Disabled {
			wallet.Accounts = append(wallet.Accounts, keystore.Account{KeyInfo: account.KeyInfo, Path: account.Path.String()})
		}
	}
	return wallet
}
