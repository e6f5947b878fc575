package file

import (
	"cmp"
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

// ErrAccount says that the key is an account of a wallet and cannot be renamed or deleted by itself.
var ErrAccount = errors.New("the key is an account of a wallet")

// Rename implements keystore.Renamer for keys and wallets. The name of an account consists
// of its wallet's name and its path: it cannot be renamed by itself.
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

// Disable implements keystore.Disabler for keys, accounts, and wallets with all their accounts.
func (s *Store) Disable(ctx context.Context, organizationID, id string) error {
	return s.change(ctx, "disable", organizationID, id, setDisabled(true))
}

// Enable implements keystore.Disabler for everything that Disable accepts.
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

// ActFor implements keystore.Delegator for keys and accounts on secp256k1. The account is
// a Tempo address in hex, with or without 0x, in either case.
func (s *Store) ActFor(ctx context.Context, organizationID, id, account string) error {
	account = strings.ToLower(strings.TrimPrefix(account, "0x"))
	return s.change(ctx, "set the account of", organizationID, id, alteration{
		key:     func(m *metadata) { m.ActsFor = account },
		account: func(a *Account) { a.ActsFor = account },
	})
}

func (s *Store) Disabled(ctx context.Context, organizationID string) ([]keystore.KeyInfo, error) {
	var infos []keystore.KeyInfo
	err := s.asReader(ctx, func() error {
		infos = s.parked.list(organizationID)
		return nil
	})
	return infos, err
}

// alteration is a change to a key, an account or a wallet. A nil function means that the
// change cannot be applied to it.
type alteration struct {
	key     func(*metadata)
	account func(*Account)
	wallet  func(*openWallet)
}

// change replaces the file of a key or wallet by an altered one and announces it to all
// processes that have the keystore open. When it returns without error, the change is safe
// on disk. After an error it may have been made or not, as a whole; making it again tells.
func (s *Store) change(ctx context.Context, operation, organizationID, id string, by alteration) error {
	return s.write(ctx, operation, id, func(id string) error { return s.replace(ctx, organizationID, id, by) })
}

// write is asWriter for an operation on a key or wallet with the given id, which it passes
// on in canonical form.
func (s *Store) write(ctx context.Context, operation, id string, write func(id string) error) error {
	known, err := canonicalID(id)
	if err != nil {
		err = fmt.Errorf("%w: the id %q is not a UUID", keystore.ErrKeyNotFound, id)
	} else {
		err = s.asWriter(ctx, func() error { return write(known) })
	}
	return s.errorf(operation+" key", err)
}

// replace is change for a caller that holds the lock.
func (c *contents) replace(ctx context.Context, organizationID, id string, by alteration) error {
	file, err := c.readFor(organizationID, id)
	if err != nil {
		return err
	}
	defer file.destroy()
	sealed, err := c.altered(file, id, by)
	if err != nil {
		return err
	}
	showProgress(c.root)
	if err := replaceFile(c.keysRoot, file.name, sealed); err != nil {
		return c.fileError(err, keysName, file.name)
	}
	return c.announce(ctx, file.id)
}

// readFor rereads the file of a key, or of the wallet that the key is an account of. The
// caller destroys it and holds s.mu.
func (c *contents) readFor(organizationID, id string) (loaded, error) {
	id = cmp.Or(c.accounts[id], id)
	if !c.isOf(organizationID, id) {
		return loaded{}, notFound(organizationID, id)
	}
	file := c.read(id + keySuffix)
	switch {
	case file.err != nil:
		return loaded{}, c.fileError(file.err, keysName, file.name)
	case file.organizationID != organizationID:
		file.destroy()
		return loaded{}, c.fileError(errReplaced, keysName, file.name)
	}
	return file, nil
}

// errReplaced is the error of a file that verifies but is not the one that was opened.
var errReplaced = fmt.Errorf("%w: replaced since the keystore was opened", ErrNotAuthentic)

func notFound(organizationID, id string) error {
	return fmt.Errorf("%w: organization %q has no key or wallet %s", keystore.ErrKeyNotFound, organizationID, id)
}

func (c *contents) altered(file loaded, id string, by alteration) ([]byte, error) {
	if file.wallet == nil {
		m := newMetadata(file.organizationID, file.key.Info())
		m.Disabled = file.disabled
		by.key(&m)
		if err := m.check(); err != nil {
			return nil, err
		}
		info := file.key.Info()
		info.Name = m.Name
		if err := c.judge(file.organizationID, []Account{{KeyInfo: info, Disabled: m.Disabled}}); err != nil {
			return nil, err
		}
		return c.sealer.seal(m, file.key)
	}
	w := file.wallet
	switch {
	case id == file.id && by.wallet != nil:
		by.wallet(w)
	case id == file.id:
		return nil, errors.New("the id is a wallet's: use the id of one of its accounts")
	case by.account == nil:
		return nil, fmt.Errorf("%w: use the id of the wallet, %s", ErrAccount, file.id)
	}
	for i := range w.Accounts {
		if w.Accounts[i].ID == id {
			by.account(&w.Accounts[i])
		}
	}
	if err := c.judge(file.organizationID, w.Accounts); err != nil {
		return nil, err
	}
	return c.sealer.sealWallet(file.organizationID, w)
}
