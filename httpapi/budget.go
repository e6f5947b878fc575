package httpapi

import (
	"net/http"
	"net/netip"
	"sync"
)

// budget is a bound on memory that requests share. No single address gets more than a
// quarter of it, except loopback and private addresses: a proxy for all clients may have
// one.
type budget struct {
	limit int

	mu     sync.Mutex
	used   int
	shares map[netip.Prefix]int
}

const sharesOfBudget = 4

func newBudget(limit int) *budget { return &budget{limit: limit, shares: map[netip.Prefix]int{}} }

// reserve takes size bytes. It reports whether that much is left.
func (b *budget) reserve(from netip.Prefix, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+size > b.limit || from.IsValid() && b.shares[from]+size > b.limit/sharesOfBudget {
		return false
	}
	b.used += size
	if from.IsValid() {
		b.shares[from] += size
	}
	return true
}

// free returns reserved memory.
func (b *budget) free(from netip.Prefix, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= size
	if !from.IsValid() {
		return
	}
	if b.shares[from] -= size; b.shares[from] <= 0 {
		delete(b.shares, from)
	}
}

// sharedBy returns the network whose share a request uses: an IPv4 address, or a /64 of
// IPv6. It is invalid if the request is not subject to shares.
func sharedBy(r *http.Request) netip.Prefix {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	address := remote.Addr().Unmap()
	if address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() {
		return netip.Prefix{}
	}
	const ipv6Network = 64
	prefix, err := address.WithZone("").Prefix(min(address.BitLen(), ipv6Network))
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// reservation is the memory that one request holds.
type reservation struct {
	of   *budget
	from netip.Prefix
	size int
	read int // for records, including the free part
}

// take reserves more memory. It reports whether that much is left.
func (r *reservation) take(size int) bool {
	if !r.of.reserve(r.from, size) {
		return false
	}
	r.size += size
	return true
}

// give returns part of it.
func (r *reservation) give(size int) {
	r.of.free(r.from, size)
	r.size -= size
}

// release returns all of it.
func (r *reservation) release() { r.give(r.size) }
