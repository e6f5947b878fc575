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

// knownWallet is a wallet whose file was read, without its secrets.
type knownWallet struct {
	Wallet
	organizationID string
	version        version
}

// insertWallet makes the accounts of a wallet known: all that are not yet, or
// none. s.mu is held.
func (s *Store) insertWallet(file loaded) error {
	w, before := file.wallet, s.wallets[file.id]
	defer func() { file.wallet.destroy() }() // the keys that the index did not take
	if before != nil && before.organizationID != file.organizationID {
		return fmt.Errorf("%w: it was another organization's", ErrNotAuthentic)
	}
	fresh := map[int]bool{}
	for i, account := range w.Accounts {
		existing, found := s.sharing(file.organizationID, account.KeyInfo)
		switch {
		case !found:
			fresh[i] = true
		case existing.ID != account.ID || existing.PublicKey != account.PublicKey:
			return fmt.Errorf("%w: its account %v is the same key as %s%s, or has its id: move one of them away", keystore.ErrKeyExists, account.Path, existing.ID, keySuffix)
		}
	}
	for i, account := range w.Accounts {
		if err := s.insertAccount(file, i, fresh[i]); err != nil {
			return err
		}
		s.accounts[account.ID] = file.id
	}
	s.own(file.id, file.organizationID)
	s.wallets[file.id] = &knownWallet{Wallet: w.clone(), organizationID: file.organizationID, version: file.version}
	return nil
}

// insertAccount makes an account known as its file has it: anew, or, if it is not
// fresh, with what has changed. s.mu is held.
func (s *Store) insertAccount(file loaded, i int, fresh bool) error {
	w, account := file.wallet, file.wallet.Accounts[i]
	if !fresh {
		known, err := s.index.Key(context.Background(), file.organizationID, keystore.ByID(account.ID))
		if err == nil && !account.Disabled && known.Info().ActsFor == account.ActsFor {
			known.Rename(account.Name)
			return nil
		}
		s.index.Remove(file.organizationID, account.ID)
		s.parked.remove(account.ID)
	}
	if account.Disabled {
		s.parked.add(file.organizationID, account.KeyInfo)
		return nil
	}
	if _, err := s.index.Insert(file.organizationID, w.keys[i]); err != nil {
		return err
	}
	w.keys[i] = nil
	return nil
}

// walletChanged reports whether a file that was read is a wallet to which
// another process has added accounts since, or may be one. s.mu is held.
func (s *Store) walletChanged(id string) bool {
	known := s.wallets[id]
	if known == nil {
		return false
	}
	info, err := s.keysRoot.Lstat(id + keySuffix)
	return err != nil || known.version != version{info.Size(), info.ModTime()}
}

// walletOf returns the wallet that a key is an account of. s.mu is held.
func (s *Store) walletOf(keyID string) Wallet {
	if known := s.wallets[s.accounts[keyID]]; known != nil {
		return known.clone()
	}
	return Wallet{}
}

// Wallets returns the wallets of an organization, oldest first.
func (s *Store) Wallets(ctx context.Context, organizationID string) ([]Wallet, error) {
	if err := s.lookAgain(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Wallet
	for _, known := range s.wallets {
		if known.organizationID == organizationID {
			all = append(all, known.clone())
		}
	}
	slices.SortFunc(all, func(a, b Wallet) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return all, nil
}

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
