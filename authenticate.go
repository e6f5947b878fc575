package countersign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
)

// caller is the user who sent a request, authenticated by a stamp; or, for a call
// without a stamp, the user it is attributed to.
type caller struct {
	organization *access.Organization
	member       *access.Member
	stamp        *stamp.Stamp // nil for a call, whose member has no Credential
}

// checkType refuses a type that the caller's credential may not submit.
func (c *caller) checkType(kind activity.Type) error {
	if c.member.May(kind) {
		return nil
	}
	cure := ""
	if kind.MustBeNamed() {
		cure = ": its list of activities has to name the type"
	}
	return activity.NewError(activity.ReasonNotAuthorized, "type", nil,
		"not authorized: this credential may not submit %s%s", kind, cure)
}

// authenticate finds out who sent a body. An unknown organization, an unknown key, an
// expired key and a wrong signature get the same answer and take the same time; only
// the cause behind the error tells them apart.
func (e *Engine) authenticate(ctx context.Context, organizationID string, sent SignedBody) (*caller, error) {
	parsed, err := parseStamp(sent.Stamps)
	if err != nil {
		return nil, err
	}
	organization, member, err := e.lookUp(ctx, organizationID, parsed.CredentialID())
	switch {
	case errors.Is(err, access.ErrOrganizationNotFound), errors.Is(err, access.ErrCredentialNotFound):
		_ = stamp.VerifyDummy(parsed, sent.Body) // takes the time of a verification
		return nil, refuseStamp(fmt.Errorf("%w: %s", err, shorten(string(parsed.CredentialID()))))
	case err != nil:
		return nil, refuseDirectory(err)
	}
	if err := member.Credential.Verify(parsed, sent.Body, e.config.Now()); err != nil {
		return nil, refuseStamp(err)
	}
	return &caller{organization: organization, member: member, stamp: parsed}, nil
}

// CheckStamps refuses headers that Submit would refuse whatever the body: none,
// several, or a malformed stamp. A server calls it before it reads a long body. The
// error is an *activity.Error.
func CheckStamps(headers []stamp.Header) error {
	_, err := parseStamp(headers)
	return err
}

func parseStamp(headers []stamp.Header) (*stamp.Stamp, error) {
	if len(headers) != 1 {
		return nil, activity.NewError(activity.ReasonSignatureMissing, "", nil,
			"%d stamps: expected exactly one header, %s or %s", len(headers), stamp.HeaderAPIKey, stamp.HeaderPasskey)
	}
	parsed, err := stamp.Parse(headers[0])
	if err != nil {
		return nil, refuseStamp(err)
	}
	return parsed, nil
}

// lookUp returns the organization and the member that a request names. The member is
// also looked up if the organization does not exist: with a database as directory, one
// query less would reveal by its time which organizations exist.
func (e *Engine) lookUp(ctx context.Context, organizationID string, id stamp.ID) (*access.Organization, *access.Member, error) {
	organization, err := e.config.Directory.Organization(ctx, organizationID)
	if err != nil && !errors.Is(err, access.ErrOrganizationNotFound) {
		return nil, nil, err
	}
	member, memberErr := e.config.Directory.Member(ctx, organizationID, id)
	if err == nil {
		err = memberErr
	}
	return organization, member, err
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
	case tooOld:
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is %s old, at most %s are allowed: make the request again", now.Sub(sent).Round(time.Millisecond), e.config.MaxRequestAge)
	case tooNew:
		return activity.NewError(activity.ReasonInvalidTime, "timestampMs", nil,
			"timestampMs is %s ahead, at most %s are allowed: set the clock", sent.Sub(now).Round(time.Millisecond), e.config.MaxRequestSkew)
	}
	return nil
}

// organizationOf looks up an organization. It returns nil if there is no directory, or
// if the organization is not in it.
func (e *Engine) organizationOf(ctx context.Context, organizationID string) (*access.Organization, error) {
	if e.config.Directory == nil {
		return nil, nil
	}
	organization, err := e.config.Directory.Organization(ctx, organizationID)
	switch {
	case errors.Is(err, access.ErrOrganizationNotFound):
		return nil, nil
	case err != nil:
		return nil, refuseDirectory(err)
	}
	return organization, nil
}
