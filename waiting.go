package countersign

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/chains"
	"github.com/countersign-dev/countersign/chains/names"
	"github.com/countersign-dev/countersign/store"
)

// Bounds of how many activities wait. They keep a store and an approver's list from
// being flooded. Concurrent requests may exceed them by a few.
const (
	MaxWaitingOfUser         = 100
	MaxWaitingOfOrganization = store.MaxList
)

// withAges returns the groups with the default age of votes where a rule sets none.
func withAges(groups []access.Group) []access.Group {
	aged := slices.Clone(groups)
	for i := range aged {
		aged[i].Within = cmp.Or(aged[i].Within, DefaultVoteAge)
	}
	return aged
}

// wait records a request that needs votes. It ends the lease.
func (e *Engine) wait(ctx context.Context, s *submission) (*activity.Record, error) {
	record, err := e.waiting(ctx, s)
	if err == nil {
		err = e.complete(ctx, s.lease, record, nil)
	}
	if err != nil {
		e.release(ctx, s.lease, nil)
		return nil, err
	}
	return record, nil
}

// waiting returns the record of a request that needs votes.
func (e *Engine) waiting(ctx context.Context, s *submission) (*activity.Record, error) {
	if err := e.mayWait(ctx, s.caller); err != nil {
		return nil, err
	}
	reading, err := s.task.(*prepared).recordedReading(ctx, e.config.Names)
	if err != nil {
		return nil, err
	}
	record, err := e.newRecord(s)
	if err != nil {
		return nil, err
	}
	record.Status, record.Reading = activity.StatusConsensusNeeded, reading
	record.Decision.Charges = nil
	record.Decision.Required = recordedGroups(withAges(s.decision.Approvals))
	return record, nil
}

// mayWait refuses an activity beyond the bounds of how many may wait.
func (e *Engine) mayWait(ctx context.Context, submitter *caller) error {
	for _, bound := range []struct {
		user string
		most int
	}{{submitter.member.User.ID, MaxWaitingOfUser}, {"", MaxWaitingOfOrganization}} {
		waiting, err := e.config.Store.Count(ctx, submitter.organization.ID, store.Filter{Waiting: true, User: bound.user})
		if err != nil {
			return refuseStore(err)
		}
		if waiting >= bound.most {
			return activity.NewError(activity.ReasonRateLimitExceeded, "", nil,
				"%d activities wait for approvals, and no more may: have some approved or rejected", waiting)
		}
	}
	return nil
}

// recordedReading returns what a record keeps of a transaction that waits, and what its
// voters are shown.
func (p *prepared) recordedReading(ctx context.Context, book chains.Names) (*activity.Reading, error) {
	effects, err := p.effects(ctx)
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
	hazards := p.hazards
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

// recordedGroups returns groups as a record keeps them.
func recordedGroups(groups []access.Group) []activity.ApprovalGroup {
	kept := make([]activity.ApprovalGroup, len(groups))
	for i, group := range groups {
		kept[i].Group = group
	}
	return kept
}
