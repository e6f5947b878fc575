package access

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/stamp"
)

// ParseNetwork parses a network in CIDR notation (RFC 4632), such as 10.0.0.0/8, or one address.
// A network of IPv4-mapped IPv6 addresses (::ffff:0:0/96) is that of the IPv4 addresses.
func ParseNetwork(text string) (netip.Prefix, error) {
	const mapped = 96 // bits before the IPv4 address
	shown := plaintext.Shorten(text, maxShown)
	network, err := netip.ParsePrefix(text)
	if err != nil {
		address, err := netip.ParseAddr(text)
		if err != nil || address.Zone() != "" {
			return network, fmt.Errorf("%q is neither a network nor an address: write it as 10.0.0.0/8, 192.0.2.7 or "+
				"2001:db8::/32", shown)
		}
		network = netip.PrefixFrom(address, address.BitLen())
	}
	switch {
	case network != network.Masked():
		return network, fmt.Errorf("%s has bits set behind its prefix: write %s for the network, or %s for the address",
			shown, network.Masked(), network.Addr())
	case network.Addr().Is4In6():
		return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped), nil
	}
	return network, nil
}

// ParseNetworks parses a list of networks. Its errors begin with the index of the item.
func ParseNetworks(texts []string) (networks []netip.Prefix, err error) {
	for i, text := range texts {
		network, err := ParseNetwork(text)
		if err != nil {
			return nil, entryError(fmt.Sprintf("[%d]", i), "[%d]: %w", i, err)
		}
		networks = append(networks, network)
	}
	return networks, nil
}

// Within reports whether an address is in one of the networks. An IPv4-mapped IPv6 address is
// the IPv4 address, and the zero Addr is in none.
func Within(networks []netip.Prefix, address netip.Addr) bool {
	address = address.Unmap().WithZone("")
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(address) })
}

// Origin is where a request comes from, and what its server has room for. Package httpapi
// passes it to the engine with [WithOrigin]; a server that you write can do the same.
type Origin struct {
	RequestID string // of the server; the request is logged with it
	Remote    string // the address that the request came from; the request is logged with it

	// Address is the address of the client, for credentials that may only be used from some.
	// The zero Addr is in no network.
	Address netip.Addr

	// Room reserves size bytes of memory before records from the store are decoded. Its error must
	// be an *activity.Error, with which the request is answered. The engine calls free for records
	// that are not part of the answer. Default: memory is not bounded.
	Room func(size int) (free func(), err error)

	// Verified is called with the sender of the request, after its stamp has been verified and
	// before anything else is done. Its error must be an *activity.Error, with which the request is
	// answered. Servers use it to give each credential its share of their resources.
	Verified func(by Holder) error
}

// Holder is a credential of an organization, to which a server gives a share of its resources.
type Holder struct {
	OrganizationID string
	CredentialID   stamp.ID
}

type originKey struct{}

// WithOrigin returns a context whose requests come from an origin.
func WithOrigin(ctx context.Context, origin Origin) context.Context {
	return context.WithValue(ctx, originKey{}, origin)
}

// OriginOf returns the origin of a request, or the zero Origin.
func OriginOf(ctx context.Context) Origin {
	origin, _ := ctx.Value(originKey{}).(Origin)
	return origin
}

// Reserve calls Room, if there is one.
func (o Origin) Reserve(size int) (free func(), err error) {
	if o.Room == nil {
		return func() {}, nil
	}
	return o.Room(size)
}

// Admit calls Verified, if there is one.
func (o Origin) Admit(by Holder) error {
	if o.Verified == nil {
		return nil
	}
	return o.Verified(by)
}
