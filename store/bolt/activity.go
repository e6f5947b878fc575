package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/store"
)

// activityVersion is the first byte of an encoded activity.
const activityVersion = 3

// fixedSize is the length of the members of fixed length, including the version.
const fixedSize = 1 + 8 + 32 + 8 + 8 + 1

// encodeActivity writes
//
//	version 3 ‖ at 8 ‖ fingerprint 32 ‖ keepUntil 8 ‖ revision 8 ‖ waiting 1 ‖
//	submittedBy ‖ user ‖ type ‖ status, each with its length before it as a uvarint ‖ data
func encodeActivity(activity *store.Activity) []byte {
	texts := len(activity.SubmittedBy) + len(activity.User) + len(activity.Type) + len(activity.Status)
	out := make([]byte, 0, fixedSize+4*binary.MaxVarintLen16+texts+len(activity.Data))
	out = append(out, activityVersion)
	out = binary.BigEndian.AppendUint64(out, uint64(activity.At))
	out = append(out, activity.Fingerprint[:]...)
	out = binary.BigEndian.AppendUint64(out, uint64(activity.KeepUntil.UnixMilli()))
	out = binary.BigEndian.AppendUint64(out, activity.Revision)
	waiting := byte(0)
	if activity.Waiting {
		waiting = 1
	}
	out = append(out, waiting)
	for _, text := range []string{activity.SubmittedBy, activity.User, activity.Type, activity.Status} {
		out = binary.AppendUvarint(out, uint64(len(text)))
		out = append(out, text...)
	}
	return append(out, activity.Data...)
}

// decodeHead decodes everything but the data, which it returns without copying.
func decodeHead(in []byte) (activity store.Activity, data []byte, err error) {
	switch {
	case len(in) == 0:
		return activity, nil, errors.New("the record is damaged: it is empty")
	case in[0] != activityVersion:
		return activity, nil, fmt.Errorf("the record has version %d; this program reads %d", in[0], activityVersion)
	}
	if len(in) < fixedSize || in[fixedSize-1] > 1 {
		return activity, nil, errors.New("the record is damaged: its head is not whole")
	}
	fixed, rest := in[1:fixedSize], in[fixedSize:]
	activity.At = int64(binary.BigEndian.Uint64(fixed))
	copy(activity.Fingerprint[:], fixed[8:40])
	activity.KeepUntil = time.UnixMilli(int64(binary.BigEndian.Uint64(fixed[40:48]))).UTC()
	activity.Revision = binary.BigEndian.Uint64(fixed[48:56])
	activity.Waiting = fixed[56] == 1
	for _, text := range []*string{&activity.SubmittedBy, &activity.User, &activity.Type, &activity.Status} {
		if *text, rest, err = cutText(rest); err != nil {
			return activity, nil, errors.New("the record is damaged: its lengths do not fit")
		}
	}
	return activity, rest, nil
}

// record writes a new activity, or replaces the one that waited.
func (t *transaction) record(activity *store.Activity) error {
	before, err := t.recorded(activity.OrganizationID, activity.At, activity.Fingerprint)
	if err != nil {
		return err
	}
	key := within(activity.OrganizationID, []byte(activity.ID))
	if before == nil && t.get(bucketActivities, key) != nil || before != nil && before.ID != activity.ID {
		return fmt.Errorf("store: activity id %s is taken", activity.ID)
	}
	activity.Revision = 1
	if before != nil {
		activity.Revision = before.Revision + 1
	}
	return t.write(activity, before)
}

// write writes an activity in place of before, which is nil for a new one, with its index
// entries, its event and its leaf.
func (t *transaction) write(activity, before *store.Activity) error {
	key := within(activity.OrganizationID, []byte(activity.ID))
	t.put(bucketActivities, key, encodeActivity(activity))
	t.index(activity, before, key)
	if activity.Event != nil {
		if err := t.addEvent(activity.OrganizationID, activity.ID, firstClass, activity.Event); err != nil {
			return err
		}
	}
	if activity.Leaf == nil {
		return nil
	}
	head, err := t.logHead(activity.OrganizationID)
	if err == nil {
		err = activity.Restop(&head)
	}
	if err != nil {
		return err
	}
	t.appendTo(&head, activity.OrganizationID, activity.ID, activity.Leaf)
	t.put(bucketHeads, within(activity.OrganizationID, nil), head.Encode())
	return nil
}

// index writes the entries under which an activity is found other than by its id. An
// activity that waited keeps its place under its request, wherever that is.
func (t *transaction) index(activity, before *store.Activity, key []byte) {
	organization, id := activity.OrganizationID, []byte(activity.ID)
	if before == nil {
		t.put(bucketRequests, requestKey(organization, activity.At, activity.Fingerprint), id)
	}
	waited := before != nil && before.Waiting
	switch {
	case activity.Waiting && !waited:
		t.put(bucketWaited, within(organization, activity.Fingerprint[:]), id)
		t.put(bucketWaiting, key, nil)
	case waited && !activity.Waiting:
		t.remove(bucketWaiting, key)
	}
	listed := listingKey(activity)
	if before != nil {
		was := listingKey(before)
		if bytes.Equal(was, listed) {
			return
		}
		t.remove(bucketListing, was)
	}
	t.put(bucketListing, listed, nil)
}
