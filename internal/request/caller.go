package request

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/stamp"
)

// Caller is the user who sent a request, authenticated by a stamp; or, for a call
// without a stamp, the user it is attributed to.
type Caller struct {
	Organization *access.Organization
	Member       *access.Member
	Stamp        *stamp.Stamp // nil for a call, whose member has no Credential
	Scheme       string       // of a call: how the program authenticated the user
}

// CheckType refuses a type that the caller may not submit: on submission, when an activity that
// waits is judged at a vote, and before it is carried out. A call has the right that its
// program passes and its entry in the directory grants at that time.
func (c *Caller) CheckType(ctx context.Context, directory access.Directory, kind activity.Type) error {
	who, entry := "this credential of user "+c.Member.User.ID, c.Member
	if c.Member.Credential == nil {
		granted, err := c.granted(ctx, directory)
		if err != nil {
			return err
		}
		who = fmt.Sprintf("user %s, recognized by %s,", c.Member.User.ID, c.Scheme)
		entry = &access.Member{Granted: granted}
	}
	if c.Member.May(kind) && entry.May(kind) {
		return nil
	}
	cure := ""
	if kind.Signs() || kind.MustBeNamed() {
		cure = ": its list of activities has to name the type"
	}
	return activity.NewError(activity.ReasonNotAuthorized, "type", access.ErrDenied,
		"not authorized: %s may not submit %s%s", who, kind, cure)
}

// granted returns what the directory's entry grants by which the user of a call is recognized.
func (c *Caller) granted(ctx context.Context, directory access.Directory) ([]activity.Type, error) {
	callers, ok := directory.(access.Callers)
	if !ok {
		return nil, nil
	}
	granted, err := callers.Granted(ctx, c.Organization.ID, c.Member.User.ID, c.Scheme)
	switch {
	case errors.Is(err, access.ErrCallerNotFound):
		return nil, activity.NewError(activity.ReasonNotAuthorized, "", err,
			"not authorized: no entry of the configuration recognizes user %s by %s any more",
			c.Member.User.ID, c.Scheme)
	case err != nil:
		return nil, refuse.Directory(err)
	}
	return granted, nil
}

// Vote returns the caller's stamp on an activity, as the record keeps it. message is
// the stamped body, or empty if that is the body of the activity.
func (c *Caller) Vote(selection activity.Selection, message string, stampedAt, now time.Time) activity.Vote {
	user := c.Member.User
	vote := activity.Vote{
		ID: NewID(), UserID: user.ID, UserName: user.Name, UserSince: user.CreatedAt,
		Scheme: c.Scheme, Selection: selection, Message: message, StampedAt: stampedAt, CreatedAt: now,
	}
	if c.Stamp != nil {
		vote.Credential = string(c.Member.Credential.ID())
		vote.PublicKey = c.Member.Credential.PublicKeyText()
		vote.Signature = c.Stamp.SignatureText()
		vote.Scheme = string(c.Stamp.Scheme())
	}
	return vote
}

// CredentialID identifies the caller's credential, of which a call has none.
func (c *Caller) CredentialID() string {
	if c.Member.Credential == nil {
		return ""
	}
	return string(c.Member.Credential.ID())
}

// Submitted reports whether an activity was submitted with the caller's credential, or in a
// call by the same user.
func (c *Caller) Submitted(record *activity.Record) bool {
	if c.Stamp == nil {
		return !record.Submitter().Stamped() && record.Submitter().UserID == c.Member.User.ID
	}
	return record.Submitter().Credential == string(c.Member.Credential.ID())
}

// VotedOn reports whether the caller's user has voted on an activity.
func (c *Caller) VotedOn(record *activity.Record) bool {
	return slices.ContainsFunc(record.Votes, func(vote activity.Vote) bool { return vote.UserID == c.Member.User.ID })
}
