// Package inbound reads the bodies of requests within memory that all of them share. It is
// what the HTTP API and the JSON-RPC API have in common.
package inbound

import "sync"

// Budget is a bound on memory that requests share. Each sharer may hold at most a third of
// what is then still free: one alone gets a quarter of the whole, and however many there are,
// the next one finds room. A single request of a sharer is bounded by the whole only.
type Budget struct {
	limit int
	kept  int // for reservations of Vote

	mu     sync.Mutex
	used   int
	shares map[Sharer]int
}

// Sharer is what has a share, such as a network or a credential. It must be comparable.
type Sharer any

// leftToOthers is how many times a share has to be free beyond it.
const leftToOthers = 3

// NewBudget returns a budget of some bytes.
func NewBudget(limit int) *Budget { return &Budget{limit: limit, shares: map[Sharer]int{}} }

// KeepForVotes keeps an eighth of the budget for reservations of Vote.
func (b *Budget) KeepForVotes() *Budget {
	const eighth = 8
	b.kept = b.limit / eighth
	return b
}

// Used returns how many bytes are reserved.
func (b *Budget) Used() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// reserve takes size more bytes for a request that holds some already, as a part of each of
// the shares. It reports whether that much is left.
func (b *Budget) reserve(by []Sharer, held, size int, votes bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	limit := b.limit
	if !votes {
		limit -= b.kept
	}
	if b.used+size > limit {
		return false
	}
	for _, sharer := range by {
		if others := b.shares[sharer] - held; others > 0 && !b.fits(b.shares[sharer]+size, b.used+size) {
			return false
		}
	}
	b.used += size
	for _, sharer := range by {
		b.shares[sharer] += size
	}
	return true
}

// fits reports whether a share leaves enough to others.
func (b *Budget) fits(share, used int) bool { return leftToOthers*share <= b.limit-used }

// Reservation is the memory that one request holds.
type Reservation struct {
	of    *Budget
	by    []Sharer
	size  int
	votes bool
}

// Vote lets the reservation have what is kept for votes: however much other requests hold, an
// activity that waits can be decided.
func (r *Reservation) Vote() { r.votes = true }

// Reserve returns a reservation of nothing yet, which is a part of some shares.
func (b *Budget) Reserve(by ...Sharer) *Reservation { return &Reservation{of: b, by: by} }

// Take reserves more memory. It reports whether that much is left.
func (r *Reservation) Take(size int) bool {
	if size > 0 && !r.of.reserve(r.by, r.size, size, r.votes) {
		return false
	}
	r.size += size
	return true
}

// ShareWith makes what is held, and what will be, a part of one more share, such as that of the
// credential that signed the request. It reports whether that one may have so much.
func (r *Reservation) ShareWith(sharer Sharer) bool {
	b := r.of
	b.mu.Lock()
	defer b.mu.Unlock()
	if others := b.shares[sharer]; r.size > 0 && others > 0 && !b.fits(others+r.size, b.used) {
		return false
	}
	b.shares[sharer] += r.size
	r.by = append(r.by[:len(r.by):len(r.by)], sharer)
	return true
}

// Give returns part of it.
func (r *Reservation) Give(size int) {
	b := r.of
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= size
	for _, sharer := range r.by {
		if b.shares[sharer] -= size; b.shares[sharer] <= 0 {
			delete(b.shares, sharer)
		}
	}
	r.size -= size
}

// Release returns all of it.
func (r *Reservation) Release() { r.Give(r.size) }
