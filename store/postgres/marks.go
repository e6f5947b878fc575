package postgres

import (
	"errors"
	"sync"
	"time"

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
	if head.Conflict == nil && head.Accepted.IsZero() {
		delete(m.log, organizationID)
		return
	}
	if m.log == nil {
		m.log = map[string]translog.Head{}
	}
	m.log[organizationID] = translog.Head{Conflict: head.Conflict, Accepted: head.Accepted}
}

// learn is set for locked heads.
func (m *marks) learn(heads logHeads) {
	for organizationID, head := range heads {
		if m.marked(organizationID) || head.Conflict != nil || !head.Accepted.IsZero() {
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
// request that an acceptance supersedes one that takes no lease, so that the request is
// answered if it is recorded.
func (m *marks) admit(claim *store.Claim) error {
	err := m.refusal(claim.OrganizationID, claim.Sent)
	if errors.Is(err, store.ErrStale) && claim.Revision == 0 {
		claim.LiveUntil = claim.Now.Add(-1)
		return nil
	}
	return err
}

// refusal returns what store.Admit does, nil without a log.
func (m *marks) refusal(organizationID string, sent time.Time) error {
	if sent.IsZero() {
		return nil
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	head := m.log[organizationID]
	return store.Admit(&head, sent)
}

// logHeads are the heads of locked logs, by organization.
type logHeads map[string]*translog.Head
