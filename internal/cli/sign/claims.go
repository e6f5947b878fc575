package sign

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

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

// claims returns notes about keys that a PSBT claims for wallets of the keystore and that are
// not derived here, such as change that would be shown as a payment, or that the wallet does
// not have.
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

// unknownKeys returns the keys that a PSBT names and the keystore does not have.
func (c *signCommand) unknownKeys(ctx context.Context, raw []byte) (unknown []bitcoin.Derivation, err error) {
	named, err := bitcoin.Derivations(raw)
	if err != nil {
		return nil, nil //nolint:nilerr // the engine says what is wrong
	}
	for _, d := range named {
		if len(d.PublicKey) == 32 {
			continue // either of two keys; keys derive --psbt knows which
		}
		public, err := keystore.ParsePublicKey(keystore.CurveSecp256k1, d.PublicKey)
		if err != nil {
			continue
		}
		_, err = c.keystore.Find(ctx, c.at.Organization, keystore.ByHash160(public.Hash160()))
		switch {
		case errors.Is(err, keystore.ErrKeyNotFound):
			unknown = append(unknown, d)
		case err != nil:
			return nil, err
		}
	}
	return unknown, nil
}

// claim compares what a PSBT claims about a wallet with the wallet.
func claim(root *wallet.Root, w file.Wallet, d bitcoin.Derivation) string {
	if d.Fingerprint != root.Fingerprint() {
		return ""
	}
	name := w.Name
	if name == "" {
		name = w.ID
	}
	own, err := root.PublicKey(d.Path)
	if err != nil || !bytes.Equal(own.Bytes(), d.PublicKey) {
		return fmt.Sprintf("Note: %s claims %v of your wallet %s, which has another key there: it is not yours.", d.Of, wallet.Path(d.Path), name)
	}
	return fmt.Sprintf("Note: %s claims %v of your wallet %s, which is not derived yet: run 'countersign keys derive --wallet %s --psbt' with this PSBT first.", d.Of, wallet.Path(d.Path), name, name)
}

// withNotes adds notes to a refusal.
func withNotes(err error, notes []string) error {
	if len(notes) == 0 {
		return err
	}
	return fmt.Errorf("%w. %s", err, strings.Join(notes, " "))
}
