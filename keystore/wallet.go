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

	// WalletOf returns the wallet that a key is an account of, ErrKeyNotFound if there is none.
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

// RegisteredWallet is a Bitcoin wallet whose outputs are scripts of several keys, some of them
// of others (BIP-388), and that a person of the organization has registered as the
// organization's own. Package walletpolicy implements it.
type RegisteredWallet interface {
	// Name is the name that people gave it, unique within the organization.
	Name() string

	// Digest identifies the registration: it commits to the wallet's name, its scripts and all its
	// keys as they are written.
	Digest() [32]byte

	// Identity identifies the wallet by its scripts alone, whatever its name, the origins of its
	// keys and their order: limits count by it.
	Identity() [32]byte

	// Place returns which address of the wallet a key belongs to, by the key's origin: the
	// fingerprint of its master key, and the path from it. ok is false if it belongs to none.
	// An origin is a claim: only Script proves what belongs to the wallet.
	Place(fingerprint [4]byte, path []uint32) (change bool, index uint32, ok bool)

	// Holds returns which address of the wallet a key belongs to, by the hash160 of its compressed
	// form and the last two steps of its path: it derives the wallet's keys there.
	Holds(hash [20]byte, branch, index uint32) (change, ok bool)

	// Script derives the output script of a receiving or a change address from all keys.
	Script(change bool, index uint32) ([]byte, error)
}

// Registration is a registered wallet with what is recorded about its registration.
type Registration struct {
	RegisteredWallet
	Leaf string // id of the leaf in the organization's log; empty without a log
}

// WalletRegistry is implemented by keystores that know registered wallets.
type WalletRegistry interface {
	// Registered returns the organization's registered wallets, sorted by name. The caller
	// must not change the list.
	Registered(ctx context.Context, organizationID string) ([]Registration, error)
}
