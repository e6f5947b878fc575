package access

import (
	"context"

	"github.com/countersign-dev/countersign/stamp"
)

// Origin is where a request comes from, and what its server has room for. Package httpapi
// tells the engine, and so may a server of your own.
type Origin struct {
	RequestID string // of the server; the request is logged with it
	Remote    string // the address that the request came from; the request is logged with it

	// Room reserves memory before records that were read from the store are decoded: size
	// is in bytes. If it returns an error, which must be an *activity.Error, the request is
	// answered with it. The room is given back with free, which is called for records that
	// are not part of the answer. Default: memory is not bounded.
	Room func(size int) (free func(), err error)

	// Verified is told who sent the request, once its stamp has been verified and before
	// anything else is done. If it returns an error, which must be an *activity.Error, the
	// request is answered with it. A server gives each credential its share of what it has.
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
