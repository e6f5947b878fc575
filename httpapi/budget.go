package httpapi

import (
	"net/http"
	"net/netip"
	"sync"
)

// budget is memory that requests share. No address beyond loopback and private
// networks, behind which there may be a proxy for everyone, has more than a
// quarter of it.
type budget struct {
	most int

	mu     sync.Mutex
	used   int
	shares map[netip.Prefix]int
}

const sharesOfBudget = 4

func newBudget(most int) *budget { return &budget{most: most, shares: map[netip.Prefix]int{}} }

// reserve takes memory, if there is that much.
func (b *budget) reserve(from netip.Prefix, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+size > b.most || from.IsValid() && b.shares[from]+size > b.most/sharesOfBudget {
		return false
	}
	b.used += size
	if from.IsValid() {
		b.shares[from] += size
	}
	return true
}

// free gives back what was reserved.
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

// sharedBy returns the network that a request counts for: an address of IPv4, a
// /64 of IPv6. It is not valid where no share is kept.
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
	read int // for records, what was free included
}

// take reserves more.
func (r *reservation) take(size int) bool {
	if !r.of.reserve(r.from, size) {
		return false
	}
	r.size += size
	return true
}

// give gives some of it back.
func (r *reservation) give(size int) {
	r.of.free(r.from, size)
	r.size -= size
}

// release gives back all of it.
func (r *reservation) release() { r.give(r.size) }
