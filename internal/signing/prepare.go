// Package signing reads what an intent wants signed, finds the keys, and signs. It also lists
// keys for queries. It does not decide whether a signature is allowed: the engine does.
package signing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/keystore"
)

// Preparer reads intents, and prepares what they want signed.
type Preparer struct {
	Chains      intents.Table
	Operations  Operations
	Keystore    keystore.Keystore
	Wallets     keystore.WalletRegistry // may be nil
	Descriptors chains.Reader           // may be nil
	Unverified  bool                    // signatures are released without verification
	Now         func() time.Time
}

// Prepare reads the transactions or the messages of an intent and finds the keys. It refuses
// everything that can be refused without signing, except hazards.
func (r *Preparer) Prepare(ctx context.Context, organizationID string, intent activity.Intent) (Task, error) {
	if list, ok := intent.(activity.SignTransactionsIntent); ok {
		return r.prepareList(ctx, organizationID, list)
	}
	prepared, err := r.prepare(ctx, organizationID, intent)
	if err != nil {
		return nil, err
	}
	return prepared, nil
}

func (r *Preparer) prepare(ctx context.Context, organizationID string, intent activity.Intent) (*Prepared, error) {
	tx, result, err := r.read(intent)
	if err != nil {
		return nil, err
	}
	signWith := intents.SignWith(intent)
	if signWith == "" {
		return nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldSignWith, nil,
			"signWith is empty: expected an address of the key, or its id")
	}
	if len(signWith) > activity.MaxSignWith {
		return nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldSignWith, nil,
			"signWith has %d bytes, at most %d are read: expected an address of the key, or its id",
			len(signWith), activity.MaxSignWith)
	}
	tx, reading := chains.ReadWith(tx, r.Descriptors)
	p := &Prepared{
		intent: intent, tx: tx, result: result, reading: reading,
		accounts: accounts{keys: r.Keystore, wallets: r.Wallets, organizationID: organizationID,
			chain: r.Chains.Named(tx.Chain()), tx: tx, ctx: ctx},
	}
	request, keys, err := r.find(ctx, &p.accounts, signWith)
	if err != nil {
		return nil, err
	}
	signing, err := request.With(keys...)
	if err != nil {
		return nil, refuse.Transaction(err)
	}
	p.signing, p.found = signing, keys
	chains.ResolveAccounts(signing, &p.accounts)
	p.findWallets()
	if err := p.accounts.err; err != nil {
		return nil, err
	}
	return p, nil
}

// read reads what an intent asks a signature for. It returns the function that turns a signature
// into a result, nil for a transaction.
func (r *Preparer) read(intent activity.Intent,
) (chains.Transaction, func(activity.Intent, []byte) (activity.Result, error), error) {
	if transaction, ok := intent.(activity.SignTransactionIntent); ok {
		tx, err := r.Chains.Read(transaction.Type, transaction.UnsignedTransaction)
		return tx, nil, err
	}
	if intent == nil {
		return nil, nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldType, nil,
			"the intent is missing")
	}
	served, err := r.Operations.Of(intent.ActivityType())
	if err != nil {
		return nil, nil, err
	}
	if served.Sign == nil {
		return nil, nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldType, nil,
			"%T asks for no signature", intent)
	}
	tx, err := served.Sign.Read(intent, r.Now)
	if err != nil {
		return nil, nil, err
	}
	return tx, served.Sign.Result, nil
}

