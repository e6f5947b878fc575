package file

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// NewWallet describes a wallet to be added. The caller owns the slices and wipes them.
type NewWallet struct {
	Name        string
	Mnemonic    keystore.SecretBytes // BIP-39, in English
	Passphrase  keystore.SecretBytes // BIP-39; may be empty; at most 1024 bytes, no line breaks
	ExtendedKey keystore.SecretBytes // instead of a mnemonic, in the form of wallet.ParseExtendedKey
	Accounts    []wallet.Account     // without duplicates; nil means UsualAccounts of the root
}

// AddWallet adds a wallet to an organization. When it returns without error, the wallet is
// safe on disk: one file, whose only secret is the mnemonic or the extended private key.
// If the organization has one of its accounts already, AddWallet returns
// keystore.ErrKeyExists, together with the existing wallet if that has the same secret.
func (s *Store) AddWallet(ctx context.Context, organizationID string, n NewWallet) (Wallet, error) {
	w, err := openNewWallet(n)
	defer w.destroy()
	if err != nil {
		return Wallet{}, fmt.Errorf("add wallet: %w", err)
	}
	var existing Wallet
	err = s.asWriter(ctx, func() error {
		for _, account := range w.Accounts {
			info, err := s.existing(organizationID, account.KeyInfo)
			if err != nil {
				existing = s.sameWallet(organizationID, info.ID, w)
				return fmt.Errorf("account %v: %w", account.Path, err)
			}
		}
		return s.writeWallet(organizationID, w)
	})
	if err != nil {
		return existing, s.errorf("add wallet", err)
	}
	return w.Wallet, nil
}

// openNewWallet derives the accounts of a new wallet. The caller destroys it, even after an error.
func openNewWallet(n NewWallet) (w *openWallet, err error) {
	w = &openWallet{Wallet: Wallet{ID: newID(), Name: n.Name, CreatedAt: time.Now().UTC().Truncate(time.Second)}}
	if w.secret, err = n.canonicalSecret(); err != nil {
		return w, err
	}
	w.passphrase = bytes.Clone(n.Passphrase)
	root, err := w.root()
	if err != nil {
		return w, err
	}
	defer root.Wipe()
	accounts := n.Accounts
	if accounts == nil {
		accounts = root.UsualAccounts()
	}
	for _, account := range accounts {
		w.Accounts = append(w.Accounts, newAccount(w.Name, account.Curve, account.Path))
	}
	return w, w.derive(root)
}

// newID returns an id that grows with time (UUID version 7).
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// canonicalSecret returns the secret of a new wallet in the form that its file has.
func (n *NewWallet) canonicalSecret() ([]byte, error) {
	if len(n.ExtendedKey) > 0 {
		if len(n.Mnemonic) > 0 || len(n.Passphrase) > 0 {
			return nil, errors.New("an extended private key takes no mnemonic and no passphrase")
		}
		root, err := wallet.ParseExtendedKey(n.ExtendedKey)
		if err != nil {
			return nil, err
		}
		defer root.Wipe()
		return root.ExtendedKey(root.Path())
	}
	if len(n.Passphrase) > maxWalletPassphrase || bytes.ContainsAny(n.Passphrase, "\r\n\x00") {
		return nil, fmt.Errorf("the passphrase of the mnemonic has more than %d bytes, a line break or a zero byte", maxWalletPassphrase)
	}
	entropy, err := wallet.Entropy(n.Mnemonic)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(entropy)
	return wallet.Mnemonic(entropy)
}

// Derive adds an account to a wallet. When it returns without error, the wallet with the
// account is safe on disk. If the organization has the key already, Derive returns
// keystore.ErrKeyExists together with the existing key.
func (s *Store) Derive(ctx context.Context, organizationID, walletID string, account wallet.Account) (Account, error) {
	var derived Account
	err := s.asWriter(ctx, func() error {
		w, err := s.readWallet(organizationID, walletID)
		if err != nil {
			return err
		}
		defer w.destroy()
		showProgress(s.root)
		derived, err = s.deriveInto(organizationID, w, account)
		return err
	})
	return derived, s.errorf("derive", err)
}

func (c *contents) deriveInto(organizationID string, w *openWallet, account wallet.Account) (Account, error) {
	if len(w.Accounts) == MaxAccounts {
		return Account{}, w.errFull()
	}
	w.Accounts = append(w.Accounts, newAccount(w.Name, account.Curve, account.Path))
	if err := w.deriveAll(); err != nil {
		return Account{}, err
	}
	showProgress(c.root)
	derived := w.Accounts[len(w.Accounts)-1]
	if existing, err := c.existing(organizationID, derived.KeyInfo); err != nil {
		return Account{KeyInfo: existing, Curve: existing.PublicKey.Curve()}, err
	}
	return derived, c.writeWallet(organizationID, w)
}

