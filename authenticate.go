package countersign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/stamp"
)

// caller is the user that sent a request, known by a stamp that verified; or the one
// that a call without a stamp is judged as.
type caller struct {
	organization *Organization
	member       *Member
	sent         *stamp.Stamp // nil of a call, whose member has no Credential
	decision     Decision     // of the policy, once it was asked
	waits        bool         // the decision needs more votes than the caller's
}

// may reports whether the caller's credential may submit activities of a type.
// Some types it has to name.
func (c *caller) may(kind activity.Type) bool {
	credential := c.member.Credential
	if kind.MustBeNamed() {
		return slices.Contains(credential.Activities, string(kind))
	}
	return credential.Allows(string(kind))
}

// refuseType refuses a type that the caller's credential may not submit.
func (c *caller) refuseType(kind activity.Type) error {
	cure := ""
	if kind.MustBeNamed() {
		cure = ": its list of activities has to name the type"
	}
	return activity.NewError(activity.ReasonNotAuthorized, "type", nil,
		"not authorized: this credential may not submit %s%s", kind, cure)
}

// votes are those of a request that was just made: the submitter's own.
func (c *caller) votes(now time.Time) []Vote {
	return []Vote{{User: c.member.User, Credential: c.member.Credential, At: now}}
}

// authenticate finds out who sent a body. Up to there an unknown organization,
// an unknown key, an expired one and a wrong signature are the same answer, and
// take the same time; the cause behind the error tells them apart.
func (e *Engine) authenticate(ctx context.Context, organizationID string, headers []stamp.Header, body []byte) (*caller, error) {
	sent, err := parseStamp(headers)
	if err != nil {
		return nil, err
	}
	organization, member, err := e.lookUp(ctx, organizationID, sent.CredentialID())
	switch {
	case errors.Is(err, ErrOrganizationNotFound), errors.Is(err, ErrCredentialNotFound):
		_ = stamp.VerifyDummy(sent, body) // for the time that it takes
		return nil, refuseStamp(fmt.Errorf("%w: %s", err, shorten(string(sent.CredentialID()))))
	case err != nil:
		return nil, activity.NewError(activity.ReasonUnavailable, "", err, "the directory of organizations cannot be read: try again")
	}
	if err := member.Credential.Verify(sent, body, e.config.Now()); err != nil {
		return nil, refuseStamp(err)
	}
	return &caller{organization: organization, member: member, sent: sent}, nil
}

// CheckStamps refuses headers that Submit would refuse whatever the body: no
// stamp or several, or one that is malformed. A server calls it before it takes
// in a long body. The error is an *activity.Error.
func CheckStamps(headers []stamp.Header) error {
	_, err := parseStamp(headers)
	return err
}

func parseStamp(headers []stamp.Header) (*stamp.Stamp, error) {
	if len(headers) != 1 {
		return nil, activity.NewError(activity.ReasonSignatureMissing, "", nil,
			"%d stamps: exactly one header %s or %s is expected", len(headers), stamp.HeaderAPIKey, stamp.HeaderPasskey)
	}
	sent, err := stamp.Parse(headers[0])
	if err != nil {
		return nil, refuseStamp(err)
	}
	return sent, nil
}

func (e *Engine) lookUp(ctx context.Context, organizationID string, id stamp.ID) (*Organization, *Member, error) {
	organization, err := e.config.Directory.Organization(ctx, organizationID)
	if err != nil && !errors.Is(err, ErrOrganizationNotFound) {
		return nil, nil, err
	}
	// Also where there is no such organization: a directory that is a database
	// would be asked once less, and the time would tell.
	member, memberErr := e.config.Directory.Member(ctx, organizationID, id)
	if err == nil {
		err = memberErr
	}
	return organization, member, err
}

// vote is the caller's stamp on an activity, as the record keeps it. message is
// the stamped body, empty if it is that of the activity.
func (c *caller) vote(selection activity.Selection, message string, stampedAt, now time.Time) (activity.Vote, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return activity.Vote{}, activity.NewError(activity.ReasonInternal, "", err, "no randomness for the vote's id")
	}
	if c.sent == nil {
		return c.localVote(id, stampedAt, now), nil
	}
	return activity.Vote{
		ID:         id.String(),
		UserID:     c.member.User.ID,
		UserName:   c.member.User.Name,
		UserSince:  c.member.User.CreatedAt,
		Credential: string(c.member.Credential.ID()),
		PublicKey:  c.member.Credential.PublicKeyText(),
		Signature:  c.sent.SignatureText(),
		Scheme:     string(c.sent.Scheme()),
		Selection:  selection,
		Message:    message,
		StampedAt:  stampedAt,
		CreatedAt:  now,
	}, nil
}
