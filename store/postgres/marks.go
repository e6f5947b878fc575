package postgres

import (
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
	m.log[organizationID] = translog.Head{Conflict: head.Conflict, Accepted: head.Accepted, Stops: head.Stops,
		Moved: head.Moved}
}

// learn is set for locked heads.
func (m *marks) learn(heads logHeads) {
	for organizationID, head := range heads {
		m.mu.RLock()
		_, marked := m.log[organizationID]
		m.mu.RUnlock()
		if marked || head.Marked() {
			m.set(organizationID, head)
		}
	}
}

// refusal returns what store.Admit does, nil without a log that has not moved.
func (m *marks) refusal(claim *store.Claim) error {
	m.mu.RLock()
	defer m.mu.RUnlock()
	head := m.log[claim.OrganizationID]
	if claim.Sent.IsZero() && !head.Moved {
		return nil
	}
	return store.Admit(&head, claim.Sent, claim.Of)
}

type logHeads map[string]*translog.Head
