package countersign

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/stamp"
)

// Errors of a Directory, for errors.Is.
var (
	ErrOrganizationNotFound = errors.New("countersign: no such organization")
	ErrCredentialNotFound   = errors.New("countersign: no such credential")
)

// Organization is who keys, credentials and activities belong to. Nothing of
// one organization is found from another.
type Organization struct {
	ID   string
	Name string

	// AllowHazards names the hazards that may be signed for this organization,
	// beside those of Config.AllowHazards.
	AllowHazards []string
}

// User is a person or a program of an organization.
type User struct {
	ID        string
	Name      string
	Tags      []string  // groups that policies name
	CreatedAt time.Time // zero if it is not known
}

// Member is a credential and whose it is.
type Member struct {
	User       User
	Credential *stamp.Credential
}

// Directory knows the organizations, their users and their credentials.
// Implementations are safe for concurrent use; what they return is not changed
// afterwards. NewDirectory makes one of a configuration; an embedder
// can bring a database.
//
// An error that is none of those named here is answered as unavailable.
type Directory interface {
	// Organization returns an organization, or ErrOrganizationNotFound.
	Organization(ctx context.Context, organizationID string) (*Organization, error)

	// Member returns the credential of the organization that has this id, and
	// whose it is. It returns ErrCredentialNotFound if the organization has
	// none, whatever other organizations have. An expired credential is
	// returned as well: the verification of a stamp checks that.
	Member(ctx context.Context, organizationID string, id stamp.ID) (*Member, error)
}

// organizationOf looks up the organization of a call without a stamp; nil if
// there is no directory, or if it does not know the organization.
func (e *Engine) organizationOf(ctx context.Context, organizationID string) (*Organization, error) {
	if e.config.Directory == nil {
		return nil, nil
	}
	organization, err := e.config.Directory.Organization(ctx, organizationID)
	switch {
	case errors.Is(err, ErrOrganizationNotFound):
		return nil, nil
	case err != nil:
		return nil, refuseDirectory(err)
	}
	return organization, nil
}
