package messages

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/internal/intents"
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
	b := batch{&intents.Batch{Label: chains.PayloadLabel}}
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
		case i > 0 && statement.IsTransaction(part) != b.Sent:
			return nil, refuse("payload %d or payload 0 is a transaction, and the other is none: all payloads of a "+
				"request must be transactions, or none", i)
		}
		b.Sent = statement.IsTransaction(part)
		b.Add(part, len(part.Effects()))
	}
	if effects := len(b.Effects()); effects > chains.MaxEffects {
		return nil, refuse("the payloads have %d effects: a request may have at most %d, send several", effects,
			chains.MaxEffects)
	}
	return b, nil
}

// batch is several messages.
type batch struct{ *intents.Batch }

var (
	_ chains.Transaction = batch{}
	_ chains.TableUser   = batch{}
)

func (b batch) WithTables(reader chains.Reader) (chains.Transaction, chains.Readings) {
	resolved, readings := b.Batch.WithTables(reader)
	return batch{resolved.(*intents.Batch)}, readings
}

func (b batch) Request(signWith string) (chains.Request, error) {
	r := &batchRequest{batch: b}
	for i, part := range b.Parts {
		request, err := part.Request(signWith)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Label(i), err)
		}
		r.requests = append(r.requests, request)
	}
	return r, nil
}

type batchRequest struct {
	batch    batch
	requests []chains.Request
}

// Locators implements chains.Request. All messages of a chain have the same ones.
func (r *batchRequest) Locators() []keystore.Locator { return r.requests[0].Locators() }

func (r *batchRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	s := &batchSigning{batch: r.batch}
	for i, request := range r.requests {
		signing, err := request.With(keys...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.batch.Label(i), err)
		}
		s.signings = append(s.signings, signing)
	}
	return s, nil
}

type batchSigning struct {
	batch    batch
	signings []chains.Signing
}

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

func (s *batchSigning) ResolveAccounts(accounts chains.Accounts) {
	for _, signing := range s.signings {
		chains.ResolveAccounts(signing, accounts)
	}
}

func (s *batchSigning) SignerView() []chains.Field { return s.signings[0].SignerView() }

func (s *batchSigning) Effects() []chains.Effect {
	return intents.Together(s.signings, chains.Signing.Effects, s.batch.Numbered)
}

func (s *batchSigning) Hazards() []chains.Hazard {
	return intents.Together(s.signings, chains.Signing.Hazards, s.batch.Shifted)
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
