package countersign

import (
	"context"
	"encoding/json"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/store"
)

// Bounds of the activities that wait. They keep a store and an approver's list
// from being flooded; a few more may get in at the same time.
const (
	MaxWaitingOfUser         = 100
	MaxWaitingOfOrganization = store.MaxList
)

// waits reports whether a request needs more votes than its own. A request that
// does, and cannot wait, is refused.
func waits(decision *Decision, votes []Vote, by *caller, task work, now time.Time) (bool, error) {
	groups := withAges(decision.Approvals)
	refused := refuseWaiting(groups, votes, by.member.User.ID, now)
	if refused == nil {
		return false, nil
	}
	if _, signs := task.(*signing); !signs || by.sent == nil || len(decision.Rules) == 0 {
		return false, refused
	}
	return true, nil
}

// withAges gives groups whose rule does not say for how long a vote counts the
// default.
func withAges(groups []Approval) []Approval {
	aged := make([]Approval, len(groups))
	for i, group := range groups {
		if group.Within == 0 {
			group.Within = DefaultVoteAge
		}
		aged[i] = group
	}
	return aged
}

// wait records a request that needs votes. It ends the lease.
func (e *Engine) wait(ctx context.Context, by *caller, request *activity.Request, task work, lease store.Lease) (*activity.Record, error) {
	record, err := e.waiting(ctx, by, request, task.(*signing))
	if err == nil {
		err = e.complete(ctx, lease, record, nil)
	}
	if err != nil {
		e.release(ctx, lease, nil)
		return nil, err
	}
	return e.shownTo(ctx, by, record)
}

// waiting makes the record of a request that needs votes.
func (e *Engine) waiting(ctx context.Context, by *caller, request *activity.Request, task *signing) (*activity.Record, error) {
	if err := e.mayWait(ctx, by); err != nil {
		return nil, err
	}
	reading, err := task.read(ctx, e.config.Names)
	if err != nil {
		return nil, err
	}
	record, err := e.newRecord(by, request)
	if err != nil {
		return nil, err
	}
	record.Status, record.Reading = activity.StatusConsensusNeeded, reading
	record.Decision.Charges = nil
	record.Decision.Required = recordedGroups(withAges(by.decision.Approvals))
	return record, nil
}

// mayWait refuses one activity more than may wait.
func (e *Engine) mayWait(ctx context.Context, by *caller) error {
	for _, bound := range []struct {
		user string
		most int
	}{{by.member.User.ID, MaxWaitingOfUser}, {"", MaxWaitingOfOrganization}} {
		found, err := e.config.Store.Count(ctx, by.organization.ID, store.Filter{Waiting: true, User: bound.user})
		if err != nil {
			return refuseStore(err)
		}
		if found >= bound.most {
			return activity.NewError(activity.ReasonRateLimitExceeded, "", nil,
				"%d activities wait for approvals, and no more may: have some approved or rejected", found)
		}
	}
	return nil
}

// read returns what is kept and shown of a transaction that waits.
func (s *signing) read(ctx context.Context, known chains.Names) (*activity.Reading, error) {
	effects, err := s.prepared.Effects(ctx)
	if err != nil {
		return nil, err
	}
	reading := &activity.Reading{KeyIDs: s.prepared.KeyIDs()}
	summary, err := s.summary().MarshalJSON()
	if err != nil {
		return nil, err
	}
	reading.Summary = string(summary)
	texts := make([]json.RawMessage, len(effects))
	for i := range effects {
		if texts[i], err = effects[i].MarshalJSON(); err != nil {
			return nil, err
		}
	}
	reading.Sentences = names.Sentences(effects, known)
	reading.Effects = joined(texts)
	texts = make([]json.RawMessage, len(s.prepared.reading))
	for i := range s.prepared.reading {
		if texts[i], err = json.Marshal(&s.prepared.reading[i]); err != nil {
			return nil, err
		}
	}
	reading.Readings = joined(texts)
	hazards := s.hazards()
	if hazards == nil {
		hazards = []chains.Hazard{}
	}
	reading.Hazards, err = json.Marshal(hazards)
	return reading, err
}

// joined writes an array of JSON texts as they are.
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

// recordedGroups are groups as a record keeps them.
func recordedGroups(groups []Approval) []activity.ApprovalGroup {
	kept := make([]activity.ApprovalGroup, len(groups))
	for i, group := range groups {
		kept[i] = activity.ApprovalGroup{
			Rule: group.Rule, Count: group.Count, Tag: group.Tag, Users: group.Users,
			NotSubmitter: group.NotSubmitter, Passkey: group.Passkey, Within: group.Within,
		}
	}
	return kept
}

// groupsOf are the groups that a record has kept.
func groupsOf(kept []activity.ApprovalGroup) []Approval {
	groups := make([]Approval, len(kept))
	for i, group := range kept {
		groups[i] = Approval{
			Rule: group.Rule, Count: group.Count, Tag: group.Tag, Users: group.Users,
			NotSubmitter: group.NotSubmitter, Passkey: group.Passkey, Within: group.Within,
		}
	}
	return groups
}
