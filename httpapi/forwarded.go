package httpapi

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
)

// DefaultForwardedHeader is the default of Options.ForwardedHeader.
const DefaultForwardedHeader = "X-Forwarded-For"

// addressOf returns the address that a request comes from: the connection's peer or, if that is
// a proxy, the right-most address of the header that is none. Each proxy appends the address of
// its peer, so that a client can choose only what is further left. It is the zero Addr, which
// is in no network, for a unix socket and if the proxies name no client.
func (o *Options) addressOf(r *http.Request) (address netip.Addr, err error) {
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		address = peer.Addr().Unmap()
	}
	if len(o.ForwardedFrom) == 0 {
		return address, nil
	}
	values := r.Header.Values(o.ForwardedHeader)
	switch proxied := access.Within(o.ForwardedFrom, address); {
	case len(values) > 1:
		return address, o.forwardedError("%d headers: a proxy sends one, to which it appends", len(values))
	case len(values) == 1 && !proxied:
		return address, o.forwardedError("the header is taken only from the proxies of forwardedFrom")
	case !proxied:
		return address, nil
	case len(values) == 0:
		return netip.Addr{}, nil
	}
	for rest, more := values[0], true; more; {
		var last string
		if comma := strings.LastIndexByte(rest, ','); comma >= 0 {
			rest, last = rest[:comma], rest[comma+1:]
		} else {
			last, more = rest, false
		}
		address, err := netip.ParseAddr(strings.Trim(last, " \t"))
		if err != nil {
			return address, o.forwardedError("an entry is no address: a proxy appends that of its peer, without a port")
		}
		if !access.Within(o.ForwardedFrom, address) {
			return address.Unmap(), nil
		}
	}
	return netip.Addr{}, nil
}

// forwardedError refuses a request whose header cannot be believed.
func (o *Options) forwardedError(format string, args ...any) error {
	return activity.NewError(activity.ReasonRequestInvalid, "", nil, o.ForwardedHeader+": "+format, args...)
}
