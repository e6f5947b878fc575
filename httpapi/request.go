package httpapi

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/inbound"
)

// allowedHeaders are the headers that a page in a browser may send.
const allowedHeaders = "content-type, x-stamp, x-stamp-webauthn, x-client-version"

// cors lets pages of the configured origins use the API (Fetch, section 3.2). It reports
// whether the request was a preflight, which it then has answered. Credentials are not
// allowed: only the stamp identifies the caller.
func (h *handler) cors(w http.ResponseWriter, r *http.Request) (answered bool) {
	if len(h.options.Origins) == 0 {
		return false
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if !slices.Contains(h.options.Origins, origin) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	w.Header().Set("Access-Control-Expose-Headers", RequestIDHeader+", Retry-After")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
	w.Header().Set("Access-Control-Allow-Headers", allowedHeaders)
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

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

// readBody reads a body of at most limit bytes. The caller releases memory when the request
// is done. More than inbound.FreeBody is held only for a request with a well-formed stamp.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request, limit int, memory *inbound.Reservation) ([]byte, error) {
	body, err := inbound.Body{Limit: limit, Timeout: h.options.BodyTimeout, Memory: memory, Long: func() error {
		_, err := access.ParseStamp(stamps(r.Header))
		return err
	}}.Read(w, r)
	switch {
	case errors.Is(err, inbound.ErrTooLong):
		err = activity.NewError(activity.ReasonRequestInvalid, "", nil,
			"the body is longer than %d bytes: split what it asks for; a PSBT is shorter with fewer inputs, or "+
				"with taproot inputs, which need no previous transactions, and 'countersign sign' takes up to 32 MiB", limit)
	case errors.Is(err, inbound.ErrLate):
		err = activity.NewError(activity.ReasonRequestInvalid, "", err,
			"the body did not arrive completely within %s", h.options.BodyTimeout)
	case errors.Is(err, inbound.ErrCutOff), errors.Is(err, inbound.ErrMalformed):
		err = activity.NewError(activity.ReasonRequestInvalid, "", err, "%v", err)
	case errors.Is(err, inbound.ErrNoRoom):
		err = errNoRoom()
	}
	return body, err
}

func errNoRoom() error {
	refused := activity.NewError(activity.ReasonUnavailable, "", nil, "%v", inbound.ErrNoRoom)
	refused.RetryAfter = time.Second
	return refused
}

// sharedBy returns the network whose share a request uses until its stamp is verified: an
// IPv4 address, or a /64 of IPv6. There is none for loopback and private addresses: a proxy
// for all clients may have one.
func sharedBy(r *http.Request) []inbound.Sharer {
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
	return []inbound.Sharer{prefix}
}
