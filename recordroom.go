package countersign

import (
	"context"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/store"
)

// RecordRoom is asked before records take so many bytes of memory. Its error, an
// *activity.Error, is answered instead. What it returns gives the room back, for
// records that are not part of the answer.
type RecordRoom func(size int) (free func(), err error)

type recordRoomKey struct{}

// WithRecordRoom returns a context whose requests ask for room before they
// decode a record that is read from the store: a server bounds its memory by it.
func WithRecordRoom(ctx context.Context, room RecordRoom) context.Context {
	return context.WithValue(ctx, recordRoomKey{}, room)
}

// decodedCopies is how often a record is in memory while it is decoded, about.
const decodedCopies = 3

// roomFor asks for room for records.
func roomFor(ctx context.Context, size int) (free func(), err error) {
	if room, ok := ctx.Value(recordRoomKey{}).(RecordRoom); ok {
		return room(size)
	}
	return func() {}, nil
}

func decodeRecorded(ctx context.Context, recorded *store.Activity) (*activity.Record, error) {
	if _, err := roomFor(ctx, decodedCopies*len(recorded.Data)); err != nil {
		return nil, err
	}
	record, err := activity.DecodeRecord(recorded.Data)
	if err != nil {
		return nil, activity.NewError(activity.ReasonInternal, "", err, "a recorded activity cannot be read")
	}
	return record, nil
}
