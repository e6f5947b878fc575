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

// insertWallet inserts the accounts of a wallet that are not known yet, all or none. The
// caller holds s.mu.
func (c *contents) insertWallet(file loaded) error {
	w, before := file.wallet, c.wallets[file.id]
	defer func() { file.wallet.destroy() }() // the keys that the index did not take
	if before != nil && before.organizationID != file.organizationID {
		return fmt.Errorf("%w: it belonged to another organization before", ErrNotAuthentic)
	}
	isNew := map[int]bool{}
	for i, account := range w.Accounts {
		existing, shares := c.sharing(file.organizationID, account.KeyInfo)
		switch {
		case !shares:
			isNew[i] = true
		case existing.ID != account.ID || existing.PublicKey != account.PublicKey:
			return fmt.Errorf("%w: its account %v is the same key as %s%s, or has its id: move one of them away", keystore.ErrKeyExists, account.Path, existing.ID, keySuffix)
		}
	}
	for i, account := range w.Accounts {
		if err := c.insertAccount(file, i, isNew[i]); err != nil {
			return err
		}
		c.accounts[account.ID] = file.id
	}
	c.setOwner(file.id, file.organizationID)
	c.wallets[file.id] = &knownWallet{Wallet: w.clone(), organizationID: file.organizationID, version: file.version}
	return nil
}

// insertAccount inserts the i-th account of a wallet or, if it is not new, updates what has
// changed. The caller holds s.mu.
func (c *contents) insertAccount(file loaded, i int, isNew bool) error {
	clear(c.names)
	w, account := file.wallet, file.wallet.Accounts[i]
	if !isNew {
		key, err := c.index.Key(context.Background(), file.organizationID, keystore.ByID(account.ID))
		if err == nil && !account.Disabled && key.Info().ActsFor == account.ActsFor {
			key.Rename(account.Name)
			return nil
		}
		c.index.Remove(file.organizationID, account.ID)
		c.parked.remove(account.ID)
	}
	if account.Disabled {
		c.parked.add(file.organizationID, account.KeyInfo)
		return nil
	}
	if _, err := c.index.Insert(file.organizationID, w.keys[i]); err != nil {
		return err
	}
	w.keys[i] = nil
	return nil
}

// walletChanged reports whether a file that was read is a wallet to which another process
// may have added accounts since. The caller holds s.mu.
func (c *contents) walletChanged(id string) bool {
	wallet := c.wallets[id]
	if wallet == nil {
		return false
	}
	info, err := c.keysRoot.Lstat(id + keySuffix)
	return err != nil || wallet.version != versionOf(info)
}

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
func (s *Store) WalletOf(ctx context.Context, organizationID, keyID string) (keystore.Wallet, error) {
	if err := s.followChanges(ctx); err != nil {
		return keystore.Wallet{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.Wallet{}, keystore.ErrClosed
	}
	wallet := s.wallets[s.accounts[keyID]]
	if wallet == nil || wallet.organizationID != organizationID {
		return keystore.Wallet{}, fmt.Errorf("%w: key %q belongs to no wallet", keystore.ErrKeyNotFound, keyID)
	}
	return wallet.enabled(), nil
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
