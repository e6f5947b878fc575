package file

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// Wallet is a mnemonic or an extended private key in the keystore, and the accounts that
// are derived from it. Each account is a key like any other: it is found by its addresses
// and its id, and listed.
type Wallet struct {
	ID        string
	Name      string
	CreatedAt time.Time
	Accounts  []Account // in the order in which they were derived
}

func (w Wallet) clone() Wallet {
	w.Accounts = slices.Clone(w.Accounts)
	return w
}

// Account is a key of a wallet. Its name is the wallet's and its path.
type Account struct {
	keystore.KeyInfo
	Curve    keystore.Curve
	Path     wallet.Path
	Disabled bool // out of use: it is not found
}

// NewWallet is what AddWallet takes. The caller owns the slices and wipes them.
type NewWallet struct {
	Name        string
	Mnemonic    keystore.SecretBytes // BIP-39, in English
	Passphrase  keystore.SecretBytes // BIP-39; may be empty; no line breaks
	ExtendedKey keystore.SecretBytes // instead of a mnemonic: as wallet.ParseExtendedKey reads it
	Accounts    []wallet.Account     // none twice; the root's UsualAccounts if nil
}

func accountName(walletName string, path wallet.Path) string {
	return strings.TrimSpace(walletName + " " + path.String())
}

// AddWallet puts a wallet into an organization. When it returns without error,
// the wallet is safe on disk: one file, whose one secret is the mnemonic or the extended
// private key. If the organization has one of its accounts already, it returns
// keystore.ErrKeyExists, and the wallet that has that account, if its secret is the same.
func (s *Store) AddWallet(ctx context.Context, organizationID string, add NewWallet) (Wallet, error) {
	w, err := newWallet(add)
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
		w.destroy()
		return existing, s.errorf("add wallet", err)
	}
	return w.Wallet, nil
}

// newWallet derives the accounts of a new wallet.
func newWallet(add NewWallet) (_ *openWallet, err error) {
	w := &openWallet{Wallet: Wallet{ID: uuid.Must(uuid.NewV7()).String(), Name: add.Name, CreatedAt: time.Now().UTC().Truncate(time.Second)}}
	defer func() {
		if err != nil {
			w.destroy()
		}
	}()
	if w.secret, err = add.canonical(); err != nil {
		return nil, err
	}
	w.passphrase = bytes.Clone(add.Passphrase)
	root, err := w.root()
	if err != nil {
		return nil, err
	}
	defer root.Wipe()
	accounts := add.Accounts
	if accounts == nil {
		accounts = root.UsualAccounts()
	}
	for _, account := range accounts {
		w.append(account)
	}
	return w, w.derive(root)
}

// canonical returns the secret of a new wallet as its file has it.
func (add *NewWallet) canonical() ([]byte, error) {
	if len(add.ExtendedKey) > 0 {
		if len(add.Mnemonic) > 0 || len(add.Passphrase) > 0 {
			return nil, errors.New("an extended private key goes with no mnemonic and no passphrase")
		}
		root, err := wallet.ParseExtendedKey(add.ExtendedKey)
		if err != nil {
			return nil, err
		}
		defer root.Wipe()
		return root.ExtendedKey(root.Path())
	}
	if len(add.Passphrase) > MaxWalletPassphrase || bytes.ContainsAny(add.Passphrase, "\r\n\x00") {
		return nil, fmt.Errorf("the passphrase of the mnemonic has more than %d bytes, a line break or a zero byte", MaxWalletPassphrase)
	}
	entropy, err := wallet.Entropy(add.Mnemonic)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(entropy)
	return wallet.Mnemonic(entropy)
}

// append adds an account that is yet to be derived.
func (w *openWallet) append(account wallet.Account) {
	w.Accounts = append(w.Accounts, Account{
		KeyInfo: keystore.KeyInfo{
			ID:        uuid.Must(uuid.NewV7()).String(),
			Name:      accountName(w.Name, account.Path),
			CreatedAt: time.Now(),
		},
		Curve: account.Curve,
		Path:  account.Path,
	})
}

// Derive adds an account to a wallet. When it returns without error, it is safe
// on disk that the wallet has it. If the organization has the key already, it
// returns keystore.ErrKeyExists together with what there is.
func (s *Store) Derive(ctx context.Context, organizationID, walletID string, account wallet.Account) (Account, error) {
	var derived Account
	err := s.asWriter(ctx, func() error {
		w, err := s.readWallet(organizationID, walletID)
		if err != nil {
			return err
		}
		showProgress(s.root)
		if derived, err = s.deriveInto(organizationID, w, account); err != nil {
			w.destroy()
		}
		return err
	})
	if err != nil {
		return derived, s.errorf("derive", err)
	}
	return derived, nil
}

