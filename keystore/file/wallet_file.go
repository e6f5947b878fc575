package file

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/strictjson"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/internal/software"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// Limits of a wallet.
const (
	MaxAccounts         = 256
	maxWalletPassphrase = 1024 // bytes
)

const maxWalletPayload = wallet.MaxMnemonic + maxWalletPassphrase + len("\n\n")

// walletMetadata describes the wallet in the header of a wallet file. It is one line of JSON in
// exactly this form. The payload is the mnemonic, its words separated by single spaces, and a
// newline, followed by the passphrase and a newline if there is one. Without a mnemonic, the
// payload is an extended private key with its origin (wallet.ParseExtendedKey) and a newline.
type walletMetadata struct {
	OrganizationID string            `json:"organizationId"`
	WalletID       string            `json:"walletId"` // UUID in lower case
	Name           string            `json:"name"`
	CreatedAt      string            `json:"createdAt"` // time.RFC3339, UTC
	Accounts       []accountMetadata `json:"accounts"`
}

// accountMetadata describes one account, whose secret is derived.
type accountMetadata struct {
	PrivateKeyID string         `json:"privateKeyId"` // UUID in lower case
	Path         string         `json:"path"`         // such as m/44'/60'/0'/0/0
	Curve        keystore.Curve `json:"curve"`
	PublicKey    string         `json:"publicKey"` // keystore.PublicKey.Bytes in hex
	CreatedAt    string         `json:"createdAt"`
	ActsFor      string         `json:"actsFor,omitempty"`
	Disabled     bool           `json:"disabled,omitempty"`
}

func newWalletMetadata(organizationID string, w Wallet) walletMetadata {
	m := walletMetadata{
		OrganizationID: organizationID, WalletID: w.ID, Name: w.Name,
		CreatedAt: w.CreatedAt.UTC().Format(time.RFC3339), Accounts: []accountMetadata{},
	}
	for _, account := range w.Accounts {
		m.Accounts = append(m.Accounts, accountMetadata{
			PrivateKeyID: account.ID,
			Path:         account.Path.String(),
			Curve:        account.PublicKey.Curve(),
			PublicKey:    account.PublicKey.String(),
			CreatedAt:    account.CreatedAt.UTC().Format(time.RFC3339),
			ActsFor:      account.ActsFor,
			Disabled:     account.Disabled,
		})
	}
	return m
}

// wallet returns the wallet after checking all of the metadata, on reading and on writing.
func (m walletMetadata) wallet() (w Wallet, err error) {
	shared := metadata{OrganizationID: m.OrganizationID, PrivateKeyID: m.WalletID, Name: m.Name, CreatedAt: m.CreatedAt}
	if err := shared.check(); err != nil {
		return w, err
	}
	w = Wallet{ID: m.WalletID, Name: m.Name}
	if w.CreatedAt, err = time.Parse(time.RFC3339, m.CreatedAt); err != nil {
		return w, fmt.Errorf("createdAt: %w", err)
	}
	if len(m.Accounts) == 0 || len(m.Accounts) > MaxAccounts {
		return w, fmt.Errorf("%d accounts, want 1 to %d", len(m.Accounts), MaxAccounts)
	}
	for i, account := range m.Accounts {
		checked, err := m.account(account)
		if err != nil {
			return w, fmt.Errorf("account %d: %w", i+1, err)
		}
		w.Accounts = append(w.Accounts, checked)
	}
	return w, w.checkAccounts()
}

// checkAccounts refuses duplicate accounts: the index cannot hold both, and a file that
// cannot be loaded must not be written.
func (w Wallet) checkAccounts() error {
	accounts := map[keystore.Locator]int{}
	for i, account := range w.Accounts {
		for _, locator := range locators(account.KeyInfo) {
			if first, duplicate := accounts[locator]; duplicate {
				return fmt.Errorf("account %d, %v, is the same as account %d", i+1, account.Path, first+1)
			}
			accounts[locator] = i
		}
	}
	return nil
}

func (m walletMetadata) account(a accountMetadata) (Account, error) {
	path, err := wallet.ParsePath(a.Path)
	if err != nil {
		return Account{}, err
	}
	if path.String() != a.Path {
		return Account{}, fmt.Errorf("path %s is not in canonical form, %s", a.Path, path)
	}
	as := metadata{
		OrganizationID: m.OrganizationID, PrivateKeyID: a.PrivateKeyID,
		Curve: a.Curve, PublicKey: a.PublicKey, CreatedAt: a.CreatedAt, ActsFor: a.ActsFor,
	}
	info, err := as.keyInfo()
	info.Name = accountName(m.Name, path)
	return Account{KeyInfo: info, Curve: a.Curve, Path: path, Disabled: a.Disabled}, err
}

// openWallet is a wallet with its secrets. Its owner destroys it.
type openWallet struct {
	Wallet
	secret     []byte          // a mnemonic, or an extended private key
	passphrase []byte          // of the mnemonic
	keys       []*software.Key // of Accounts, in the same order; nil if the index has taken it
}

