package access

import (
	"context"
	"net/netip"

	"github.com/countersign-dev/countersign/stamp"
)

// Origin is where a request comes from, and what its server has room for. Package httpapi
// passes it to the engine with [WithOrigin]; a server that you write can do the same.
type Origin struct {
	RequestID string // of the server; the request is logged with it
	Remote    string // the address that the request came from; the request is logged with it

	// Address is the address of the client, for credentials that may only be used from some.
	// The zero Addr is in no network.
	Address netip.Addr

	// Room reserves size bytes of memory before records from the store are decoded. Its
	// error must be an *activity.Error, with which the request is answered. The engine
	// calls free for records that are not part of the answer. Default: memory is not
	// bounded.
	Room func(size int) (free func(), err error)

	// Verified is called with the sender of the request, after its stamp has been verified
	// and before anything else is done. Its error must be an *activity.Error, with which the
	// request is answered. Servers use it to give each credential its share of their
	// resources.
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
