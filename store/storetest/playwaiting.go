package storetest

import (
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/internal/testkit/tape"
	"github.com/countersign-dev/countersign/store"
)

// What sequences choose from for the members that listings filter by.
var (
	users  = []string{"ann", "ben"}
	kinds  = []string{"SIGN", "VERIFY"}
	states = []string{"DONE", "REFUSED", ""}
)

func sameOf(same bool, before, chosen string) string {
	if same {
		return before
	}
	return chosen
}

// playReplace replaces an activity that may exist, may wait, and may be at that
// revision.
func (p *player) playReplace() {
	key := requestKey{tape.Pick(p.tape, organizations...), fingerprint(tape.Pick(p.tape, bodies...))}
	before, known := p.model.records[key]
	after := before
	after.OrganizationID, after.Fingerprint = key.organization, key.fingerprint
	after.Status, after.Waiting, after.Data, after.KeepUntil = tape.Pick(p.tape, states...), !p.tape.OneIn(3),
		p.tape.Bytes(p.tape.Intn(9)), farAway
	if p.tape.OneIn(4) {
		after.Revision++
	}
	script := p.script(key.organization)
	err := p.Replace(p.t.Context(), after, p.now, script.change())
	holder, taken := p.model.leases[key]
	switch {
	case !known || !before.Waiting || before.Revision != after.Revision:
		p.is(err, store.ErrChanged)
	case taken && p.now.Before(holder.over):
		p.is(err, store.ErrHeld)
	default:
		p.is(err, script.end)
		p.settle(key.organization, script, script.end == nil)
		delete(p.model.leases, key)
		if taken && script.end != nil {
			p.forget(holder)
		}
		if script.end == nil {
			after.Revision++
			p.model.records[key], p.model.ids[nameKey{key.organization, after.ID}] = after, after
		}
	}
}

// playList lists the activities that pass a filter.
func (p *player) playList() {
	organizationID := tape.Pick(p.tape, organizations...)
	filter := store.Filter{
		Before:  tape.Pick(p.tape, append(activityIDs, "", "", "")...),
		After:   tape.Pick(p.tape, append(activityIDs, "", "", "")...),
		Waiting: p.tape.OneIn(3), Limit: 1 + p.tape.Intn(4),
	}
	if p.tape.OneIn(3) {
		filter.Statuses = []string{tape.Pick(p.tape, states...), states[0]}
	}
	if p.tape.OneIn(3) {
		filter.Types = []string{tape.Pick(p.tape, kinds...)}
	}
	listed, err := p.List(p.t.Context(), organizationID, filter)
	p.noError(err)
	p.same(p.model.list(organizationID, filter), listed)
}

func (m *model) list(organizationID string, filter store.Filter) []store.Activity {
	var all []store.Activity
	for key, activity := range m.records {
		if key.organization == organizationID && filter.Holds(&activity) {
			all = append(all, activity)
		}
	}
	slices.SortFunc(all, func(a, b store.Activity) int { return strings.Compare(b.ID, a.ID) })
	if len(all) > filter.Limit && filter.Ascending() {
		return all[len(all)-filter.Limit:]
	}
	return all[:min(len(all), filter.Limit)]
}

// crowded reports whether too many others wait for an activity to wait too.
func (m *model) crowded(activity *store.Activity) bool {
	var others store.Crowd
	for key, other := range m.records {
		other.OrganizationID, other.Fingerprint = key.organization, key.fingerprint
		others.Count(activity, &other)
	}
	return activity.Admit(others) != nil
}

// checkWaiting compares the waiting activities, and those that Find returns.
func (p *player) checkWaiting() {
	p.t.Helper()
	waiting, err := p.Waiting(p.t.Context())
	p.noError(err)
	got := map[requestKey]store.Activity{}
	for _, activity := range waiting {
		got[requestKey{activity.OrganizationID, activity.Fingerprint}] = activity
	}
	want := map[requestKey]store.Activity{}
	for key, activity := range p.model.records {
		recorded, err := p.Find(p.t.Context(), key.organization, key.fingerprint)
		if activity.Waited() {
			p.noError(err)
			p.same(activity, recorded)
		} else {
			p.is(err, store.ErrNotFound)
		}
		if activity.Waiting {
			activity.Data = nil
			want[key] = activity
		}
	}
	p.same(want, got)
	_, err = p.Find(p.t.Context(), organization, fingerprint("of no activity"))
	p.is(err, store.ErrNotFound)
}
