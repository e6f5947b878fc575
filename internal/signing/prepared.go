package signing

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/keystore"
	"github.com/countersign-dev/countersign/operation"
	"github.com/countersign-dev/countersign/store"
)

// Prepared is a transaction, or messages, whose keys were found and that can be signed. It
// implements operation.Task.
type Prepared struct {
	intent   activity.Intent
	tx       chains.Transaction
	signing  chains.Signing
	result   func(intent activity.Intent, signed []byte) (activity.Result, error) // nil: of a transaction
	judging  sync.Once                                                            // of hazards
	hazards  []chains.Hazard
	reading  chains.Readings
	found    []keystore.Key // by signWith; see keys
	accounts accounts
	effects  []chains.Effect // see OwnEffects; nil until they are found
	wallets  operation.RegisteredWallets
	stray    []chains.Hazard // of inputs that may be a registered wallet's
	cached   *chains.Summary
}

var _ Task = (*Prepared)(nil)

// Intent returns what asks for the transaction, or the messages.
func (p *Prepared) Intent() activity.Intent { return p.intent }

// Signers returns the keys that will sign, as a policy sees them.
func (p *Prepared) Signers(ctx context.Context) ([]access.SigningKey, error) {
	signers := p.keys(p.KeyIDs())
	keys := make([]access.SigningKey, len(signers))
	for i, key := range signers {
		held, err := p.accounts.key(ctx, key.ID())
		if err != nil {
			return nil, err
		}
		keys[i] = access.SigningKey{ID: key.ID(), Name: keystore.InfoOf(key).Name, WalletID: held.WalletID,
			WalletName: held.wallet, Path: held.Path}
		for _, address := range p.accounts.chain.Addresses(key.PublicKey()) {
			keys[i].Addresses = append(keys[i].Addresses, address.Address)
		}
	}
	return keys, nil
}

func (p *Prepared) KeyIDs() []string          { return p.signing.KeyIDs() }
func (p *Prepared) Chain() chains.Chain       { return p.accounts.chain }
func (p *Prepared) Readings() chains.Readings { return p.reading }
func (p *Prepared) Claimed() []chains.Effect  { return p.signing.Effects() }

// Addresses implements operation.SigningTask. The address is the one that the request signs
// with, or the key's first on this chain.
func (p *Prepared) Addresses() []string {
	return p.addresses(p.KeyIDs())
}

func (p *Prepared) addresses(ids []string) []string {
	signWith := intents.SignWith(p.intent)
	var addresses []string
	for _, key := range p.keys(ids) {
		all := p.accounts.chain.Addresses(key.PublicKey())
		if len(all) == 0 {
			continue
		}
		i := slices.IndexFunc(all, func(a chains.Address) bool { return strings.EqualFold(a.Address, signWith) })
		addresses = append(addresses, all[max(i, 0)].Address)
	}
	return addresses
}

// keys returns the keys with the ids of those that will sign, which may be fewer than signWith
// names. The list must not be changed.
func (p *Prepared) keys(ids []string) []keystore.Key {
	others := func(key keystore.Key) bool { return !slices.Contains(ids, key.ID()) }
	if !slices.ContainsFunc(p.found, others) {
		return p.found
	}
	return slices.DeleteFunc(slices.Clone(p.found), others)
}

// SignerView returns what depends on the signing keys.
func (p *Prepared) SignerView(ctx context.Context) ([]chains.Field, error) {
	accounts := p.within(ctx)
	fields := p.signing.SignerView()
	return fields, accounts.err
}

// rooms have signed transactions, and the hex of them, until that is copied into a result;
// maxRoom is the size of the largest that is kept.
var rooms = sync.Pool{New: func() any { return new([]byte) }}

const maxRoom = 12 << 10

func (p *Prepared) signTransaction(ctx context.Context) (activity.Result, error) {
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	signed, err := p.signing.AppendSigned(ctx, (*room)[:0])
	if err != nil {
		return nil, refuse.Key(err)
	}
	withHex := hex.AppendEncode(signed, signed)
	if cap(withHex) <= maxRoom {
		*room = withHex
	}
	return activity.SignTransactionResult{SignedTransaction: string(withHex[len(signed):])}, nil
}

func (p *Prepared) Summary() *chains.Summary {
	if p.cached == nil {
		summary := p.tx.Summary()
		p.cached = &summary
	}
	return p.cached
}

// Hazards implements operation.Task: those that descriptors do not dispel.
func (p *Prepared) Hazards() []chains.Hazard {
	p.judging.Do(func() {
		p.hazards = slices.Concat(p.signing.Hazards(), p.stray)
		if len(p.reading) > 0 {
			p.hazards = p.reading.Sighted(p.hazards, p.signing.Effects())
		}
	})
	return p.hazards
}

func (p *Prepared) Effects(ctx context.Context) ([]chains.Effect, []access.SigningKey, error) {
	return effects(ctx, p)
}

func effects(ctx context.Context, task Task) ([]chains.Effect, []access.SigningKey, error) {
	effects, err := task.OwnEffects(ctx)
	if err != nil {
		return nil, nil, err
	}
	keys, err := task.Signers(ctx)
	return effects, keys, err
}

func (p *Prepared) Signs() operation.SigningTask { return p }

// Begin implements operation.Task: signing changes no ledger.
func (p *Prepared) Begin(time.Time) store.Change { return nil }

// Perform implements operation.Task: it signs.
func (p *Prepared) Perform(ctx context.Context) (operation.Outcome, error) {
	if p.result == nil {
		result, err := p.signTransaction(ctx)
		return operation.Outcome{Result: result}, err
	}
	signed, err := p.signing.AppendSigned(ctx, nil)
	if err != nil {
		return operation.Outcome{}, refuse.Key(err)
	}
	result, err := p.result(p.intent, signed)
	return operation.Outcome{Result: result}, err
}