// find returns the request that signWith makes, and the keys that it names: those at its locators,
// or all keys of the wallet with that id or name, or those of the registered wallet with that name.
func (r *Preparer) find(ctx context.Context, a *accounts, signWith string) (chains.Request, []keystore.Key, error) {
	organizationID, tx := a.organizationID, a.tx
	request, err := tx.Request(signWith)
	if err != nil {
		return nil, nil, refuse.Transaction(err)
	}
	keys, err := r.findAll(ctx, organizationID, request.Locators())
	if err != nil || len(keys) > 0 {
		return request, keys, err
	}
	if slices.Contains(request.Locators(), keystore.ByID(signWith)) {
		if finder, ok := r.Keystore.(keystore.WalletFinder); ok {
			if keys, err = r.findWallet(ctx, finder, organizationID, signWith); err != nil || len(keys) > 0 {
				return request, keys, err
			}
		}
		wallet, ok, err := r.findRegistered(ctx, organizationID, signWith)
		switch {
		case err != nil:
			return nil, nil, err
		case ok:
			return r.ofRegistered(ctx, a, wallet)
		}
	}
	return nil, nil, activity.NewError(activity.ReasonNotFound, intents.FieldSignWith, keystore.ErrKeyNotFound,
		"could not find any resource to sign with: organization %q has no key %q: use an address that one of its "+
			"keys has on this chain, or the id of a key or wallet%s",
		refuse.Shorten(organizationID), refuse.Shorten(signWith), looksLike(signWith, tx.Chain()))
}

// findAll finds the keys of the organization at the locators, each once.
func (r *Preparer) findAll(ctx context.Context, organizationID string, locators []keystore.Locator,
) ([]keystore.Key, error) {
	var keys []keystore.Key
	for _, locator := range locators {
		key, err := r.Keystore.Find(ctx, organizationID, locator)
		switch {
		case errors.Is(err, keystore.ErrKeyNotFound):
			continue
		case err != nil:
			return nil, refuse.Key(err)
		case key == nil:
			return nil, refuse.Key(refuse.ErrNoKey)
		case slices.ContainsFunc(keys, func(k keystore.Key) bool { return k.ID() == key.ID() }):
			continue
		case !r.Unverified:
			key = keystore.Verified(key)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// findWallet finds the keys of a wallet. It returns none if there is no such wallet.
func (r *Preparer) findWallet(ctx context.Context, finder keystore.WalletFinder, organizationID, idOrName string,
) ([]keystore.Key, error) {
	wallet, err := finder.FindWallet(ctx, organizationID, idOrName)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return nil, nil
	case err != nil:
		return nil, refuse.Key(err)
	}
	locators := make([]keystore.Locator, len(wallet.Accounts))
	for i, account := range wallet.Accounts {
		locators[i] = keystore.ByID(account.ID)
	}
	return r.findAll(ctx, organizationID, locators)
}

// Alphabets of addresses.
const (
	hexDigits    = "0123456789abcdefABCDEF"
	base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
)

// looksLike says what kind of address a signWith that names no key on a chain looks like, if
// that explains why, with a semicolon in front, or "". It looks at the shape alone.
func looksLike(signWith, chain string) string {
	only := func(digits string) bool { return strings.Trim(signWith, digits) == "" }
	evm := chain == "ethereum" || chain == "tempo"
	lower := strings.ToLower(signWith)
	var of string
	switch n := len(signWith); {
	case n == 40 && only(hexDigits) && evm:
		return "; if this is an address, 0x is missing in front of it"
	case n == 42 && strings.HasPrefix(lower, "0x") && strings.Trim(signWith[2:], hexDigits) == "" && !evm:
		of = "Ethereum"
	case strings.HasPrefix(lower, "bc1"), strings.HasPrefix(lower, "tb1"), strings.HasPrefix(lower, "bcrt1"):
		of = "Bitcoin"
	case n == 34 && signWith[0] == 'T' && only(base58Digits):
		of = "Tron"
	case n >= 26 && n <= 35 && strings.IndexByte("13mn2", signWith[0]) >= 0 && only(base58Digits):
		of = "Bitcoin"
	case (n == 43 || n == 44) && only(base58Digits):
		of = "Solana"
	}
	if of == "" || strings.EqualFold(of, chain) {
		return ""
	}
	return "; this looks like an address of " + of + ", and the key is needed for " + chain
}
