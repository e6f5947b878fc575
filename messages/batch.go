package messages

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/keystore"
)

// MaxPayloads is how many payloads one key signs at once.
const MaxPayloads = 64

// Batch makes one transaction of several messages: all are judged before the first
// is signed, and their signatures leave together, one behind the other. The error is
// a *chains.ParseError.
func Batch(parts []chains.Transaction) (chains.Transaction, error) {
	if len(parts) == 0 || len(parts) > MaxPayloads {
		return nil, refuse("%d payloads: 1 to %d are signed at once", len(parts), MaxPayloads)
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	b := &batch{parts: parts}
	for i, part := range parts {
		summary := part.Summary()
		if i > 0 && summary.Chain != b.summary.Chain {
			return nil, refuse("payload %d is of %s, the first of %s: payloads of one request are of one chain", i, summary.Chain, b.summary.Chain)
		}
		b.summary.Chain = summary.Chain
		b.starts = append(b.starts, len(b.summary.Effects))
		b.summary.Effects = append(b.summary.Effects, numbered(part.Effects(), i)...)
		b.summary.Fields = append(b.summary.Fields, chains.List(label(i), summary.Fields...))
	}
	if len(b.summary.Effects) > chains.MaxEffects {
		return nil, refuse("the payloads have %d effects, at most %d are judged at once: send them in several requests", len(b.summary.Effects), chains.MaxEffects)
	}
	return b, nil
}

type batch struct {
	parts   []chains.Transaction
	starts  []int // of each part's effects
	summary chains.Summary
}

var _ chains.Transaction = (*batch)(nil)

func label(i int) string { return "payload " + strconv.Itoa(i) }

// numbered returns effects whose paths say which payload they come from.
func numbered(effects []chains.Effect, payload int) []chains.Effect {
	effects = slices.Clone(effects)
	for i := range effects {
		effects[i].Path = label(payload) + "/" + effects[i].Path
	}
	return effects
}

// shifted returns hazards that point at the effects of the whole. Those of the part
// as a whole point at its first effect, if it has one.
func shifted(hazards []chains.Hazard, start, effects int) []chains.Hazard {
	moved := make([]chains.Hazard, len(hazards))
	for i, hazard := range hazards {
		moved[i] = hazard
		if index, ok := hazard.Effect(); ok && index < effects {
			moved[i] = hazard.OnEffect(start + index)
		}
	}
	return moved
}

// Summary implements chains.Transaction.
func (b *batch) Summary() chains.Summary { return b.summary }

// Effects implements chains.Transaction.
func (b *batch) Effects() []chains.Effect { return b.summary.Effects }

// Hazards implements chains.Transaction.
func (b *batch) Hazards() (all []chains.Hazard) {
	for i, part := range b.parts {
		all = append(all, shifted(part.Hazards(), b.starts[i], len(part.Effects()))...)
	}
	return all
}

var _ chains.Caller = (*batch)(nil)

// Calls implements chains.Caller: those of the payloads.
func (b *batch) Calls() (all []chains.Call) {
	for i, part := range b.parts {
		caller, ok := part.(chains.Caller)
		if !ok {
			continue
		}
		for _, call := range caller.Calls() {
			call.Path = label(i) + "/" + call.Path
			all = append(all, call)
		}
	}
	return all[:min(len(all), chains.MaxEffects)]
}

// Request implements chains.Transaction.
func (b *batch) Request(signWith string) (chains.Request, error) {
	r := &batchRequest{batch: b}
	for i, part := range b.parts {
		request, err := part.Request(signWith)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label(i), err)
		}
		r.requests = append(r.requests, request)
	}
	return r, nil
}

type batchRequest struct {
	batch    *batch
	requests []chains.Request
}

// Locators implements chains.Request: they are the same for all messages of a chain.
func (r *batchRequest) Locators() []keystore.Locator { return r.requests[0].Locators() }

// With implements chains.Request.
func (r *batchRequest) With(keys ...keystore.Key) (chains.Signing, error) {
	s := &batchSigning{batch: r.batch}
	for i, request := range r.requests {
		signing, err := request.With(keys...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label(i), err)
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

// SignerView implements chains.Signing.
func (s *batchSigning) SignerView() []chains.Field { return s.signings[0].SignerView() }

// Effects implements chains.Signing.
func (s *batchSigning) Effects() (all []chains.Effect) {
	for i, signing := range s.signings {
		all = append(all, numbered(signing.Effects(), i)...)
	}
	return all
}

// Hazards implements chains.Signing.
func (s *batchSigning) Hazards() (all []chains.Hazard) {
	for i, signing := range s.signings {
		all = append(all, shifted(signing.Hazards(), s.batch.starts[i], len(s.batch.parts[i].Effects()))...)
	}
	return all
}

// AppendSigned implements chains.Signing: the signatures one behind the other, or
// none.
func (s *batchSigning) AppendSigned(ctx context.Context, dst []byte) ([]byte, error) {
	for _, signing := range s.signings {
		var err error
		if dst, err = signing.AppendSigned(ctx, dst); err != nil {
			return nil, err
		}
	}
	return dst, nil
}
