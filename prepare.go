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
	"github.com/countersign-dev/countersign/store"
)

// PreparedTransaction is a transaction that was read, whose keys were found, and that
// the engine is ready to sign: everything that can be refused without signing has been.
// Use it to show a transaction before signing it: the bytes that are signed are the
// bytes that were shown. It must be used by one goroutine at a time.
type PreparedTransaction struct {
	intent     activity.Intent
	tx         chains.Transaction
	signing    chains.Signing
	allHazards []chains.Hazard
	reading    chains.Readings
	found      []keystore.Key // by signWith; see keys
	owners     owners
	cached     *chains.Summary

	call *call // set if there is a Submitter
}

// PrepareTransaction does everything that SignTransaction does except sign.
func (e *Engine) PrepareTransaction(ctx context.Context, organizationID string, intent activity.SignTransactionIntent) (*PreparedTransaction, error) {
	return e.prepareCall(ctx, organizationID, intent)
}

// prepareCall prepares and decides a call without a stamp.
func (e *Engine) prepareCall(ctx context.Context, organizationID string, intent activity.Intent) (*PreparedTransaction, error) {
	prepared, err := e.prepare(ctx, organizationID, intent)
	if err != nil {
		return nil, err
	}
	if err := e.decideCall(ctx, prepared, e.spentSoFar()); err != nil {
		return nil, err
	}
	return prepared, nil
}

// Summary describes the transaction, from its bytes alone.
func (p *PreparedTransaction) Summary() chains.Summary { return p.tx.Summary() }

// Effects returns what signing does, with the signer's address filled in, and Change set
// on transfers back to the wallet that pays. The keystore is asked which addresses are
// the organization's; the error is the keystore's.
func (p *PreparedTransaction) Effects(ctx context.Context) ([]chains.Effect, error) {
	return p.owners.markChange(ctx, slices.Clone(p.signing.Effects()), p.signing.KeyIDs())
}

// Keys returns the keys that will sign, as a policy sees them.
func (p *PreparedTransaction) Keys(ctx context.Context) ([]access.SigningKey, error) {
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
func (p *PreparedTransaction) keys() []keystore.Key {
	ids := p.signing.KeyIDs()
	return slices.DeleteFunc(slices.Clone(p.found), func(key keystore.Key) bool { return !slices.Contains(ids, key.ID()) })
}

// SignerView returns what depends on the signing keys, to be shown with the summary.
func (p *PreparedTransaction) SignerView() []chains.Field { return p.signing.SignerView() }

// Readings returns what Config.Descriptors says of the lookup tables and the calls of
// the transaction. It is shown with the summary, but is not part of the summary's digest.
func (p *PreparedTransaction) Readings() chains.Readings { return p.reading }

// Hazards returns the hazards of the transaction. All of them are allowed.
func (p *PreparedTransaction) Hazards() []chains.Hazard { return p.allHazards }

// KeyIDs returns the ids of the keys that will sign.
func (p *PreparedTransaction) KeyIDs() []string { return p.signing.KeyIDs() }

// Sign signs the transaction. With a Config.Submitter it is judged again, charged to the
// limits of the policy and recorded in Config.Store. A second Sign is then answered from
// the record and charged nothing.
func (p *PreparedTransaction) Sign(ctx context.Context) (activity.SignTransactionResult, error) {
	result, err := p.signCall(ctx)
	if err != nil {
		return activity.SignTransactionResult{}, err
	}
	return result.(activity.SignTransactionResult), nil
}

// signCall signs for a call without a stamp.
func (p *PreparedTransaction) signCall(ctx context.Context) (activity.Result, error) {
	if p.call == nil {
		return p.sign(ctx)
	}
	return p.call.sign(ctx, p)
}

// sign signs, and returns the result that the intent asks for.
func (p *PreparedTransaction) sign(ctx context.Context) (activity.Result, error) {
	signed, err := p.signing.AppendSigned(ctx, nil)
	if err != nil {
		return nil, refuseKey(err)
	}
	if messages, ok := intents.Payloads(p.intent); ok {
		return messageResult(p.intent, signed, len(messages.Payloads))
	}
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

// The following methods implement work.

func (p *PreparedTransaction) summary() *chains.Summary {
	if p.cached == nil {
		summary := p.Summary()
		p.cached = &summary
	}
	return p.cached
}

func (p *PreparedTransaction) hazards() []chains.Hazard { return p.allHazards }

func (p *PreparedTransaction) effects(ctx context.Context) ([]chains.Effect, []access.SigningKey, error) {
	effects, err := p.Effects(ctx)
	if err != nil {
		return nil, nil, err
	}
	keys, err := p.Keys(ctx)
	return effects, keys, err
}

func (p *PreparedTransaction) begin(time.Time) store.Change { return nil }

func (p *PreparedTransaction) perform(ctx context.Context) (outcome, error) {
	result, err := p.sign(ctx)
	return outcome{result: result}, err
}

// prepare reads the transaction or the messages of an intent, finds the keys, and
// collects the hazards. It refuses everything that can be refused without signing,
// except hazards.
func (e *Engine) prepare(ctx context.Context, organizationID string, intent activity.Intent) (*PreparedTransaction, error) {
	tx, chain, err := e.chains.Read(e.config.Now, intent)
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
	prepared := &PreparedTransaction{
		intent: intent, tx: tx, signing: signing, allHazards: signing.Hazards(), found: keys, reading: reading,
		owners: owners{engine: e, organizationID: organizationID, chain: chain, tx: tx},
	}
	if len(reading) > 0 && len(prepared.allHazards) > 0 {
		prepared.allHazards = reading.Sighted(prepared.allHazards, signing.Effects())
	}
	return prepared, nil
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
