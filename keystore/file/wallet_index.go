package file

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/keystore"
)

var _ keystore.WalletFinder = (*Store)(nil)

// Wallets returns the wallets of an organization, oldest first.
func (s *Store) Wallets(ctx context.Context, organizationID string) ([]Wallet, error) {
	var wallets []Wallet
	err := s.asReader(ctx, func() error {
		for _, wallet := range s.wallets {
			if wallet.organizationID == organizationID {
				wallets = append(wallets, wallet.clone())
			}
		}
		return nil
	})
	slices.SortFunc(wallets, func(a, b Wallet) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return wallets, err
}

// FindWallet implements keystore.WalletFinder. It first takes in the files that other
// processes have added.
func (s *Store) FindWallet(ctx context.Context, organizationID, idOrName string) (view keystore.Wallet, err error) {
	err = s.asReader(ctx, func() error {
		wallet, err := s.findWallet(organizationID, idOrName)
		if err == nil {
			view = wallet.enabled()
		}
		return err
	})
	return view, err
}

func (c *contents) findWallet(organizationID, idOrName string) (*knownWallet, error) {
	if wallet := c.wallets[strings.ToLower(idOrName)]; wallet != nil && wallet.organizationID == organizationID {
		return wallet, nil
	}
	var named *knownWallet
	for _, wallet := range c.wallets {
		if wallet.organizationID != organizationID || wallet.Name != idOrName || idOrName == "" {
			continue
		}
		if named != nil {
			return nil, fmt.Errorf("%w: several wallets are named %q: use the wallet's id", keystore.ErrKeyNotFound, idOrName)
		}
		named = wallet
	}
	if named == nil {
		return nil, noWallet(idOrName)
	}
	return named, nil
}

// WalletOf implements keystore.WalletFinder. It considers only the files read so far.
func (s *Store) WalletOf(ctx context.Context, organizationID, keyID string) (view keystore.Wallet, err error) {
	if err := s.followChanges(ctx); err != nil {
		return view, err
	}
	err = s.locked(func() error {
		wallet := s.wallets[s.accounts[keyID]]
		if wallet == nil || wallet.organizationID != organizationID {
			return fmt.Errorf("%w: key %q belongs to no wallet", keystore.ErrKeyNotFound, keyID)
		}
		view = wallet.enabled()
		return nil
	})
	return view, err
}

// enabled returns the wallet without its disabled accounts.
func (w *knownWallet) enabled() keystore.Wallet {
	wallet := keystore.Wallet{ID: w.ID, Name: w.Name, Accounts: make([]keystore.Account, 0, len(w.Accounts))}
	for _, account := range w.Accounts {
		if !account.Disabled {
			wallet.Accounts = append(wallet.Accounts, keystore.Account{KeyInfo: account.KeyInfo, Path: account.Path.String()})
		}
	}
	return wallet
}