func (w *openWallet) destroy() {
	keystore.Wipe(w.secret)
	keystore.Wipe(w.passphrase)
	for _, key := range w.keys {
		if key != nil {
			key.Destroy()
		}
	}
}

// sealWallet returns the file for a wallet. It reads the file back and checks that it
// holds the keys.
func (s *sealer) sealWallet(organizationID string, w *openWallet) ([]byte, error) {
	m := newWalletMetadata(organizationID, w.Wallet)
	if _, err := m.wallet(); err != nil {
		return nil, err
	}
	encoded, err := strictjson.Marshal(m)
	if err != nil {
		return nil, err
	}
	text := make([]byte, 0, maxWalletPayload) // never grows, which would leave a copy behind
	defer func() { keystore.Wipe(text[:cap(text)]) }()
	text = append(append(text, w.secret...), '\n')
	if len(w.passphrase) > 0 {
		text = append(append(text, w.passphrase...), '\n')
	}
	file, err := s.encrypt(kindWallet, encoded, text)
	if err != nil {
		return nil, err
	}
	if len(file) > maxKeyFileSize {
		return nil, fmt.Errorf("the wallet's file would have %d bytes, the limit is %d", len(file), maxKeyFileSize)
	}
	return file, s.readBack(file)
}

// openWalletFile reads the payload of a wallet file and derives its keys.
func openWalletFile(text, encoded []byte) (content, error) {
	m, described, err := parseMetadata(encoded, walletMetadata.wallet)
	if err != nil {
		return content{}, err
	}
	w := &openWallet{Wallet: described}
	if err = w.readSecrets(text); err == nil {
		err = w.deriveAll()
	}
	if err != nil {
		w.destroy()
		return content{}, err
	}
	return content{organizationID: m.OrganizationID, id: m.WalletID, wallet: w}, nil
}

func (w *openWallet) readSecrets(text []byte) error {
	secret, rest, terminated := bytes.Cut(text, []byte("\n"))
	if !terminated || len(text) > maxWalletPayload {
		return fmt.Errorf("%w: the payload is not one line with a mnemonic or an extended private key", ErrMalformed)
	}
	w.secret = bytes.Clone(secret)
	if len(rest) == 0 {
		return nil
	}
	passphrase, trailing, terminated := bytes.Cut(rest, []byte("\n"))
	if !terminated || len(passphrase) == 0 || len(trailing) > 0 {
		return fmt.Errorf("%w: the payload is not a mnemonic and a passphrase, one line each", ErrMalformed)
	}
	if !w.hasMnemonic() {
		return fmt.Errorf("%w: the payload has a second line after an extended private key", ErrMalformed)
	}
	w.passphrase = bytes.Clone(passphrase)
	return nil
}

// deriveAll derives the keys of the accounts that have none yet.
func (w *openWallet) deriveAll() error {
	root, err := w.root()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	defer root.Wipe()
	return w.derive(root)
}

// derive is deriveAll from an open root. Each key must match the public key of its account,
// if the account has one.
func (w *openWallet) derive(root *wallet.Root) error {
	for i := len(w.keys); i < len(w.Accounts); i++ {
		key, err := w.Accounts[i].derive(root)
		if err != nil {
			return err
		}
		w.keys = append(w.keys, key)
		w.Accounts[i].KeyInfo = key.Info()
	}
	return nil
}

func (a Account) derive(root *wallet.Root) (*software.Key, error) {
	secret, err := root.Derive(a.Curve, a.Path)
	if err != nil {
		return nil, err
	}
	defer keystore.Wipe(secret)
	key, err := software.New(a.KeyInfo, a.Curve, secret)
	if errors.Is(err, software.ErrOtherPublicKey) {
		return nil, fmt.Errorf("%w: account %v: %w", ErrNotAuthentic, a.Path, err)
	}
	return key, err
}

// Wallet describes a mnemonic or an extended private key in the keystore, and the accounts
// that are derived from it. Each account is a key like any other: it is found by its
// addresses and its id, and listed.
type Wallet struct {
	ID        string
	Name      string
	CreatedAt time.Time
	Accounts  []Account // in the order of derivation
}

func (w Wallet) clone() Wallet {
	w.Accounts = slices.Clone(w.Accounts)
	return w
}

// Account is a key of a wallet. Its name is the wallet's name and the path.
type Account struct {
	keystore.KeyInfo
	Curve    keystore.Curve
	Path     wallet.Path
	Disabled bool // a disabled account is not found
}

func accountName(walletName string, path wallet.Path) string {
	return strings.TrimSpace(walletName + " " + path.String())
}

// newAccount returns an account that is yet to be derived.
func newAccount(walletName string, curve keystore.Curve, path wallet.Path) Account {
	info := keystore.KeyInfo{ID: newID(), Name: accountName(walletName, path), CreatedAt: time.Now()}
	return Account{KeyInfo: info, Curve: curve, Path: path}
}
