package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/store"
)

var errKey = errors.New("a key is damaged")

// cutText returns a text with its length before it, and what follows.
func cutText(in []byte) (text string, rest []byte, err error) {
	length, n := binary.Uvarint(in)
	if n <= 0 || length > uint64(len(in)-n) {
		return "", nil, errKey
	}
	return string(in[n : n+int(length)]), in[n+int(length):], nil
}

func (s *Store) List(ctx context.Context, organizationID string,
	filter store.Filter) (activities []store.Activity, err error) {
	err = s.view(ctx, func(tx *transaction) error {
		activities, err = tx.list(ctx, organizationID, &filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	return filter.Ordered(activities), nil
}

// looks is after how many activities a listing looks whether its caller is still there.
const looks = 64

// list returns the activities of an organization that pass a filter.
func (t *transaction) list(ctx context.Context, organizationID string,
	filter *store.Filter) (activities []store.Activity, err error) {
	size := 0
	next := t.candidates(organizationID, filter)
	for n := 1; !filter.Full(len(activities), size); n++ {
		id := next()
		if id == nil {
			break
		}
		if err := ctx.Err(); n%looks == 0 && err != nil {
			return nil, err
		}
		activity, data, err := decodeHead(t.get(bucketActivities, within(organizationID, id)))
		if err != nil {
			return nil, fmt.Errorf("%w: activity %s: %w", store.ErrUnavailable, id, err)
		}
		activity.OrganizationID, activity.ID = organizationID, string(id)
		if filter.Holds(&activity) {
			activity.Data = slices.Clone(data)
			size += len(activity.Data)
			activities = append(activities, activity)
		}
	}
	return activities, nil
}

// candidates returns the ids of the activities that can pass a filter, one at each call, in
// the order of the filter; nil at the end. Types and statuses that the filter does not name
// are not read.
func (t *transaction) candidates(organizationID string, filter *store.Filter) (next func() []byte) {
	var walks []*walk
	switch {
	case filter.Waiting:
		walks = append(walks, t.ids(bucketWaiting, within(organizationID, nil), filter))
	case len(filter.Types)+len(filter.Statuses) == 0:
		walks = append(walks, t.ids(bucketActivities, within(organizationID, nil), filter))
	default:
		for _, group := range t.groups(organizationID, filter) {
			walks = append(walks, t.ids(bucketListing, group, filter))
		}
	}
	var last *walk
	return func() []byte {
		if last != nil {
			last.next()
		}
		last = nil
		for _, w := range walks {
			if w.key != nil && (last == nil || (bytes.Compare(w.rest(), last.rest()) < 0) != w.back) {
				last = w
			}
		}
		if last == nil {
			return nil
		}
		return slices.Clone(last.rest())
	}
}

// ids walks through the entries of a prefix, which are followed by ids, in the order and
// from the bound of a filter.
func (t *transaction) ids(bucket, prefix []byte, filter *store.Filter) *walk {
	if filter.Ascending() {
		return t.walk(bucket, prefix, append(slices.Clone(prefix), filter.After...), false)
	}
	return t.walk(bucket, prefix, endOf(prefix, filter.Before), true)
}

// endOf returns the end of the keys of a prefix that are less than an ID, or of all if the
// ID is empty.
func endOf(prefix []byte, id string) []byte {
	end := append(slices.Clone(prefix), id...)
	if id == "" {
		end = append(end, 0xff, 0xff) // IDs are UTF-8
	}
	return end
}

// groups returns what the keys of the listing begin with, for each type and status that an
// organization has activities of and that pass the filter. There are few.
func (t *transaction) groups(organizationID string, filter *store.Filter) (passing [][]byte) {
	prefix := within(organizationID, nil)
	for from := prefix; ; {
		w := t.walk(bucketListing, prefix, from, false)
		if w.key == nil {
			return passing
		}
		kind, rest, err := cutText(w.rest())
		var status string
		if err == nil {
			status, _, err = cutText(rest)
		}
		if err != nil {
			panic(errChecksum)
		}
		group := groupKey(organizationID, kind, status)
		if filter.HoldsGroup(kind, status) {
			passing = append(passing, group)
		}
		from = endOf(group, "")
	}
}
