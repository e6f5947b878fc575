package signing

import (
	"context"
	"encoding/json"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
)

// Recorded implements operation.SigningTask.
func (p *Prepared) Recorded(ctx context.Context, book chains.Names) (*activity.Reading, error) {
	effects, err := p.OwnEffects(ctx)
	if err != nil {
		return nil, err
	}
	summary, err := p.Summary().MarshalJSON()
	if err != nil {
		return nil, err
	}
	reading := &activity.Reading{
		KeyIDs: p.signing.KeyIDs(), Summary: string(summary), Sentences: names.Sentences(effects, book),
	}
	texts := make([]json.RawMessage, len(effects))
	for i := range effects {
		if texts[i], err = effects[i].MarshalJSON(); err != nil {
			return nil, err
		}
	}
	reading.Effects = joined(texts)
	texts = make([]json.RawMessage, len(p.reading))
	for i := range p.reading {
		if texts[i], err = json.Marshal(&p.reading[i]); err != nil {
			return nil, err
		}
	}
	reading.Readings = joined(texts)
	hazards := p.Hazards()
	if hazards == nil {
		hazards = []chains.Hazard{}
	}
	reading.Hazards, err = json.Marshal(hazards)
	return reading, err
}

// joined returns a JSON array of texts, which it copies byte for byte.
func joined(texts []json.RawMessage) string {
	array := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			array = append(array, ',')
		}
		array = append(array, text...)
	}
	return string(append(array, ']'))
}