func (w *openWallet) errFull() error {
	return fmt.Errorf("wallet %s is full: it has %d accounts", w.ID, MaxAccounts)
}

// writeWallet writes a wallet to disk and then inserts its new accounts. The caller destroys the
// wallet, and holds s.mu and the lock.
func (c *contents) writeWallet(organizationID string, w *openWallet) error {
	if err := c.judge(organizationID, w.Accounts); err != nil {
		return err
	}
	sealed, err := c.sealer.sealWallet(organizationID, w)
	if err != nil {
		return err
	}
	showProgress(c.root)
	name := w.ID + keySuffix
	if err := replaceFile(c.keysRoot, name, sealed); err != nil {
		return err
	}
	file := loaded{name: name, content: content{organizationID: organizationID, id: w.ID, wallet: w}}
	if info, err := c.keysRoot.Lstat(name); err == nil {
		file.version = versionOf(info)
	}
	return c.insert(file)
}

// readWallet rereads the file of a wallet. The caller destroys the wallet and holds s.mu.
func (c *contents) readWallet(organizationID, walletID string) (*openWallet, error) {
	wallet := c.wallets[strings.ToLower(walletID)]
	if wallet == nil || wallet.organizationID != organizationID {
		return nil, noWallet(walletID)
	}
	file, err := c.readFor(organizationID, wallet.ID)
	if err != nil {
		return nil, err
	}
	if file.wallet == nil {
		file.destroy()
		return nil, c.fileError(errReplaced, keysName, file.name)
	}
	return file.wallet, nil
}

func noWallet(idOrName string) error {
	return fmt.Errorf("%w: no wallet %q", keystore.ErrKeyNotFound, idOrName)
}

// ErrNoMnemonic says that the wallet was imported as an extended private key.
var ErrNoMnemonic = errors.New("the wallet was imported as an extended private key and has no mnemonic")

// RevealMnemonic calls use with the mnemonic of a wallet and its passphrase, which may be empty.
// use must not keep them. If the wallet has no mnemonic, RevealMnemonic returns ErrNoMnemonic.
func (s *Store) RevealMnemonic(ctx context.Context, organizationID, walletID string, use func(mnemonic, passphrase []byte) error) error {
	return s.revealWallet(ctx, organizationID, walletID, func(w *openWallet) error {
		if !w.hasMnemonic() {
			return fmt.Errorf("%w: %s", ErrNoMnemonic, w.ID)
		}
		return use(w.secret, w.passphrase)
	})
}

// RevealRoot calls use with the root that the keys of a wallet are derived from, to export
// extended private or public keys. The root is wiped when use returns.
func (s *Store) RevealRoot(ctx context.Context, organizationID, walletID string, use func(*wallet.Root) error) error {
	return s.revealWallet(ctx, organizationID, walletID, func(w *openWallet) error {
		root, err := w.root()
		if err != nil {
			return err
		}
		defer root.Wipe()
		return use(root)
	})
}

func (s *Store) revealWallet(ctx context.Context, organizationID, walletID string, use func(*openWallet) error) error {
	return s.asReader(ctx, func() error {
		w, err := s.readWallet(organizationID, walletID)
		if err != nil {
			return err
		}
		defer w.destroy()
		return use(w)
	})
}

// sameWallet returns the wallet that a key is an account of if it has the secret of w, and the zero
// Wallet otherwise: wallets with different secrets can share an account, one below a mnemonic and
// the other below an extended private key that comes from it. The caller holds s.mu.
func (c *contents) sameWallet(organizationID, keyID string, w *openWallet) Wallet {
	existing, err := c.readWallet(organizationID, c.accounts[keyID])
	if err != nil {
		return Wallet{}
	}
	defer existing.destroy()
	if subtle.ConstantTimeCompare(existing.secret, w.secret)&subtle.ConstantTimeCompare(existing.passphrase, w.passphrase) == 0 {
		return Wallet{}
	}
	return existing.Wallet
}

// hasMnemonic reports whether the secret is a mnemonic, whose words are separated by spaces.
func (w *openWallet) hasMnemonic() bool { return bytes.IndexByte(w.secret, ' ') >= 0 }

// root returns the root that the keys are derived from. The caller wipes it.
func (w *openWallet) root() (*wallet.Root, error) {
	if w.hasMnemonic() {
		return wallet.FromMnemonic(w.secret, w.passphrase)
	}
	return wallet.ParseExtendedKey(w.secret)
}
