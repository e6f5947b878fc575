package postgres

import (
	"errors"
	"sync"

	"github.com/countersign-dev/countersign/store"
	"github.com/countersign-dev/countersign/translog"
)

// marks are the marks of logs as this node last read them. With them, Begin refuses what
// Complete would, without a statement of its own: only the locked row of a head decides.
type marks struct {
	mu  sync.RWMutex
	log map[string]translog.Head // without edges; by organization; only marked logs
}

// set remembers the marks of a log.
func (m *marks) set(organizationID string, head *translog.Head) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !head.Marked() {
		delete(m.log, organizationID)
		return
	}
	if m.log == nil {
		m.log = map[string]translog.Head{}
	}
	m.log[organizationID] = translog.Head{Conflict: head.Conflict, Accepted: head.Accepted, Stops: head.Stops}
}

// learn is set for locked heads.
func (m *marks) learn(heads logHeads) {
	for organizationID, head := range heads {
		if m.marked(organizationID) || head.Marked() {
			m.set(organizationID, head)
		}
	}
}

func (m *marks) marked(organizationID string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, ok := m.log[organizationID]
	return ok
}

// admit returns store.ErrConflict if the log has a conflict. It makes the claim of a
// request that an acceptance supersedes, or a stop applies to, one that takes no lease, so that
// the request is answered if it is recorded.
func (m *marks) admit(claim *store.Claim) error {
	err := m.refusal(claim)
	if (errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrStopped)) && claim.Revision == 0 {
		claim.LiveUntil = claim.Now.Add(-1)
		return nil
	}
	return err
}

// refusal returns what store.Admit does, nil without a log.
func (m *marks) refusal(claim *store.Claim) error {
	if claim.Sent.IsZero() {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	head := m.log[claim.OrganizationID]
	return store.Admit(&head, claim.Sent, claim.Of)
}

// logHeads are the heads of locked logs, by organization.
type logHeads map[string]*translog.Head
