package countersign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/internal/request"
	"github.com/countersign-dev/countersign/stamp"
)

// SignedBody is a request as it was sent: a body and the stamp over it.
type SignedBody struct {
	// Body is exactly what was sent. It must not be modified afterwards.
	Body []byte

	// Stamps are the headers that hold a stamp. The engine refuses a request that
	// has none or several.
	Stamps []stamp.Header

	// Path is the last element of the path that the body was sent to, such as
	// sign_transaction: see activity.Operation. If it is empty, the body may be of any type.
	Path string
}

// authenticate finds out who sent a body. An unknown organization, an unknown key, an
// expired key and a wrong signature get the same answer and take the same time; only
// the cause behind the error tells them apart.
func (e *Engine) authenticate(ctx context.Context, organizationID string, sent SignedBody) (*request.Caller, error) {
	parsed, err := access.ParseStamp(sent.Stamps)
	if err != nil {
		return nil, err
	}
	organization, member, err := e.lookUp(ctx, organizationID, parsed.CredentialID())
	switch {
	case errors.Is(err, access.ErrOrganizationNotFound), errors.Is(err, access.ErrCredentialNotFound):
		_ = stamp.VerifyDummy(parsed, sent.Body) // takes the time of a verification
		return nil, access.RefuseStamp(fmt.Errorf("%w: %s", err, refuse.Shorten(string(parsed.CredentialID()))))
	case err != nil:
		return nil, refuse.Directory(err)
	}
	if err := member.Credential.Verify(parsed, sent.Body, e.config.Now()); err != nil {
		return nil, access.RefuseStamp(err)
	}
	holder := access.Holder{OrganizationID: organizationID, CredentialID: parsed.CredentialID()}
	if err := access.OriginOf(ctx).Admit(holder); err != nil {
		return nil, err
	}
	return &request.Caller{Organization: organization, Member: member, Stamp: parsed}, nil
}

// lookUp returns the organization and the member that a request names. The member is
// also looked up if the organization does not exist: with a database as directory, one
// query less would reveal by its time which organizations exist.
func (e *Engine) lookUp(ctx context.Context, organizationID string, id stamp.ID,
) (*access.Organization, *access.Member, error) {
	organization, err := e.config.Directory.Organization(ctx, organizationID)
	if err != nil && !errors.Is(err, access.ErrOrganizationNotFound) {
		return nil, nil, err
	}
	member, memberErr := e.config.Directory.Member(ctx, organizationID, id)
	return organization, member, cmp.Or(err, memberErr)
}

// checkAddress refuses a request from an address that its credential does not list.
func checkAddress(ctx context.Context, caller *request.Caller) error {
	networks, address := caller.Member.Credential.Addresses, access.OriginOf(ctx).Address
	if len(networks) == 0 || access.Within(networks, address) {
		return nil
	}
	from := address.String()
	if !address.IsValid() {
		from = "here: the request has no address"
	}
	return activity.NewError(activity.ReasonNotAuthorized, "", access.ErrDenied,
		"not authorized: this credential of user %s has a list of addresses, and may not be used from %s",
		caller.Member.User.ID, from)
}

// checkTime refuses a request that is not live. It compares instants, since the
// difference of two that are more than 292 years apart does not fit a Duration.
func (e *Engine) checkTime(sent time.Time) error {
	now := e.config.Now()
	tooOld, tooNew := sent.Before(now.Add(-e.config.MaxRequestAge)), sent.After(now.Add(e.config.MaxRequestSkew))
	switch {
	case e.config.AnyRequestTime:
		return nil
	case tooOld && sent.Year() == 1970:
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is in 1970: expected milliseconds, not seconds")
	case tooOld && sent.Before(now.AddDate(-1, 0, 0)):
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is from %s, at most %s are allowed: make the request again",
			sent.UTC().Format(time.DateOnly), e.config.MaxRequestAge)
	case tooOld:
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is %s old, at most %s are allowed: make the request again",
			now.Sub(sent).Round(time.Millisecond), e.config.MaxRequestAge)
	case tooNew:
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is %s ahead, at most %s are allowed: set the clock",
			sent.Sub(now).Round(time.Millisecond), e.config.MaxRequestSkew)
	}
	return nil
}