func (s *Store) deriveInto(organizationID string, w *openWallet, account wallet.Account) (Account, error) {
	if len(w.Accounts) == MaxAccounts {
		return Account{}, fmt.Errorf("wallet %s has %d accounts, and no more fit", w.ID, MaxAccounts)
	}
	w.append(account)
	if err := w.deriveAll(); err != nil {
		return Account{}, err
	}
	showProgress(s.root)
	derived := w.Accounts[len(w.Accounts)-1]
	if existing, err := s.existing(organizationID, derived.KeyInfo); err != nil {
		return Account{KeyInfo: existing, Curve: existing.PublicKey.Curve()}, err
	}
	return derived, s.writeWallet(organizationID, w)
}

// writeWallet makes a wallet safe on disk, and only then its new accounts
// known. It takes the wallet over if it returns no error. s.mu and the lock are
// held.
func (s *Store) writeWallet(organizationID string, w *openWallet) error {
	sealed, err := s.sealer.sealWallet(organizationID, w)
	if err != nil {
		return err
	}
	showProgress(s.root)
	name := w.ID + keySuffix
	if err := replaceFile(s.keysRoot, name, sealed); err != nil {
		return err
	}
	file := loaded{name: name, content: content{organizationID: organizationID, id: w.ID, wallet: w}}
	if info, err := s.keysRoot.Lstat(name); err == nil {
		file.version = version{info.Size(), info.ModTime()}
	}
	return s.insert(file)
}

// readWallet reads the file of a wallet anew. The caller destroys it. s.mu is
// held.
func (s *Store) readWallet(organizationID, walletID string) (*openWallet, error) {
	known := s.wallets[strings.ToLower(walletID)]
	if known == nil || known.organizationID != organizationID {
		return nil, fmt.Errorf("%w: no wallet %q", keystore.ErrKeyNotFound, walletID)
	}
	name := known.ID + keySuffix
	file := s.read(name)
	switch {
	case file.err != nil:
		return nil, s.fileError(file.err, keysName, name)
	case file.wallet == nil || file.organizationID != organizationID:
		file.destroy()
		return nil, s.fileError(fmt.Errorf("%w: exchanged since the keystore was opened", ErrNotAuthentic), keysName, name)
	}
	return file.wallet, nil
}

// ErrNoMnemonic means that a wallet was imported as an extended private key.
var ErrNoMnemonic = errors.New("the wallet was imported as an extended private key and has no mnemonic")

// RevealMnemonic calls use with the words of a wallet and its passphrase, which
// may be empty: to export it. use must not keep them. Of a wallet that has no words it
// returns ErrNoMnemonic.
func (s *Store) RevealMnemonic(ctx context.Context, organizationID, walletID string, use func(mnemonic, passphrase []byte) error) error {
	return s.revealWallet(ctx, organizationID, walletID, func(w *openWallet) error {
		if !w.hasMnemonic() {
			return fmt.Errorf("%w: %s", ErrNoMnemonic, w.ID)
		}
		return use(w.secret, w.passphrase)
	})
}

// RevealRoot calls use with what the keys of a wallet are derived from: to export an
// extended private key, or to compute extended public keys. It is wiped after that.
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
	if err := s.lookAgain(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return keystore.ErrClosed
	}
	w, err := s.readWallet(organizationID, walletID)
	if err != nil {
		return err
	}
	defer w.destroy()
	return use(w)
}

// sameWallet returns the wallet that a key is an account of, if it has the secret of w. An
// account can be in two wallets otherwise: below a mnemonic, and below an extended private
// key that comes from it. s.mu is held.
func (s *Store) sameWallet(organizationID, keyID string, w *openWallet) Wallet {
	known := s.walletOf(keyID)
	held, err := s.readWallet(organizationID, known.ID)
	if err != nil {
		return Wallet{}
	}
	defer held.destroy()
	if subtle.ConstantTimeCompare(held.secret, w.secret)&subtle.ConstantTimeCompare(held.passphrase, w.passphrase) == 0 {
		return Wallet{}
	}
	return known
}

// hasMnemonic reports whether the secret is words, between which there are spaces.
func (w *openWallet) hasMnemonic() bool { return bytes.IndexByte(w.secret, ' ') >= 0 }

// root returns what the keys are derived from. The caller wipes it.
func (w *openWallet) root() (*wallet.Root, error) {
	if w.hasMnemonic() {
		return wallet.FromMnemonic(w.secret, w.passphrase)
	}
	return wallet.ParseExtendedKey(w.secret)
}
