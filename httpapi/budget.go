package httpapi

import (
	"net/http"
	"net/netip"
	"sync"

	"github.com/countersign-dev/countersign/access"
)

// budget is a bound on memory that requests share. Each sharer may hold at most a third of
// what is then still free: one alone gets a quarter of the whole, and however many there are,
// the next one finds room. A single request of a sharer is bounded by the whole only.
type budget struct {
	limit int

	mu     sync.Mutex
	used   int
	shares map[sharer]int
}

// sharer is a network or a credential: a netip.Prefix or an access.Holder.
type sharer any

// leftToOthers is how many times a share has to be free beyond it.
const leftToOthers = 3

func newBudget(limit int) *budget { return &budget{limit: limit, shares: map[sharer]int{}} }

// reserve takes size more bytes for a request that holds some already, as a part of each of
// the shares. It reports whether that much is left.
func (b *budget) reserve(by []sharer, held, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+size > b.limit {
		return false
	}
	for _, one := range by {
		if others := b.shares[one] - held; others > 0 && !b.fits(b.shares[one]+size, b.used+size) {
			return false
		}
	}
	b.used += size
	for _, one := range by {
		b.shares[one] += size
	}
	return true
}

// fits reports whether a share leaves enough to others.
func (b *budget) fits(share, used int) bool { return leftToOthers*share <= b.limit-used }

// share makes what a request holds a part of one more share. It reports whether that one may
// have it.
func (b *budget) share(one sharer, held int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if others := b.shares[one]; held > 0 && others > 0 && !b.fits(others+held, b.used) {
		return false
	}
	b.shares[one] += held
	return true
}

// free returns reserved memory.
func (b *budget) free(by []sharer, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= size
	for _, one := range by {
		if b.shares[one] -= size; b.shares[one] <= 0 {
			delete(b.shares, one)
		}
	}
}

// sharedBy returns the network whose share a request uses until its stamp is verified: an
// IPv4 address, or a /64 of IPv6. There is none for loopback and private addresses: a proxy
// for all clients may have one.
func sharedBy(r *http.Request) []sharer {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return nil
	}
	address := remote.Addr().Unmap()
	if address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() {
		return nil
	}
	const ipv6Network = 64
	prefix, err := address.WithZone("").Prefix(min(address.BitLen(), ipv6Network))
	if err != nil {
		return nil
	}
	return []sharer{prefix}
}

// reservation is the memory that one request holds.
type reservation struct {
	of   *budget
	by   []sharer
	size int
	read int // for records, including the free part
}

// take reserves more memory. It reports whether that much is left.
func (r *reservation) take(size int) bool {
	if !r.of.reserve(r.by, r.size, size) {
		return false
	}
	r.size += size
	return true
}

// shareWith counts what is held, and what will be, for the credential that signed the request.
// It reports whether the credential may have that much.
func (r *reservation) shareWith(holder access.Holder) bool {
	if !r.of.share(holder, r.size) {
		return false
	}
	r.by = append(r.by[:len(r.by):len(r.by)], holder)
	return true
}

// give returns part of it.
func (r *reservation) give(size int) {
	r.of.free(r.by, size)
	r.size -= size
}

// release returns all of it.
func (r *reservation) release() { r.give(r.size) }
