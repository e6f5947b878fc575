package file

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

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
