package access

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/plaintext"
	"github.com/countersign-dev/countersign/stamp"
)

// Errors of a Directory, for errors.Is.
var (
	ErrOrganizationNotFound = errors.New("countersign: no such organization")
	ErrCredentialNotFound   = errors.New("countersign: no such credential")
	ErrUserNotFound         = errors.New("countersign: no such user")
	ErrCallerNotFound       = errors.New("countersign: no such caller")
)

// Organization owns keys, credentials and activities. Nothing that belongs to one
// organization can be found from another.
type Organization struct {
	ID   string
	Name string

	// AllowHazards names the hazards that may be signed for this organization, in
	// addition to those of Config.AllowHazards.
	AllowHazards []string

	// ResumeApprovals is how many users have to ask for the end of a halt; 0 is 1.
	ResumeApprovals int
}

// User is a person or a program of an organization.
type User struct {
	ID        string
	Name      string
	Tags      []string  // groups that policies name
	CreatedAt time.Time // zero if it is not known
}

// Member is a credential and the user it belongs to, or a user who calls without one.
type Member struct {
	User       User
	Credential *stamp.Credential // nil for a call without a stamp
	Granted    []activity.Type   // of a call without a stamp; nil for all that [CheckGranted] takes
}

// May reports whether the member's credential may submit activities of a type. Some
// types it has to name: see [activity.Type.MustBeNamed]. A user without a credential, who
// calls as by Engine.As, may have transactions and messages signed, as far as that was
// granted: never vote, send or redeem a code, or administer.
func (m *Member) May(kind activity.Type) bool {
	if m.Credential == nil {
		return kind.Signs() && (m.Granted == nil || slices.Contains(m.Granted, kind))
	}
	if kind.MustBeNamed() {
		return slices.Contains(m.Credential.Activities, string(kind))
	}
	return m.Credential.Allows(string(kind))
}

// Directory knows the organizations, their users and their credentials. NewDirectory
// returns one that is read from a configuration; an embedder can use a database.
// Implementations must be safe for concurrent use, and must not modify what they have
// returned.
//
// Any error other than those named here is answered as unavailable.
type Directory interface {
	// Organization returns an organization, or ErrOrganizationNotFound.
	Organization(ctx context.Context, organizationID string) (*Organization, error)

	// Member returns the organization's credential with this id, and its user. It
	// returns ErrCredentialNotFound if this organization has none, even if another
	// one does. An expired credential is returned too: verifying the stamp checks
	// the expiry.
	Member(ctx context.Context, organizationID string, id stamp.ID) (*Member, error)
}

// CheckGranted refuses types that no caller without a credential may submit: all but
// transactions and messages.
func CheckGranted(types []activity.Type) error {
	for i, kind := range types {
		if !kind.Signs() {
			return fmt.Errorf("activities[%d]: %q cannot be granted to a caller without a credential: name types "+
				"that sign, such as %s, or leave the list out for all of these",
				i, plaintext.Shorten(string(kind), maxShown), activity.TypeSignTransaction)
		}
	}
	return nil
}

// Callers is implemented by a [Directory] that knows how users without a credential of their
// own are recognized, such as that of rpcapi.Directory. It is asked when such a user calls,
// and again before a call that waited for approvals is carried out. With any other directory,
// a call that was granted when it was made stays so for as long as its user exists.
type Callers interface {
	// Granted returns what the entry grants by which a user is recognized in a way, the
	// authentication of Engine.As; or ErrCallerNotFound. nil stands for all that
	// CheckGranted takes.
	Granted(ctx context.Context, organizationID, userID, authentication string) ([]activity.Type, error)
}

// Users is implemented by a [Directory] that finds users by their ids. Only with one can a
// call without a stamp wait for approvals, because its user is looked up again before it is
// carried out.
type Users interface {
	// User returns a user of the organization, or ErrUserNotFound.
	User(ctx context.Context, organizationID, userID string) (*User, error)
}
