package countersign

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// prepared is a transaction, or messages, whose keys were found and that can be signed. It
// implements operation.Task.
type prepared struct {
	intent  activity.Intent
	tx      chains.Transaction
	signing chains.Signing
	result  func(intent activity.Intent, signed []byte) (activity.Result, error)
	hazards []chains.Hazard
	reading chains.Readings
	found   []keystore.Key // by signWith; see keys
	owners  owners
	cached  *chains.Summary

	call *call // set if there is a Submitter
}

var _ operation.Task = (*prepared)(nil)

// prepareCall prepares and decides a call without a stamp.
func (e *Engine) prepareCall(ctx context.Context, organizationID string, intent activity.Intent) (*prepared, error) {
	p, err := e.prepare(ctx, organizationID, intent)
	if err != nil {
		return nil, err
	}
	if err := e.decideCall(ctx, p, e.spentSoFar()); err != nil {
		return nil, err
	}
	return p, nil
}

// effects returns what signing does, with the signer's address filled in, Change set on
// what comes back to the wallet that pays, and Mine on what goes to the organization's
// accounts. The keystore is asked which addresses those are; the error is the keystore's.
func (p *prepared) effects(ctx context.Context) ([]chains.Effect, error) {
	return p.owners.holders(ctx).effects(p.signing)
}

// signers returns the keys that will sign, as a policy sees them.
func (p *prepared) signers(ctx context.Context) ([]access.SigningKey, error) {
	signers := p.keys()
	keys := make([]access.SigningKey, len(signers))
	for i, key := range signers {
		owned, err := p.owners.key(ctx, key.ID())
		if err != nil {
			return nil, err
		}
		keys[i] = access.SigningKey{ID: key.ID(), Name: keystore.InfoOf(key).Name, WalletID: owned.WalletID, WalletName: owned.Wallet, Path: owned.Path}
		for _, address := range p.owners.chain.Addresses(key.PublicKey()) {
			keys[i].Addresses = append(keys[i].Addresses, address.Address)
		}
	}
	return keys, nil
}

// keys returns the keys that will sign, which may be fewer than signWith names.
func (p *prepared) keys() []keystore.Key {
	ids := p.signing.KeyIDs()
	return slices.DeleteFunc(slices.Clone(p.found), func(key keystore.Key) bool { return !slices.Contains(ids, key.ID()) })
}

// view returns what depends on the signing keys.
func (p *prepared) view(ctx context.Context) ([]chains.Field, error) {
	h := p.owners.holders(ctx)
	fields := h.signing(p.signing).SignerView()
	return fields, h.err
}

// signCall signs for a call without a stamp.
func (p *prepared) signCall(ctx context.Context) (activity.Result, error) {
	if p.call == nil {
		return p.sign(ctx)
	}
	return p.call.sign(ctx, p)
}

// sign signs, and returns the result that the intent asks for.
func (p *prepared) sign(ctx context.Context) (activity.Result, error) {
	signed, err := p.signing.AppendSigned(ctx, nil)
	if err != nil {
		return nil, refuseKey(err)
	}
	return p.result(p.intent, signed)
}

// signedTransaction is the result of signing a transaction.
func signedTransaction(_ activity.Intent, signed []byte) (activity.Result, error) {
	return activity.SignTransactionResult{SignedTransaction: encodeHex(signed)}, nil
}

// encodeHex is hex.EncodeToString without its second copy of the text.
func encodeHex(raw []byte) string {
	var text strings.Builder
	text.Grow(hex.EncodedLen(len(raw)))
	var digits [512]byte
	for part := range slices.Chunk(raw, len(digits)/2) {
		text.Write(digits[:hex.Encode(digits[:], part)])
	}
	return text.String()
}

// Summary implements operation.Task.
func (p *prepared) Summary() *chains.Summary {
	if p.cached == nil {
		summary := p.tx.Summary()
		p.cached = &summary
	}
	return p.cached
}

// Hazards implements operation.Task.
func (p *prepared) Hazards() []chains.Hazard { return p.hazards }

// Effects implements operation.Task.
func (p *prepared) Effects(ctx context.Context) ([]chains.Effect, []access.SigningKey, error) {
	effects, err := p.effects(ctx)
	if err != nil {
		return nil, nil, err
	}
	keys, err := p.signers(ctx)
	return effects, keys, err
}

// Begin implements operation.Task: signing changes no ledger.
func (p *prepared) Begin(time.Time) store.Change { return nil }

// Perform implements operation.Task.
func (p *prepared) Perform(ctx context.Context) (operation.Outcome, error) {
	result, err := p.sign(ctx)
	return operation.Outcome{Result: result}, err
}

