package httpapi

import (
	"errors"
	"net/http"
	"net/netip"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/inbound"
)

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
