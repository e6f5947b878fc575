package store

import (
	"slices"
	"strings"
)

// Filter selects the activities that [Lister.List] returns. Empty members do not
// restrict the selection.
type Filter struct {
	Statuses []string
	Types    []string
	Before   string // only IDs that are less
	After    string // only IDs that are greater
	Waiting  bool   // only those that wait

	// Limit is the maximum number of activities, 1 to MaxList. With After and without
	// Before they are those with the lowest IDs, still in descending order, so that a
	// reader can follow new ones.
	Limit int
}

// MaxList bounds Filter.Limit.
const MaxList = 1000

// MaxListBytes bounds the memory of one call of List: a page ends with the activity
// that brings its Data to this many bytes.
const MaxListBytes = 1 << 20

// Full reports whether a page with count activities, and size bytes of Data, has no
// room for another.
func (f *Filter) Full(count, size int) bool { return count >= f.Most() || size >= MaxListBytes }

// HoldsGroup reports whether activities of a type and a status can pass the filter.
func (f *Filter) HoldsGroup(kind, status string) bool {
	return (len(f.Statuses) == 0 || slices.Contains(f.Statuses, status)) &&
		(len(f.Types) == 0 || slices.Contains(f.Types, kind))
}

// Holds reports whether an activity passes the filter.
func (f *Filter) Holds(activity *Activity) bool {
	return f.HoldsGroup(activity.Type, activity.Status) &&
		(f.Before == "" || strings.Compare(activity.ID, f.Before) < 0) &&
		(f.After == "" || strings.Compare(activity.ID, f.After) > 0) &&
		(!f.Waiting || activity.Waiting)
}

// Waited reports whether an activity waits or has waited: the end of one that waited is a
// later revision.
func (a *Activity) Waited() bool { return a.Waiting || a.Revision > 1 }

// Ascending reports whether the lowest IDs are wanted: see Limit.
func (f *Filter) Ascending() bool { return f.After != "" && f.Before == "" }

// Most returns Limit, within its bounds.
func (f *Filter) Most() int { return min(max(f.Limit, 1), MaxList) }

// Ordered puts activities that were found in the order of Ascending into descending order.
func (f *Filter) Ordered(activities []Activity) []Activity {
	if f.Ascending() {
		slices.Reverse(activities)
	}
	return activities
}