// prepare reads the transaction or the messages of an intent, finds the keys, and
// collects the hazards. It refuses everything that can be refused without signing,
// except hazards.
func (e *Engine) prepare(ctx context.Context, organizationID string, intent activity.Intent) (*prepared, error) {
	tx, chain, result, err := e.read(intent)
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
			"signWith has %d bytes, at most %d are read: expected an address of the key, or its id", len(signWith), activity.MaxSignWith)
	}
	tx, reading := chains.ReadWith(tx, e.config.Descriptors)
	request, err := tx.Request(signWith)
	if err != nil {
		return nil, refuseTransaction(err)
	}
	keys, err := e.findKeys(ctx, organizationID, request.Locators(), signWith)
	if err != nil {
		return nil, err
	}
	signing, err := request.With(keys...)
	if err != nil {
		return nil, refuseTransaction(err)
	}
	owners := owners{engine: e, organizationID: organizationID, chain: chain, tx: tx}
	if err := owners.known(ctx, signing); err != nil {
		return nil, err
	}
	p := &prepared{
		intent: intent, tx: tx, signing: signing, result: result, hazards: signing.Hazards(), found: keys, reading: reading, owners: owners,
	}
	if len(reading) > 0 && len(p.hazards) > 0 {
		p.hazards = reading.Sighted(p.hazards, signing.Effects())
	}
	return p, nil
}

// read reads what an intent asks a signature for. It returns the chain, and the function
// that turns a signature into a result.
func (e *Engine) read(intent activity.Intent) (chains.Transaction, chains.Chain, func(activity.Intent, []byte) (activity.Result, error), error) {
	if transaction, ok := intent.(activity.SignTransactionIntent); ok {
		tx, chain, err := e.chains.Read(transaction.Type, transaction.UnsignedTransaction)
		return tx, chain, signedTransaction, err
	}
	if intent == nil {
		return nil, nil, nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldType, nil, "the intent is missing")
	}
	served, err := e.operations.of(intent.ActivityType())
	if err != nil {
		return nil, nil, nil, err
	}
	if served.Sign == nil {
		return nil, nil, nil, activity.NewError(activity.ReasonRequestInvalid, intents.FieldType, nil, "%T asks for no signature", intent)
	}
	tx, err := served.Sign.Read(intent, e.chains, e.config.Now)
	if err != nil {
		return nil, nil, nil, err
	}
	return tx, e.chains.Named(tx.Summary().Chain), served.Sign.Result, nil
}

// findKeys finds the keys that signWith names: those at the locators, or otherwise all
// keys of the wallet with that id or name.
func (e *Engine) findKeys(ctx context.Context, organizationID string, locators []keystore.Locator, signWith string) ([]keystore.Key, error) {
	keys, err := e.findAll(ctx, organizationID, locators)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	if finder, ok := e.config.Keystore.(keystore.WalletFinder); ok && slices.Contains(locators, keystore.ByID(signWith)) {
		if keys, err = e.findWallet(ctx, finder, organizationID, signWith); err != nil || len(keys) > 0 {
			return keys, err
		}
	}
	return nil, activity.NewError(activity.ReasonNotFound, intents.FieldSignWith, keystore.ErrKeyNotFound,
		"could not find any resource to sign with: organization %q has no key %q: use an address that one of its keys has on this chain, or the id of a key or wallet", shorten(organizationID), shorten(signWith))
}

// findAll finds the keys of the organization at the locators, each once.
func (e *Engine) findAll(ctx context.Context, organizationID string, locators []keystore.Locator) ([]keystore.Key, error) {
	var keys []keystore.Key
	for _, locator := range locators {
		key, err := e.config.Keystore.Find(ctx, organizationID, locator)
		switch {
		case errors.Is(err, keystore.ErrKeyNotFound):
			continue
		case err != nil:
			return nil, refuseKey(err)
		case key == nil:
			return nil, refuseKey(errNoKey)
		case slices.ContainsFunc(keys, func(k keystore.Key) bool { return k.ID() == key.ID() }):
			continue
		case !e.config.ReleaseUnverifiedSignatures:
			key = keystore.Verified(key)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// findWallet finds the keys of a wallet. It returns none if there is no such wallet.
func (e *Engine) findWallet(ctx context.Context, finder keystore.WalletFinder, organizationID, idOrName string) ([]keystore.Key, error) {
	wallet, err := finder.FindWallet(ctx, organizationID, idOrName)
	switch {
	case errors.Is(err, keystore.ErrKeyNotFound):
		return nil, nil
	case err != nil:
		return nil, refuseKey(err)
	}
	locators := make([]keystore.Locator, len(wallet.Accounts))
	for i, account := range wallet.Accounts {
		locators[i] = keystore.ByID(account.ID)
	}
	return e.findAll(ctx, organizationID, locators)
}
