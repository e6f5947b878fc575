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
