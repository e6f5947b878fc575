package signing

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
)

func (p *Prepared) Recorded(ctx context.Context, book chains.Names) (*activity.Reading, error) {
	return recorded(ctx, p, book)
}

func recorded(ctx context.Context, task Task, book chains.Names) (*activity.Reading, error) {
	effects, err := task.OwnEffects(ctx)
	if err != nil {
		return nil, err
	}
	summary, err := task.Summary().MarshalJSON()
	if err != nil {
		return nil, err
	}
	reading := &activity.Reading{KeyIDs: task.KeyIDs(), Summary: string(summary)}
	_, reading.Sentences = names.Described(effects, book)
	texts := make([]json.RawMessage, len(effects))
	for i := range effects {
		if texts[i], err = effects[i].MarshalJSON(); err != nil {
			return nil, err
		}
	}
	reading.Effects = array(texts)
	readings := task.Readings()
	texts = make([]json.RawMessage, len(readings))
	for i := range readings {
		if texts[i], err = json.Marshal(&readings[i]); err != nil {
			return nil, err
		}
	}
	reading.Readings = array(texts)
	hazards := task.Hazards()
	if hazards == nil {
		hazards = []chains.Hazard{}
	}
	reading.Hazards, err = json.Marshal(hazards)
	return reading, err
}

// array returns a JSON array of texts, which it copies byte for byte.
func array(texts []json.RawMessage) string {
	array := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			array = append(array, ',')
		}
		array = append(array, text...)
	}
	return string(append(array, ']'))
}

// Did implements operation.SigningTask. There is a signature already, so that
// it does not fail: if the keystore cannot say what is change, nothing is called change.
func (p *Prepared) Did(ctx context.Context, book chains.Names) *activity.Did {
	return did(ctx, p, book)
}

func did(ctx context.Context, task Task, book chains.Names) *activity.Did {
	effects, err := task.OwnEffects(ctx)
	if err != nil {
		effects = task.Claimed()
	}
	did := &activity.Did{KeyIDs: task.KeyIDs(), Addresses: task.Addresses()}
	effects, sentences := names.Described(effects, book)
	if len(effects) > activity.MaxDidEffects {
		did.More = len(effects) - activity.MaxDidEffects
		effects = effects[:activity.MaxDidEffects]
	}
	did.Effects = make([]activity.DidEffect, len(effects))
	for i := range effects {
		did.Effects[i] = didEffect(&effects[i], book)
		did.Effects[i].Sentence = sentences[i]
	}
	return did
}

func didEffect(effect *chains.Effect, book chains.Names) activity.DidEffect {
	did := activity.DidEffect{Kind: string(effect.Kind), Change: effect.Change, Asset: effect.Asset.Text()}
	if !effect.To.IsNone() {
		did.To = effect.To.String()
	}
	if effect.Amount.IsNone() {
		return did
	}
	if effect.Amount.Bound != chains.BoundExact {
		did.Bound = string(effect.Amount.Bound)
	}
	if effect.Amount.Value == nil {
		did.Bound = cmp.Or(did.Bound, "unknown")
		return did
	}
	did.Amount = effect.Amount.Value.String()
	if symbol, decimals, ok := chains.TokenOf(effect.Asset, book); ok {
		did.Symbol, did.Amount = symbol, chains.Decimal(did.Amount, decimals)
	}
	return did
}
