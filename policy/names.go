package policy

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/access"
	"github.com/countersign-dev/countersign/keystore"
)

// Names are the users and keys that a file can name.
type Names struct {
	Users       []access.User       // may repeat a user, as the members of a directory do
	Voters      []string            // ids of those who have a credential to vote with; nil: all of them
	Credentials []string            // ids
	Keys        []access.SigningKey // nil: names of keys are not checked
}

// user returns a user by id or, if no user has that id, by name. A nil receiver knows none.
func (n *Names) user(name string) (access.User, bool) {
	if n == nil {
		return access.User{}, false
	}
	i := slices.IndexFunc(n.Users, func(user access.User) bool { return user.ID == name })
	if i < 0 {
		i = slices.IndexFunc(n.Users, func(user access.User) bool { return user.Name == name })
	}
	if i < 0 {
		return access.User{}, false
	}
	return n.Users[i], true
}

// NamesOf returns the names that the policy of an organization may use: its users and their
// credentials, and its keys. If keys is nil, names of keys are not checked.
func NamesOf(ctx context.Context, organization *access.OrganizationConfig, keys keystore.Keystore) (*Names, error) {
	members, err := organization.Members()
	if err != nil {
		return nil, err
	}
	names := &Names{Voters: []string{}}
	for i := range members {
		names.Credentials = append(names.Credentials, string(members[i].Credential.ID()), members[i].Credential.PublicKeyText())
		names.Voters = append(names.Voters, members[i].User.ID)
	}
	for i := range organization.Users { // one who calls with a certificate or a token has no credential
		user := &organization.Users[i]
		names.Users = append(names.Users, access.User{ID: user.UserID(organization.ID), Name: user.Name, Tags: user.Tags})
	}
	if keys == nil {
		return names.once(), nil
	}
	names.Keys = []access.SigningKey{}
	for info, err := range keys.Keys(ctx, organization.ID) {
		if err != nil {
			return nil, err
		}
		names.Keys = append(names.Keys, access.SigningKey{ID: info.ID, Name: info.Name})
	}
	return names.once(), nil
}

// once returns the names with each user once.
func (n *Names) once() *Names {
	if n == nil {
		return nil
	}
	names, seen := *n, map[string]bool{}
	names.Users = slices.DeleteFunc(slices.Clone(n.Users), func(user access.User) bool {
		before := seen[user.ID]
		seen[user.ID] = true
		return before
	})
	return &names
}
