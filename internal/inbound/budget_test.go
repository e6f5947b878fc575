package inbound

import "testing"

// TestKeptForVotes: however many hold what they can of a budget, votes have what is kept for them,
// and what holds nothing always has room.
func TestKeptForVotes(t *testing.T) {
	const limit = 1 << 20
	b := NewBudget(limit).KeepForVotes()
	for sharer := range 100 {
		for size := limit; size > 0; size /= 2 {
			for r := b.Reserve(sharer); r.Take(size); r = b.Reserve(sharer) {
			}
		}
	}
	if used := b.Used(); used != limit-limit/8 {
		t.Errorf("%d bytes are used, want %d", used, limit-limit/8)
	}
	if !b.Reserve("another").Take(0) {
		t.Error("no room for nothing")
	}
	vote := b.Reserve("voter")
	if vote.Take(1) {
		t.Error("what is kept is given to others")
	}
	vote.Vote()
	if !vote.Take(limit / 8) {
		t.Error("nothing is kept for a vote")
	}
	vote.Release()
	if used := b.Used(); used != limit-limit/8 {
		t.Errorf("after the vote %d bytes are used", used)
	}
}
