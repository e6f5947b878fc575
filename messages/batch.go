package messages

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/messages/statement"
	"github.com/countersign-dev/countersign/keystore"
)

// MaxPayloads is how many payloads one request may have.
const MaxPayloads = 64

// readAll reads several messages of one chain as one transaction: all are judged before the
// first is signed, and the signatures are concatenated. The error is a *chains.ParseError.
func (r Reader) readAll(asked activity.SignRawPayloadsIntent) (chains.Transaction, error) {
	count := len(asked.Payloads)
	if count == 0 || count > MaxPayloads {
		return nil, refuse("%d payloads: a request must have 1 to %d", count, MaxPayloads)
	}
	b := &batch{}
	for i, payload := range asked.Payloads {
		part, err := r.Read(payload, asked.Encoding, asked.HashFunction)
		switch {
		case err != nil:
			return nil, err
		case count == 1:
			return part, nil
		case i > 0 && part.Chain() != b.Chain():
			return nil, refuse("payload %d is for %s, payload 0 for %s: all payloads of a request must be "+
				"for one chain", i, part.Chain(), b.Chain())
		case i > 0 && statement.IsTransaction(part) != b.sent:
			return nil, refuse("payload %d or payload 0 is a transaction, and the other is none: all payloads of a "+
				"request must be transactions, or none", i)
		}
		b.sent, b.parts = statement.IsTransaction(part), append(b.parts, part)
	}
	b.count()
	if effects := b.starts[count]; effects > chains.MaxEffects {
		return nil, refuse("the payloads have %d effects: a request may have at most %d, send several", effects,
			chains.MaxEffects)
	}
	return b, nil
}

type batch struct {
	parts  []chains.Transaction
	starts []int // index of each part's first effect in the batch, then the number of all
	sent   bool  // the parts are transactions
}

var (
	_ chains.Transaction = (*batch)(nil)
	_ chains.TableUser   = (*batch)(nil)
)

// count sets where the effects of each part start.
func (b *batch) count() {
	b.starts = []int{0}
	for i, part := range b.parts {
		b.starts = append(b.starts, b.starts[i]+len(part.Effects()))
	}
}

// WithTables implements chains.TableUser.
func (b *batch) WithTables(reader chains.Reader) (chains.Transaction, chains.Readings) {
	resolved, all := &batch{sent: b.sent, parts: slices.Clone(b.parts)}, chains.Readings(nil)
	for i, part := range b.parts {
		if user, ok := part.(chains.TableUser); ok {
			tx, readings := user.WithTables(reader)
			resolved.parts[i] = tx
			for _, reading := range readings {
				reading.Path = chains.PayloadLabel(i) + "/" + reading.Path
				all = append(all, reading)
			}
		}
	}
	resolved.count()
	return resolved, all
}

// effectsOf returns the number of effects of a part.
func (b *batch) effectsOf(part int) int { return b.starts[part+1] - b.starts[part] }

// numbered returns the effects with the payload prefixed to their paths.
func numbered(effects []chains.Effect, payload int) []chains.Effect {
	effects = slices.Clone(effects)
	for i := range effects {
		effects[i].Path = chains.PayloadLabel(payload) + "/" + effects[i].Path
	}
	return effects
}

// shifted returns the hazards of a part with the indexes of their effects shifted to
// those of the batch: the part has the given number of effects, from start on. Hazards of
// the part as a whole are hazards of the batch.
func shifted(hazards []chains.Hazard, start, effects int) []chains.Hazard {
	out := make([]chains.Hazard, len(hazards))
	for i, hazard := range hazards {
		out[i] = chains.Hazard{Name: hazard.Name, Detail: hazard.Detail}
		if index, ok := hazard.Effect(); ok && index < effects {
			out[i] = out[i].OnEffect(start + index)
		}
	}
	return out
}

// Chain implements chains.Transaction: all parts are of one.
func (b *batch) Chain() string { return b.parts[0].Chain() }

// Summary implements chains.Transaction.
func (b *batch) Summary() chains.Summary {
	summary := chains.Summary{Chain: b.Chain(), Sent: b.sent}
	for i, part := range b.parts {
		of := part.Summary()
		summary.Effects = append(summary.Effects, numbered(of.Effects, i)...)
		summary.Fields = append(summary.Fields, chains.List(chains.PayloadLabel(i), of.Fields...))
	}
	return summary
}

// Effects implements chains.Transaction.
func (b *batch) Effects() (effects []chains.Effect) {
	for i, part := range b.parts {
		effects = append(effects, numbered(part.Effects(), i)...)
	}
	return effects
}

// Hazards implements chains.Transaction.
func (b *batch) Hazards() (hazards []chains.Hazard) {
	for i, part := range b.parts {
		hazards = append(hazards, shifted(part.Hazards(), b.starts[i], b.effectsOf(i))...)
	}
	return hazards
}

var _ chains.Caller = (*batch)(nil)

// Calls implements chains.Caller.
func (b *batch) Calls() (calls []chains.Call) {
	for i, part := range b.parts {
		caller, ok := part.(chains.Caller)
		if !ok {
			continue
		}
		for _, call := range caller.Calls() {
			call.Path = chains.PayloadLabel(i) + "/" + call.Path
			calls = append(calls, call)
		}
	}
	return calls[:min(len(calls), chains.MaxEffects)]
}

// Request implements chains.Transaction.
func (b *batch) Request(signWith string) (chains.Request, error) {
	r := &batchRequest{batch: b}
	for i, part := range b.parts {
		request, err := part.Request(signWith)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", chains.PayloadLabel(i), err)
		}
		r.requests = append(r.requests, request)
	}
	return r, nil
}

type batchRequest struct {
	batch    *batch
	requests []chains.Request
}

// Locators implements chains.Request. All messages of a chain have the same ones.
func (r *batchRequest) Locators() []keystore.Locator { return r.requests[0].Locators() }

// With implements chains.Request.
func (r *batchRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	s := &batchSigning{batch: r.batch}
	for i, request := range r.requests {
		signing, err := request.With(keys...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", chains.PayloadLabel(i), err)
		}
		s.signings = append(s.signings, signing)
	}
	return s, nil
}

type batchSigning struct {
	batch    *batch
	signings []chains.Signing
}

// KeyIDs implements chains.Signing.
func (s *batchSigning) KeyIDs() (ids []string) {
	for _, signing := range s.signings {
		for _, id := range signing.KeyIDs() {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

var _ chains.AccountSigning = (*batchSigning)(nil)

// ResolveAccounts implements chains.AccountSigning.
func (s *batchSigning) ResolveAccounts(accounts chains.Accounts) {
	for _, signing := range s.signings {
		chains.ResolveAccounts(signing, accounts)
	}
}

// SignerView implements chains.Signing.
func (s *batchSigning) SignerView() []chains.Field { return s.signings[0].SignerView() }

// Effects implements chains.Signing.
func (s *batchSigning) Effects() (effects []chains.Effect) {
	for i, signing := range s.signings {
		effects = append(effects, numbered(signing.Effects(), i)...)
	}
	return effects
}

// Hazards implements chains.Signing.
func (s *batchSigning) Hazards() (hazards []chains.Hazard) {
	for i, signing := range s.signings {
		hazards = append(hazards, shifted(signing.Hazards(), s.batch.starts[i], s.batch.effectsOf(i))...)
	}
	return hazards
}

// AppendSigned implements chains.Signing. It appends all signatures, or returns an
// error.
func (s *batchSigning) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	for _, signing := range s.signings {
		var err error
		if dst, err = signing.AppendSigned(ctx, dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}
