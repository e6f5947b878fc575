package records

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/store"
)

// Tell returns the event for a record that is about to be written, or nil if there is none to
// send. missing is the number of votes that the activity still needs.
func (k *Keeper) Tell(record *activity.Record, missing int) (*store.Event, error) {
	var sentences []string
	if record.Reading != nil {
		sentences = record.Reading.Sentences
	}
	return k.tell(record, sentences, missing)
}

// tellCompleted is Tell for what was carried out, whose record need not say what it did.
func (k *Keeper) tellCompleted(ctx context.Context, s *request.Submission, record *activity.Record,
) (*store.Event, error) {
	signs := s.Signs()
	if record.Reading != nil || signs == nil || !slices.Contains(k.Events, activity.EventCompleted) {
		return k.Tell(record, 0)
	}
	reading, err := signs.Recorded(context.WithoutCancel(ctx), k.Names)
	if err != nil { // it is signed: an event that says less is better than none
		return k.Tell(record, 0)
	}
	return k.tell(record, reading.Sentences, 0)
}

func (k *Keeper) tell(record *activity.Record, sentences []string, missing int) (*store.Event, error) {
	if len(k.Events) == 0 {
		return nil, nil
	}
	event := activity.EventOf(record, sentences, missing)
	if !slices.Contains(k.Events, event.Type) {
		return nil, nil
	}
	data, err := event.Encode()
	if err != nil {
		return nil, activity.NewError(activity.ReasonInternal, "", err, "the event cannot be written")
	}
	return &store.Event{ID: "evt_" + request.NewID(), At: event.Timestamp, Data: data}, nil
}
