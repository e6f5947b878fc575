package access

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/countersign-dev/countersign/internal/plaintext"
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
