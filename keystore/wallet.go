package keystore

import "context"

// Wallet is a group of keys derived from one mnemonic or one extended private key.
type Wallet struct {
	ID       string
	Name     string    // free text, may be empty
	Accounts []Account // in the order of derivation
}

// Account is a key of a wallet.
type Account struct {
	KeyInfo
	Path string // BIP-32 derivation path, such as m/84'/0'/0'/0/0
}

// WalletFinder is implemented by keystores that hold wallets.
type WalletFinder interface {
	// FindWallet returns the organization's wallet with an id, or else the only one with
	// that name. It returns ErrKeyNotFound if there is none, or if several have the name.
	FindWallet(ctx context.Context, organizationID, idOrName string) (Wallet, error)

	// WalletOf returns the wallet that a key is an account of, ErrKeyNotFound if there is
	// none.
	WalletOf(ctx context.Context, organizationID, keyID string) (Wallet, error)
}

// Account returns the account with a key id.
func (w *Wallet) Account(keyID string) (Account, bool) {
	for _, account := range w.Accounts {
		if account.ID == keyID {
			return account, true
		}
	}
	return Account{}, false
}
