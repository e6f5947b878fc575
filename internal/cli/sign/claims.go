package sign

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains/bitcoin"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/keystore/file"
	"github.com/countersign-dev/countersign/keystore/wallet"
)

// walletLister is a keystore whose wallets can derive what a PSBT names.
type walletLister interface {
	Wallets(ctx context.Context, organizationID string) ([]file.Wallet, error)
	RevealRoot(ctx context.Context, organizationID, walletID string, use func(*wallet.Root) error) error
}

// maxClaims bounds the notes about what a PSBT claims.
const maxClaims = 5

// claims returns notes about keys that a PSBT claims for wallets of the keystore and that are not
// derived here, such as change that would be shown as a payment, or that the wallet does not have.
func (c *signCommand) claims(ctx context.Context, asked activity.Intent) (notes []string, err error) {
	keys, ok := c.keystore.(walletLister)
	intent, isTransaction := asked.(activity.SignTransactionIntent)
	if !ok || !isTransaction || intent.Type != activity.TransactionTypeBitcoin {
		return nil, nil
	}
	raw, err := hex.DecodeString(strings.TrimPrefix(intent.UnsignedTransaction, "0x"))
	if err != nil {
		return nil, nil //nolint:nilerr // the engine says what is wrong
	}
	unknown, err := c.unknownKeys(ctx, raw)
	if err != nil || len(unknown) == 0 {
		return nil, err
	}
	wallets, err := keys.Wallets(ctx, c.at.Organization)
	if err != nil {
		return nil, err
	}
	for _, w := range wallets {
		if err := keys.RevealRoot(ctx, c.at.Organization, w.ID, func(root *wallet.Root) error {
			for _, d := range unknown {
				if note := claim(root, w, d); note != "" && len(notes) < maxClaims {
					notes = append(notes, note)
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return notes, nil
}

// unknownKeys returns the keys that a PSBT names and the keystore does not have. Keys of a registered
// wallet's outputs need not be derived: these are recognized without.
func (c *signCommand) unknownKeys(ctx context.Context, raw []byte) (unknown []bitcoin.Derivation, err error) {
	named, err := bitcoin.Derivations(raw)
	if err != nil {
		return nil, nil //nolint:nilerr // the engine says what is wrong
	}
	var registered []keystore.Registration
	if registry, ok := c.keystore.(keystore.WalletRegistry); ok {
		if registered, err = registry.Registered(ctx, c.at.Organization); err != nil {
			return nil, err
		}
	}
	for _, d := range named {
		ofRegistered := slices.ContainsFunc(registered, func(w keystore.Registration) bool {
			_, _, ok := w.Place(d.Fingerprint, d.Path)
			return ok
		})
		if ofRegistered && strings.HasPrefix(d.Of, "output") {
			continue
		}
		has, err := c.hasKey(ctx, d.PublicKey)
		switch {
		case err != nil:
			return nil, err
		case !has:
			unknown = append(unknown, d)
		}
	}
	return unknown, nil
}

// hasKey reports whether the keystore has a key, given compressed or x-only: then either of two.
func (c *signCommand) hasKey(ctx context.Context, public []byte) (bool, error) {
	forms := [][]byte{public}
	if len(public) == 32 {
		forms = [][]byte{append([]byte{2}, public...), append([]byte{3}, public...)}
	}
	for _, form := range forms {
		_, err := c.keystore.Find(ctx, c.at.Organization, keystore.ByHash160([20]byte(address.Hash160(form))))
		if !errors.Is(err, keystore.ErrKeyNotFound) {
			return err == nil, err
		}
	}
	return false, nil
}

// claim compares what a PSBT claims about a wallet with the wallet.
func claim(root *wallet.Root, w file.Wallet, d bitcoin.Derivation) string {
	if d.Fingerprint != root.Fingerprint() {
		return ""
	}
	name := cmp.Or(w.Name, w.ID)
	own, err := root.PublicKey(d.Path)
	if err != nil || !file.IsNamed(own, d.PublicKey) {
		return fmt.Sprintf("Note: %s claims %v of your wallet %s, which has another key there: it is not yours.",
			d.Of, wallet.Path(d.Path), name)
	}
	return fmt.Sprintf("Note: %s claims %v of your wallet %s, which is not derived yet: run 'countersign keys "+
		"derive --wallet %s --psbt' with this PSBT first.", d.Of, wallet.Path(d.Path), name, name)
}
