package request

import (
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
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

// CheckType refuses a type that the caller's credential may not submit.
func (c *Caller) CheckType(kind activity.Type) error {
	if c.Member.May(kind) {
		return nil
	}
	cure := ""
	if kind.MustBeNamed() {
		cure = ": its list of activities has to name the type"
	}
	return activity.NewError(activity.ReasonNotAuthorized, "type", nil,
		"not authorized: this credential may not submit %s%s", kind, cure)
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
