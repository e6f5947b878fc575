package file

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/keystore"
)

var (
	_ keystore.Renamer   = (*Store)(nil)
	_ keystore.Disabler  = (*Store)(nil)
	_ keystore.Delegator = (*Store)(nil)
)

// ErrAccount means that a key is an account of a wallet, and goes with it.
var ErrAccount = errors.New("the key is an account of a wallet")

// Rename implements keystore.Renamer, of keys and of wallets. An account has the name
// of its wallet and its path: it cannot be renamed by itself.
func (s *Store) Rename(ctx context.Context, organizationID, id, name string) error {
	return s.change(ctx, "rename", organizationID, id, alteration{
		key: func(m *metadata) { m.Name = name },
		wallet: func(w *openWallet) {
			w.Name = name
			for i, account := range w.Accounts {
				w.Accounts[i].Name = accountName(name, account.Path)
			}
		},
	})
}

// Disable implements keystore.Disabler, of keys, of accounts, and of wallets with all
// their accounts.
func (s *Store) Disable(ctx context.Context, organizationID, id string) error {
	return s.change(ctx, "disable", organizationID, id, setDisabled(true))
}

// Enable implements keystore.Disabler, of what Disable takes.
func (s *Store) Enable(ctx context.Context, organizationID, id string) error {
	return s.change(ctx, "enable", organizationID, id, setDisabled(false))
}

func setDisabled(disabled bool) alteration {
	return alteration{
		key:     func(m *metadata) { m.Disabled = disabled },
		account: func(a *Account) { a.Disabled = disabled },
		wallet: func(w *openWallet) {
			for i := range w.Accounts {
				w.Accounts[i].Disabled = disabled
			}
		},
	}
}

// ActFor implements keystore.Delegator, of keys and accounts on secp256k1. The
// account is an address of Tempo, with or without 0x, in any case.
func (s *Store) ActFor(ctx context.Context, organizationID, id, account string) error {
	account = strings.ToLower(strings.TrimPrefix(account, "0x"))
	return s.change(ctx, "set the account of", organizationID, id, alteration{
		key:     func(m *metadata) { m.ActsFor = account },
		account: func(a *Account) { a.ActsFor = account },
	})
}

// Disabled implements keystore.Disabler.
func (s *Store) Disabled(ctx context.Context, organizationID string) ([]keystore.KeyInfo, error) {
	if err := s.lookAgain(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, keystore.ErrClosed
	}
	return s.parked.list(organizationID), nil
}

// alteration is a change to a key, an account or a wallet. A nil function means that there
// is no such change.
type alteration struct {
	key     func(*metadata)
	account func(*Account)
	wallet  func(*openWallet)
}

// change replaces the file of a key or wallet by one that is changed, and tells all
// processes that have the keystore open. When it returns without error, the change is
// safe on disk. After another error it may be made or not, as a whole; making it again
// tells.
func (s *Store) change(ctx context.Context, what, organizationID, id string, by alteration) error {
	id, err := knownID(id)
	if err == nil {
		err = s.asWriter(ctx, func() error { return s.replace(ctx, organizationID, id, by) })
	}
	if err != nil {
		return s.errorf(what+" key", err)
	}
	return nil
}

// replace is change for who has the lock.
func (s *Store) replace(ctx context.Context, organizationID, id string, by alteration) error {
	file, err := s.readFor(organizationID, id)
	if err != nil {
		return err
	}
	defer file.destroy()
	sealed, err := s.edited(file, id, by)
	if err != nil {
		return err
	}
	showProgress(s.root)
	if err := replaceFile(s.keysRoot, file.name, sealed); err != nil {
		return s.fileError(err, keysName, file.name)
	}
	return s.announced(ctx, file.id)
}

// announced tells all processes, this one among them, of files that were changed.
func (s *Store) announced(ctx context.Context, ids ...string) error {
	if err := s.announce(ids...); err != nil {
		return err
	}
	return s.follow(context.WithoutCancel(ctx))
}

// readFor reads the file of a key, or of the wallet that it is an account of, anew.
// The caller destroys it. s.mu is held.
func (s *Store) readFor(organizationID, id string) (loaded, error) {
	notFound := fmt.Errorf("%w: organization %q has no key or wallet %s", keystore.ErrKeyNotFound, organizationID, id)
	stem := id
	if walletID := s.accounts[id]; walletID != "" {
		stem = walletID
	}
	if !s.isOf(organizationID, stem) {
		return loaded{}, notFound
	}
	file := s.read(stem + keySuffix)
	switch {
	case file.err != nil:
		return loaded{}, s.fileError(file.err, keysName, file.name)
	case file.organizationID != organizationID:
		file.destroy()
		return loaded{}, notFound
	}
	return file, nil
}

// edited returns the file with a change made.
func (s *Store) edited(file loaded, id string, by alteration) ([]byte, error) {
	if file.wallet == nil {
		m := newMetadata(file.organizationID, file.key.Info())
		m.Disabled = file.disabled
		by.key(&m)
		if err := m.check(); err != nil {
			return nil, err
		}
		return s.sealer.seal(m, file.key)
	}
	w := file.wallet
	switch {
	case id == file.id && by.wallet != nil:
		by.wallet(w)
	case id == file.id:
		return nil, errors.New("it is a wallet: name one of its accounts")
	case by.account == nil:
		return nil, fmt.Errorf("%w: name the wallet, %s", ErrAccount, file.id)
	}
	for i := range w.Accounts {
		if w.Accounts[i].ID == id {
			by.account(&w.Accounts[i])
		}
	}
	return s.sealer.sealWallet(file.organizationID, w)
}
