package request

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/activity"
	"github.com/countersign-dev/countersign/internal/refuse"
	"github.com/countersign-dev/countersign/stamp"
)

// OrganizationOf looks up an organization. It returns nil if there is no directory, or
// if the organization is not in it.
func OrganizationOf(ctx context.Context, directory access.Directory, organizationID string,
) (*access.Organization, error) {
	if directory == nil {
		return nil, nil
	}
	organization, err := directory.Organization(ctx, organizationID)
	switch {
	case errors.Is(err, access.ErrOrganizationNotFound):
		return nil, nil
	case err != nil:
		return nil, refuse.Directory(err)
	}
	return organization, nil
}

// MemberOf returns the member that cast a vote, or nil if it is no longer a member or
// its credential has expired. The vote of a call is that of a user without a credential.
func MemberOf(ctx context.Context, directory access.Directory, now time.Time, record *activity.Record,
	vote *activity.Vote) (*access.Member, error) {
	if !vote.Stamped() {
		user, err := UserOf(ctx, directory, record.Request.OrganizationID, vote.UserID)
		if user == nil || err != nil {
			return nil, err
		}
		return &access.Member{User: *user}, nil
	}
	return MemberBy(ctx, directory, now, record.Request.OrganizationID, vote.UserID, vote.Credential)
}

// MemberBy returns the member of a user's credential, or nil if the user has it no more or it has expired.
func MemberBy(ctx context.Context, directory access.Directory, now time.Time, organizationID, userID,
	credential string) (*access.Member, error) {
	member, err := directory.Member(ctx, organizationID, stamp.ID(credential))
	switch {
	case errors.Is(err, access.ErrCredentialNotFound), errors.Is(err, access.ErrOrganizationNotFound):
		return nil, nil
	case err != nil:
		return nil, refuse.Directory(err)
	case member.User.ID != userID:
		return nil, nil
	}
	if expires := member.Credential.ExpiresAt; !expires.IsZero() && !now.Before(expires) {
		return nil, nil
	}
	return member, nil
}

// UserOf returns a user of an organization by id, or nil if the directory has none or does
// not find users by their ids.
func UserOf(ctx context.Context, directory access.Directory, organizationID, id string) (*access.User, error) {
	users, ok := directory.(access.Users)
	if !ok {
		return nil, nil
	}
	user, err := users.User(ctx, organizationID, id)
	switch {
	case errors.Is(err, access.ErrUserNotFound), errors.Is(err, access.ErrOrganizationNotFound):
		return nil, nil
	case err != nil:
		return nil, refuse.Directory(err)
	}
	return user, nil
}
